"""What conditions and rules decide by."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.references.truths import untrue
from hyperpod_constructs.templates.model import Model

TOPIC: dict[str, Any] = {"Type": "AWS::SNS::Topic", "Condition": "Live", "Properties": {"TopicName": "a"}}
STAGE = {"Ref": "Stage"}
IS_LIVE = {"Fn::Equals": [STAGE, "live"]}


def said(**sections: Any) -> list[tuple[str, str]]:
    parameters = {"Stage": {"Type": "String", "Default": "live"}}
    template = {"Resources": {"Topic": TOPIC}, "Parameters": parameters, **sections}
    (only,) = Model.of({"t": template}).templates
    return [(one.owner.logical_id, one.message) for one in untrue(only)]


@pytest.mark.parametrize(
    ("live", "message"),
    [
        ("true", "condition Live decides by 'true'"),
        (True, "condition Live decides by True"),
        (STAGE, "condition Live decides by Ref"),
        ([IS_LIVE], "condition Live decides by a list"),
        ({}, "condition Live decides by nothing"),
        ({"Fn::If": ["Other", True, False]}, "condition Live decides by Fn::If"),
        ({"Fn::Not": ["Other"]}, "condition Live decides by 'Other'"),
        ({"Fn::Not": {"Condition": "Other"}}, "Fn::Not of condition Live takes a list of arguments"),
        ({"Fn::And": [{"Fn::Or": [STAGE, IS_LIVE]}, IS_LIVE]}, "condition Live decides by Ref"),
        ({"Fn::Equals": [["live"], "live"]}, "condition Live compares a list"),
        ({"Fn::Equals": [STAGE, {"Value": "live"}]}, "condition Live compares an object with Value"),
    ],
)
def test_a_condition_is_true_or_false(live: Any, message: str) -> None:
    assert said(Conditions={"Live": live, "Other": IS_LIVE}) == [("Topic", message)]


@pytest.mark.parametrize(
    "live",
    [
        IS_LIVE,
        {"Fn::Not": [{"Condition": "Other"}]},
        {"Fn::And": [{"Condition": "Other"}, {"Fn::Or": [IS_LIVE, {"Fn::Not": [IS_LIVE]}]}]},
        {"Condition": "Other"},
        {"Fn::Equals": [{"Fn::Select": [0, {"Fn::Split": ["-", STAGE]}]}, {"Fn::FindInMap": ["A", "b", "c"]}]},
        {"Fn::Transform": {"Name": "Own"}},
    ],
)
def test_functions_that_decide_may_stand_in_each_other(live: Any) -> None:
    assert said(Conditions={"Live": live, "Other": IS_LIVE}) == []


@pytest.mark.parametrize(
    ("rule", "count"),
    [
        ({"RuleCondition": IS_LIVE, "Assertions": [{"Assert": {"Fn::Contains": [["a"], STAGE]}}]}, 0),
        ({"Assertions": [{"Assert": {"Condition": "Live"}}]}, 1),
        ({"RuleCondition": "live", "Assertions": [{"Assert": IS_LIVE}]}, 1),
        ({"Assertions": "all"}, 0),
    ],
)
def test_rules_decide_by_functions_of_their_own(rule: dict[str, Any], count: int) -> None:
    assert len(said(Rules={"Sizes": rule}, Conditions={"Live": IS_LIVE})) == count
