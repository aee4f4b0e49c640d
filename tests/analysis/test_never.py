"""What parameters never are, and rules that refuse every deployment."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.references.never import contradictions, refusing
from hyperpod_constructs.templates.model import Model

STAGE, COUNT, REGION = {"Ref": "Stage"}, {"Ref": "Count"}, {"Ref": "AWS::Region"}
PARAMETERS: dict[str, Any] = {
    "Stage": {"Type": "String", "Default": "live", "AllowedValues": ["live", "test"]},
    "Name": {"Type": "String", "Default": "a", "AllowedPattern": "[a-z]+"},
    "Count": {"Type": "Number", "Default": 3, "MaxValue": 9},
    "Free": {"Type": "String", "Default": ""},
}


def equals(one: Any, other: Any) -> dict[str, Any]:
    return {"Fn::Equals": [one, other]}


def said(*asserted: Any, when: Any = None) -> list[str]:
    rule: dict[str, Any] = {"Assertions": [{"Assert": one} for one in asserted]}
    rules = {"Only": rule if when is None else {"RuleCondition": when, **rule}}
    template = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}, "Parameters": PARAMETERS, "Rules": rules}
    (only,) = Model.of({"t": template}).templates
    return [one.message.removeprefix("rule Only refuses every deployment: ") for one in refusing(only)]


@pytest.mark.parametrize(
    ("asserted", "message"),
    [
        (equals(REGION, "eu-west1"), "AWS::Region is never 'eu-west1'; the nearest is eu-west-1"),
        (equals("eu-west1", REGION), "AWS::Region is never 'eu-west1'; the nearest is eu-west-1"),
        ({"Fn::Contains": [["eu-west1", "europe"], REGION]}, "AWS::Region is never 'eu-west1'; the nearest is eu-west-1"),
        (equals({"Ref": "AWS::AccountId"}, "1234"), "AWS::AccountId is never '1234'"),
        (equals(STAGE, "Live"), "parameter Stage is never 'Live'; the nearest is live, in rule Only"),
        (equals({"Ref": "Name"}, "A1"), "parameter Name is never 'A1', which is not of its form"),
        (equals(COUNT, "ten"), "parameter Count is never 'ten', which is not a number"),
        (equals(COUNT, 10), "parameter Count is never '10', which is out of its range"),
        ({"Fn::And": [equals(STAGE, "live"), equals(STAGE, "test")]}, "its assertions hold with no values"),
        ({"Fn::And": [equals({"Ref": "Free"}, "a"), equals({"Ref": "Free"}, "b")]}, "its assertions hold with no values"),
        ({"Fn::Not": [{"Fn::Contains": [["live", "test"], STAGE]}]}, "its assertions hold with no values"),
        (equals("live", "Ref Stage"), "its assertions hold with no values"),
    ],
)
def test_a_rule_that_no_deployment_passes(asserted: Any, message: str) -> None:
    assert said(asserted) == [message.removesuffix(", in rule Only")]


@pytest.mark.parametrize(
    "asserted",
    [
        equals(REGION, "eu-west-1"),
        {"Fn::Contains": [["eu-west-1", "eu-west1"], REGION]},
        {"Fn::Or": [equals(STAGE, "Live"), equals(STAGE, "live")]},
        {"Fn::Not": [equals(STAGE, "Live")]},
        equals({"Ref": "Free"}, "anything"),
        equals({"Ref": "Name"}, ""),
        {"Fn::EachMemberIn": [{"Fn::ValueOfAll": ["AWS::EC2::VPC::Id", "Tags.Team"]}, ["a"]]},
        {"Fn::Contains": [{"Fn::RefAll": "AWS::EC2::VPC::Id"}, STAGE]},
    ],
)
def test_a_rule_that_some_deployment_passes(asserted: Any) -> None:
    assert said(asserted) == []


def test_a_rule_that_applies_to_some_may_refuse_them() -> None:
    assert said(equals("a", "b"), when=equals(STAGE, "test")) == []
    assert said(equals("a", "b"), when={"Fn::Not": [equals(STAGE, "Live")]}) != []


def test_two_rules_may_exclude_each_other() -> None:
    rules = {name: {"Assertions": [{"Assert": equals(STAGE, stage)}]} for name, stage in (("Live", "live"), ("Test", "test"))}
    template = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}, "Parameters": PARAMETERS, "Rules": rules}
    (only,) = Model.of({"t": template}).templates
    (found,) = refusing(only)
    assert (found.owner.logical_id, found.message) == (
        "Stage",
        "rule Test refuses every deployment: its assertions hold with no values",
    )


@pytest.mark.parametrize(
    ("live", "found"),
    [
        ({"Fn::And": [equals(STAGE, "live"), equals(STAGE, "test")]}, True),
        ({"Fn::And": [{"Condition": "IsTest"}, equals(STAGE, "live")]}, True),
        ({"Fn::Not": [{"Fn::Or": [equals(STAGE, "live"), equals(STAGE, "test")]}]}, True),
        ({"Fn::Or": [equals(STAGE, "live"), equals(STAGE, "test")]}, False),
        ({"Fn::And": [{"Condition": "IsTest"}, equals({"Ref": "Free"}, "a")]}, False),
        ({"Fn::And": [equals(STAGE, "Live"), equals(STAGE, "test")]}, False),
        ({"Fn::And": [{"Condition": "Live"}, equals(STAGE, "test")]}, False),
        (equals("true", "false"), False),
    ],
)
def test_a_condition_that_no_values_make_true(live: Any, found: bool) -> None:
    conditions = {"IsTest": equals(STAGE, "test"), "Live": live}
    template = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}, "Parameters": PARAMETERS, "Conditions": conditions}
    (only,) = Model.of({"t": template}).templates
    assert [one.message for one in contradictions(only)] == ["condition Live is never true"] * found
