"""Values, orders and types in doubt."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.doubts import Doubts, Path
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.values import UNKNOWN

TEMPLATE = {
    "Resources": {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16", "Tags": [{"Key": "a", "Value": "b"}]}},
        "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": {"Fn::GetAtt": ["Vpc", "CidrBlock"]}}},
        "Odd": {"Type": "AWS::EC2::Subnets"},
    }
}


@pytest.mark.parametrize("path", [("CidrBlock",), ("Tags", 0, "Value"), ("Missing",), ("Missing", "Below")])
def test_a_value_in_doubt_is_unknown(path: Path) -> None:
    model = Model.of({"t": TEMPLATE})
    key = model.templates[0].by_id["Vpc"].key
    vpc = model.doubting(Doubts(values={key: [path]})).templates[0].by_id["Vpc"]
    assert vpc.get(*path) is UNKNOWN
    assert model.templates[0].by_id["Vpc"].get(*path) is not UNKNOWN


def test_an_attribute_that_repeats_it_is_unknown_too() -> None:
    model = Model.of({"t": TEMPLATE})
    doubts = Doubts(values={model.templates[0].by_id["Vpc"].key: [("CidrBlock",)]})
    assert model.templates[0].by_id["Subnet"].get("CidrBlock") == "10.0.0.0/16"
    assert model.doubting(doubts).templates[0].by_id["Subnet"].get("CidrBlock") != "10.0.0.0/16"


def test_orders_and_types() -> None:
    model = Model.of({"t": TEMPLATE})
    ids = model.templates[0].by_id
    doubts = Doubts(orders=frozenset({ids["Vpc"].key}), types={ids["Odd"].key: "AWS::EC2::Subnet"})
    other = model.doubting(doubts)
    assert awaits(other.templates[0].by_id["Vpc"], other.templates[0].by_id["Odd"])
    assert not awaits(ids["Vpc"], ids["Odd"])
    assert [one.logical_id for one in other.resources("AWS::EC2::Subnet")] == ["Subnet", "Odd"]


def test_an_order_in_doubt_makes_no_circle() -> None:
    """What a resource lacks in its order can neither be what awaits it, nor be inside of a stack that does."""
    inner: dict[str, Any] = {"Resources": {"Deep": {"Type": "AWS::EC2::VPC"}}}
    stack = {"Type": "AWS::CloudFormation::Stack", "DependsOn": "Subnet", "Properties": {"TemplateURL": "inner.json"}}
    outer: dict[str, Any] = {"Resources": {**TEMPLATE["Resources"], "Stack": stack}}
    model = Model([Document(name="outer", body=outer, nested={"Stack": Document(name="inner", body=inner)})])
    vpc, odd, deep = (next(one for one in model.resources() if one.logical_id == name) for name in ("Vpc", "Odd", "Deep"))
    other = model.doubting(Doubts(orders=frozenset({vpc.key})))
    late = next(one for one in other.resources() if one.key == vpc.key)
    assert [awaits(late, one) for one in other.resources() if one.key in (odd.key, deep.key)] == [True, False]


def test_an_order_in_doubt_is_never_after_a_stack_that_needs_its_own() -> None:
    """Nothing of a later stack can come first, whatever a resource awaits in its own stack or in one that may be earlier."""
    gives = {"Value": {"Ref": "Early"}, "Export": {"Name": "early"}}
    models: dict[str, dict[str, Any]] = {
        "first": {"Resources": {"Early": {"Type": "AWS::EC2::VPC"}}, "Outputs": {"Early": gives}},
        "second": {
            "Resources": {"Late": {"Type": "A::B::C", "Properties": {"X": {"Fn::ImportValue": "early"}}}, **_lonely("Side")}
        },
        "other": {"Resources": _lonely("Apart")},
    }
    model = Model.of(models)
    early = next(one for one in model.resources() if one.logical_id == "Early")
    other = model.doubting(Doubts(orders=frozenset({early.key})))
    ids = {one.logical_id: one for one in other.resources()}
    assert [awaits(ids["Early"], ids[name]) for name in ("Late", "Side", "Apart")] == [False, False, True]
    assert not awaits(ids["Late"], ids["Side"])


def _lonely(name: str) -> dict[str, Any]:
    return {name: {"Type": "AWS::EC2::VPC"}}


def test_what_is_not_there_yet_is_unknown() -> None:
    model = Model.of({"t": TEMPLATE})
    other = model.doubting(Doubts(absent=frozenset({model.templates[0].by_id["Vpc"].key})))
    assert [one.logical_id for one in other.resources()] == ["Subnet", "Odd"]
    assert other.templates[0].by_id["Subnet"].get("CidrBlock") is UNKNOWN
