"""What parameters, functions and dynamic references of a template take, outside of what they name."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.references.anatomy import wrong_parts
from hyperpod_constructs.analysis.references.dynamic import wrong_references
from hyperpod_constructs.analysis.references.functions import wrong_calls
from hyperpod_constructs.analysis.references.names import unknown_names
from hyperpod_constructs.analysis.references.parameters import wrong_parameters
from hyperpod_constructs.analysis.references.texts import unmeant
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
        ({"Fn::Equals": ["a", "b"]}, {"Fn::Join": ["", ["a", "b"]]}),
        ({"Fn::Contains": [["a"], "a"]}, "a"),
        ({"Fn::Base64": ["a", "b"]}, {"Fn::Base64": "a"}),
        ({"Fn::Select": ["first", ["a"]]}, {"Fn::Select": ["0", ["a"]]}),
        ({"Fn::Select": [0, {"Fn::Split": [["a"], ","]}]}, {"Fn::Select": [0, {"Fn::Split": [",", "a"]}]}),
        ({"Fn::Sub": "$(Topic)"}, {"Fn::Sub": "${Topic} $(hostname)"}),
        ({"Fn::FindInMap": ["Sizes", "all", "a"]}, {"Fn::FindInMap": ["Sizes", "one", "a"]}),
        ({"Fn::Sub": [{"Name": "a"}, "${Name}"]}, {"Fn::Sub": ["${Name}", {"Name": "a"}]}),
    ],
)
def test_functions_take_arguments_of_their_kind(wrong: Any, right: Any) -> None:
    sizes = {"Mappings": {"Sizes": {"all": "large", "one": {"a": "small"}}}}
    outputs = ({"Outputs": {"It": {"Value": one}}, **sizes} for one in (wrong, right))
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


@pytest.mark.parametrize(
    ("assertion", "count"),
    [
        ({"Fn::Contains": ["a", {"Ref": "Stage"}]}, 1),
        ({"Fn::Contains": [["a"], {"Ref": "Stage"}]}, 0),
        ({"Fn::EachMemberIn": ["a", ["a"]]}, 1),
        ({"Fn::Equals": [{"Ref": "Stage"}, "a"]}, 0),
    ],
)
def test_rules_have_functions_of_their_own(assertion: Any, count: int) -> None:
    sections = {"Parameters": {"Stage": {"Type": "String"}}, "Rules": {"Live": {"Assertions": [{"Assert": assertion}]}}}
    assert len(wrong_calls(model(**sections))) == count


def test_an_object_has_one_function() -> None:
    assert len(wrong_calls(model({"Fn::Sub": "a", "Ref": "Topic"}))) == 1
    assert wrong_calls(model({"Fn::Sub": "a"})) == ()


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("${AWS::Region}-a", 1),
        ("${Topic.TopicName}", 1),
        ("${Topic}", 0),
        ("!GetAtt Topic.TopicName", 1),
        ("!Ref Elsewhere", 0),
        ("!Ref Topic beside", 0),
    ],
)
def test_a_value_may_have_variables_of_a_shell(value: str, count: int) -> None:
    stored = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}}
    assert len(unmeant(model(more={"Stored": stored}))) == count


@pytest.mark.parametrize(("name", "count"), [("a-b:c", 0), ("a b", 1), ("a_b", 1), ("", 1)])
def test_exports_have_names(name: str, count: int) -> None:
    assert len([*wrong_parts(model(Outputs={"It": {"Value": "a", "Export": {"Name": name}}}))]) == count


def test_a_mistake_of_a_condition_stands_at_what_it_decides_on() -> None:
    conditions = {"IsLive": {"Condition": "IsReady"}, "IsReady": {"Fn::Not": [{"Fn::Equals": ["a", "b"]}, "a"]}}
    more = {"Spare": {**TOPIC, "Condition": "IsLive"}}
    (found,) = wrong_calls(model(Conditions=conditions, more=more))
    assert found.owner.logical_id == "Spare"
    assert found.message.endswith("in condition IsReady")
    (alone,) = wrong_calls(model(Conditions={"IsReady": conditions["IsReady"]}))
    assert alone.owner.logical_id == "IsReady"


def test_a_mistake_of_a_rule_stands_at_its_parameter() -> None:
    stage = {"Parameters": {"Stage": {"Type": "String"}}}
    rule = {"RuleCondition": {"Fn::Equals": [{"Ref": "Stage"}, "a"]}, "Assertions": [{"AssertDescription": "a"}]}
    assert [one.owner.logical_id for one in wrong_parts(model(Rules={"Live": rule}, **stage))] == ["Stage"]
    alone = {"Assertions": [{"AssertDescription": "a"}]}
    assert [one.owner.logical_id for one in wrong_parts(model(Rules={"Live": alone}, **stage))] == ["Live"]


INSTALL = {"packages": {"yum": {"git": []}}, "commands": {"a": {"command": "slurmd -V", "cwd": "/tmp"}}}


@pytest.mark.parametrize(
    ("init", "count"),
    [
        ({"config": INSTALL}, 0),
        ({"configSets": {"all": ["install"]}, "install": INSTALL}, 0),
        ({"configSets": {"all": ["install", "start"]}, "install": INSTALL}, 1),
        ({"configSets": {"all": [{"ConfigSet": "first"}], "first": ["install"]}, "install": INSTALL}, 0),
        ({"configSets": {"all": [{"ConfigSet": "second"}]}, "install": INSTALL}, 1),
        ({"config": {"package": {"yum": {}}}}, 1),
        ({"config": {"commands": {"a": {"comand": "ls"}}}}, 1),
        ({"config": {"files": {"/etc/a": {"content": "a", "source": "b"}}}}, 1),
        ({"config": {"files": {"/etc/a": {"content": {"Fn::Sub": "${AWS::Region}"}, "mode": "000644"}}}}, 0),
        ({"config": {"services": {"systemd": {"slurmd": {"enabled": True}}}}}, 0),
    ],
)
def test_cfn_init_finds_its_configs(init: dict[str, Any], count: int) -> None:
    more = {"Box": {"Type": "AWS::EC2::Instance", "Metadata": {"AWS::CloudFormation::Init": init}}}
    assert len([*wrong_parts(model(more=more))]) == count


@pytest.mark.parametrize("kind", ["Rules", "Conditions"])
def test_rules_and_conditions_know_no_resources(kind: str) -> None:
    asks = {"Fn::Equals": [{"Ref": "Queue"}, "a"]}
    asked = {"RuleCondition": asks, "Assertions": [{"Assert": {"Fn::Equals": [{"Ref": "Stage"}, "a"]}}]}
    queue = {"Type": "AWS::SQS::Queue", **({"Condition": "Is"} if kind == "Conditions" else {})}
    sections = {"Parameters": {"Stage": {"Type": "String"}}, kind: {"Is": asked if kind == "Rules" else asks}}
    (found,) = unknown_names(Model.of({"t": {"Resources": {"Queue": queue}, **sections}}))
    assert found.owner.logical_id == "Queue"
    assert found.message.startswith("a reference names 'Queue', a resource; conditions and rules know parameters only")


ROTATED = {"Type": "AWS::SecretsManager::RotationSchedule", "Properties": {"HostedRotationLambda": {}}}
PLAIN = {"Type": "AWS::SecretsManager::RotationSchedule", "Properties": {"RotationLambdaARN": "a"}}
SERVERLESS = {"Type": "AWS::Serverless::Function"}


@pytest.mark.parametrize(
    ("transform", "more", "place"),
    [
        ("AWS::SecretsManager-2021-01-01", {"Plain": PLAIN, "Rotated": ROTATED}, "Rotated"),
        ("AWS::SecretManager-2024-09-16", {"Rotated": ROTATED}, "Rotated"),
        ("AWS::Serverless-2016-10-30", {"Rotated": ROTATED, "Function": SERVERLESS}, "Function"),
        ("AWS::SecretsManager-2021-01-01", {"Plain": PLAIN}, "Topic"),
        ("AWS::Includes", {"Rotated": ROTATED}, "Topic"),
    ],
)
def test_a_transform_that_is_not_there_is_the_mistake_of_what_needs_it(transform: str, more: dict[str, Any], place: str) -> None:
    assert [one.owner.logical_id for one in wrong_parts(model(more=more, Transform=transform))] == [place]


@pytest.mark.parametrize("transform", ["AWS::SecretsManager-2024-09-16", "Team::Macro"])
def test_a_transform_that_is_there_is_no_mistake(transform: str) -> None:
    assert [*wrong_parts(model(more={"Rotated": ROTATED}, Transform=transform))] == []
