"""A mistake in a text has the documentation of what judges it."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts.places import Found
from hyperpod_constructs.analysis.texts.slip import Slip
from hyperpod_constructs.templates.model import Model

TOPIC = Model.of({"a": {"Resources": {"A": {"Type": "AWS::SNS::Topic"}}}}).resources()[0]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("machines", "https://states-language.net/spec.html"),
        ("event_targets", "https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutTargets.html"),
        ("spans", "https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html"),
    ],
)
def test_the_source_is_that_of_the_module_or_of_its_topic(module: str, source: str) -> None:
    assert Found(TOPIC, module, Slip("", "")).source == source
