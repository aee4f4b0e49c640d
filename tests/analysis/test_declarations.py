"""What parameters, functions and dynamic references of a template take, outside of what they name."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.references.dynamic import wrong_references
from hyperpod_constructs.analysis.references.functions import wrong_calls
from hyperpod_constructs.analysis.references.parameters import wrong_parameters
from hyperpod_constructs.templates.model import Model

TOPIC: dict[str, Any] = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "a"}}


def model(value: Any = "a", **sections: Any) -> Model:
    resources = {"Topic": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": value}}, **sections.pop("more", {})}
    return Model.of({"t": {"Resources": resources, **sections}})


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ({"Type": "Number", "MinLength": 2}, {"Type": "Number", "MinValue": 2}),
        ({"Type": "String", "MaxValue": 2}, {"Type": "String", "MaxLength": 2}),
        ({"Type": "CommaDelimitedList", "MinValue": 2}, {"Type": "CommaDelimitedList"}),
        ({"Type": "String", "AllowedValues": "a"}, {"Type": "String", "AllowedValues": ["a"]}),
        ({"Type": "String", "NoEcho": "hidden"}, {"Type": "String", "NoEcho": "true"}),
        ({"Type": "String", "MinLength": 8, "MaxLength": 4}, {"Type": "String", "MinLength": 4, "MaxLength": 8}),
        ({"Type": "String", "Default": ["a"]}, {"Type": "String", "Default": "a"}),
        ({"Type": "Number", "MinValue": "one"}, {"Type": "Number", "MinValue": 1}),
    ],
)
def test_the_keys_of_a_parameter_take_their_values(wrong: dict[str, Any], right: dict[str, Any]) -> None:
    assert len([*wrong_parameters(model(Parameters={"It": wrong}))]) == 1
    assert [*wrong_parameters(model(Parameters={"It": right}))] == []


EXTENDED = {"Transform": "AWS::LanguageExtensions"}
OR_ELSE = {"Fn::FindInMap": ["A", "b", "c", {"DefaultValue": "d"}]}


@pytest.mark.parametrize("value", [{"Fn::Length": ["a"]}, {"Fn::ToJsonString": {"a": "b"}}, OR_ELSE])
def test_functions_of_a_transform_need_it(value: Any) -> None:
    maps = {"Mappings": {"A": {"b": {"c": "e"}}}}
    assert len(wrong_calls(model(value, **maps))) == 1
    assert wrong_calls(model(value, **maps, **EXTENDED)) == ()


def test_loops_need_their_transform() -> None:
    loop = {"Fn::ForEach::Topics": ["N", ["A", "B"], {"Topic${N}": TOPIC}]}
    assert [one.owner.logical_id for one in wrong_calls(model(more=loop))] == ["Topic"]
    assert wrong_calls(model(more=loop, **EXTENDED)) == ()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ({"Fn::GetAtt": "Topic"}, {"Fn::GetAtt": "Topic.TopicName"}),
        ({"Fn::GetAtt": ["Topic"]}, {"Fn::GetAtt": ["Topic", "TopicName"]}),
        ({"Ref": ["Topic"]}, {"Ref": "Topic"}),
        ({"Fn::Sub": ["a"]}, {"Fn::Sub": "a"}),
        ({"Fn::Sub": [{"Name": "a"}, "${Name}"]}, {"Fn::Sub": ["${Name}", {"Name": "a"}]}),
    ],
)
def test_functions_take_arguments_of_their_kind(wrong: Any, right: Any) -> None:
    outputs = ({"Outputs": {"It": {"Value": one}}} for one in (wrong, right))
    assert [len(wrong_calls(model(**one))) for one in outputs] == [1, 0]


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("{{resolve:ssm:/name:1}}", 0),
        ("{{resolve:ssm:/name:1}", 1),
        ("{resolve:ssm:/name:1}", 1),
        ({"Fn::Sub": "{{resolve:secretsmanager:${AWS::Region}:SecretString:a}"}, 1),
        ({"Fn::Join": ["", ["{{resolve:secretsmanager:", {"Ref": "AWS::Region"}, ":SecretString:a}}"]]}, 0),
        ("run {{ssm:name}}", 0),
        ("a = '{{resolve:ssm:'\nb = 1", 0),
    ],
)
def test_references_end(value: Any, count: int) -> None:
    assert len([*wrong_references(model(value))]) == count
