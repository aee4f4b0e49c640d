"""The effect of each change of a custom resource of the library."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.plan.effect import Effect
from tests.plan.templates import resource, row


@pytest.mark.parametrize(
    ("name", "old", "new", "effect"),
    [
        ("Version", "1.10.0", "1.9.0", Effect.REFUSED),
        ("Version", "1.9.0", "1.10.0", Effect.NO_INTERRUPTION),
        ("Version", "newest", "1.10.0", Effect.NO_INTERRUPTION),
        ("Name", "one", "two", Effect.REPLACE),
        ("Configuration", "{}", '{"a":1}', Effect.NO_INTERRUPTION),
    ],
)
def test_a_change_of_an_extension(name: str, old: str, new: str, effect: Effect) -> None:
    properties: list[dict[str, Any]] = [{name: old}, {name: new}]
    one, other = (resource("Custom::HyperPodClusterExtension", **found) for found in properties)
    found = row(one, other)
    assert (found.property, found.effect) == (name, effect)
    assert ("only raises the version" in found.why) == (effect is Effect.REFUSED)
