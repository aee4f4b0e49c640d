"""Updates of the Kubernetes cluster that HyperPod joins."""

from __future__ import annotations

import pytest

from hyperpod_constructs.plan.effect import Effect
from tests.plan.templates import resource, row


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ("1.31", "1.32", Effect.NO_INTERRUPTION),
        ("1.31", "1.33", Effect.REFUSED),
        ("1.9", "1.10", Effect.NO_INTERRUPTION),
        ("1.33", "1.32", Effect.NO_INTERRUPTION),
        ("1.33", "1.31", Effect.REFUSED),
        ({"Ref": "AWS::StackName"}, "1.33", Effect.NO_INTERRUPTION),
        ({"Ref": "AWS::NoValue"}, "1.33", Effect.NO_INTERRUPTION),
    ],
)
def test_a_version_changes_by_one_at_a_time(old: object, new: object, effect: Effect) -> None:
    one, other = (resource("AWS::EKS::Cluster", Version=version) for version in (old, new))
    found = row(one, other)
    assert (found.property, found.effect) == ("Version", effect)


def test_an_earlier_version_is_for_a_few_days_only() -> None:
    one, other = (resource("AWS::EKS::Cluster", Version=version) for version in ("1.33", "1.32"))
    assert "within 7 days" in row(one, other).why
