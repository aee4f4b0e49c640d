"""Parts of a template outside of properties: conditions for all values of parameters, policies, outputs, rules, parameters."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import Template, rules_of, slurm

SLURM = slurm()
STAGE = {"Type": "String", "Default": "prod", "AllowedValues": ["dev", "prod"]}
IS_PROD = {"Fn::Equals": [{"Ref": "Stage"}, "prod"]}
SPARE: dict[str, Any] = {"Type": "AWS::SSM::Parameter", "Condition": "IsProd", "Properties": {"Type": "String", "Value": "spare"}}
POOL: dict[str, Any] = {
    "Type": "AWS::AutoScaling::AutoScalingGroup",
    "Properties": {
        "MinSize": "1",
        "MaxSize": "3",
        "VPCZoneIdentifier": [{"Ref": "NodeSubnet"}],
        "LaunchTemplate": {"LaunchTemplateName": "pool", "Version": "1"},
    },
}


def template(changes: dict[str, Any], **sections: Any) -> Template:
    given = {"Parameters": {"Stage": STAGE}, "Conditions": {"IsProd": IS_PROD}, **sections}
    return {**edited(SLURM, {"Spare": SPARE, **changes}), **given}


def outputs(value: Any, **more: Any) -> dict[str, Any]:
    return {"Outputs": {"It": {"Value": value, **more}}}


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("data_host", ["HP-REF-010"]),
        ({"Fn::Sub": "${Stage}_host"}, ["HP-REF-010"]),
        ({"Fn::Sub": ["${It}/host", {"It": {"Ref": "Stage"}}]}, ["HP-REF-010"]),
        ({"Fn::Join": ["_", [{"Ref": "Stage"}, "host"]]}, ["HP-REF-010"]),
        ({"Fn::Join": ["-", [{"Ref": "Stage"}, {"Fn::Sub": "${AWS::StackName}.host"}]]}, ["HP-REF-010"]),
        ({"Fn::Join": ["_", [{"Fn::Sub": "${Stage}-host"}]]}, []),
        ({"Fn::Sub": "${AWS::StackName}:${Stage}-host"}, []),
        ({"Fn::Sub": ["${a_part}-host", {"a_part": {"Ref": "Stage"}}]}, []),
    ],
)
def test_names_of_exports_have_letters_digits_colons_and_hyphens(name: Any, rules: list[str]) -> None:
    found = rules_of(template({}, **outputs("x", Export={"Name": name})))
    assert [rule for rule in found if rule.startswith("HP-REF")] == rules


def test_a_reference_has_the_condition_of_what_it_names() -> None:
    assert rules_of(template({}, **outputs({"Ref": "Spare"}))) == ["HP-REF-001"]
    assert rules_of(template({}, **outputs({"Ref": "Spare"}, Condition="IsProd"))) == []
    assert rules_of(template({}, **outputs({"Fn::If": ["IsProd", {"Ref": "Spare"}, "none"]}))) == []


@pytest.mark.parametrize(
    ("condition", "rules"),
    [
        ({"Fn::And": [{"Condition": "IsProd"}, {"Fn::Equals": [{"Ref": "Size"}, "big"]}]}, []),
        ({"Fn::Or": [{"Condition": "IsProd"}, {"Fn::Equals": [{"Ref": "Size"}, "big"]}]}, ["HP-REF-001"]),
        ({"Fn::Not": [{"Fn::Equals": [{"Ref": "Stage"}, "dev"]}]}, []),
        ({"Fn::Equals": [{"Ref": "AWS::Region"}, "us-west-2"]}, []),
        ({"Fn::Equals": [{"Fn::Select": [0, ["a"]]}, "b"]}, []),
    ],
)
def test_conditions_are_judged_for_all_values(condition: dict[str, Any], rules: list[str]) -> None:
    parameters = {"Stage": STAGE, "Size": {"Type": "String", "Default": "big"}}
    conditions = {"IsProd": IS_PROD, "Both": condition}
    named = outputs({"Ref": "Spare"}, Condition="Both")
    assert rules_of(template({}, Parameters=parameters, Conditions=conditions, **named)) == rules


OF_SIZE = {"Fn::Contains": [["1", "2"], {"Ref": "Size"}]}
NEVER = {"Fn::Equals": ["a", "b"]}


@pytest.mark.parametrize(
    ("rule", "rules"),
    [
        ({"Assertions": [{"Assert": IS_PROD}]}, []),
        ({"RuleCondition": {"Fn::Not": [IS_PROD]}, "Assertions": [{"Assert": NEVER}]}, []),
        ({"RuleCondition": {"Fn::Not": [IS_PROD]}, "Assertions": [{"Assert": OF_SIZE}]}, ["HP-REF-001"]),
        ({"Assertions": [{"Assert": OF_SIZE}]}, ["HP-REF-001"]),
    ],
)
def test_rules_limit_the_parameters_of_their_assertions(rule: dict[str, Any], rules: list[str]) -> None:
    parameters = {"Stage": STAGE, "Size": {"Type": "Number", "Default": 1}}
    assert rules_of(template({}, Parameters=parameters, **outputs({"Ref": "Spare"}), Rules={"Only": rule})) == rules


def test_mappings_have_a_key_for_each_value() -> None:
    size = {"Cluster/InstanceGroups/2/InstanceCount": {"Fn::FindInMap": ["Sizes", {"Ref": "Stage"}, "Count"]}}
    both = {"Sizes": {"prod": {"Count": 2}, "dev": {"Count": 1}}}
    assert rules_of(template(size, Mappings=both)) == []
    assert rules_of(template(size, Mappings={"Sizes": {"prod": {"Count": 2}}})) == ["HP-REF-003"]
    lacking = {"Sizes": {"prod": {"Count": 2}, "dev": {"Counts": 1}}}
    assert rules_of(template(size, Mappings=lacking)) == ["HP-REF-003"]
    parameters = {"Stage": STAGE, "Zone": {"Type": "String", "Default": "prod"}}
    assert rules_of(template(size, Mappings=lacking, Parameters=parameters, Rules=asserted("Zone"))) == ["HP-REF-003"]
    assert rules_of(template(size, Mappings=lacking, Parameters=parameters, Rules=asserted("Stage"))) == []


def asserted(parameter: str) -> dict[str, Any]:
    return {"It": {"Assertions": [{"Assert": {"Fn::Equals": [{"Ref": parameter}, "prod"]}, "AssertDescription": "x"}]}}


@pytest.mark.parametrize(
    ("conditions", "rule"),
    [
        ({"A": {"Fn::Not": [{"Condition": "B"}]}, "B": {"Fn::Not": [{"Condition": "A"}]}}, "HP-REF-001"),
        ({"A": {"Fn::Equals": [{"Fn::GetAtt": ["Vpc", "VpcId"]}, "x"]}}, "HP-REF-001"),
        ({"A": {"Fn::Equals": [{"Fn::ImportValue": "vpc"}, "x"]}}, "HP-REF-001"),
    ],
)
def test_conditions_lead_to_parameters(conditions: dict[str, Any], rule: str) -> None:
    assert rules_of(template({}, Conditions={"IsProd": IS_PROD, **conditions})) == [rule]


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ({"RuleCondition": IS_PROD, "Assertions": [{"Assert": {"Fn::Contains": [["dev"], {"Ref": "Stage"}]}}]}, []),
        ({"RuleCondition": {"Fn::Equals": [{"Ref": "Stages"}, "prod"]}, "Assertions": [{"Assert": IS_PROD}]}, ["HP-REF-001"]),
        ({"RuleCondition": IS_PROD}, ["HP-REF-010"]),
        ({"Assertions": [{"Asserts": IS_PROD, "Assert": IS_PROD}]}, ["HP-REF-010"]),
        ({"Assertions": [{"Assert": {"Fn::Contain": [["dev"], {"Ref": "Stage"}]}}]}, ["HP-REF-003"]),
    ],
)
def test_rules_of_a_template(rule: dict[str, Any], found: list[str]) -> None:
    assert rules_of(template({}, Rules={"Only": rule})) == found


@pytest.mark.parametrize(
    ("changes", "sections", "found"),
    [
        ({"Pool": {**POOL, "UpdatePolicy": {"AutoScalingRollingUpdate": {"MinInstancesInService": 1}}}}, {}, []),
        ({"Pool": {**POOL, "UpdatePolicy": {"AutoScalingRollingUpdate": {"MinInstancesInService": 3}}}}, {}, ["HP-REF-010"]),
        (
            {
                "Pool": {**POOL, "UpdatePolicy": {"AutoScalingRollingUpdate": {"MinInstancesInService": 0}}},
                "Pool/MinSize": 0,
                "Pool/MaxSize": 0,
            },
            {},
            [],
        ),
        ({"Pool": {**POOL, "UpdatePolicy": {"RollingUpdate": {"MinInstancesInService": 1}}}}, {}, ["HP-REF-010"]),
        ({"Pool": {**POOL, "CreationPolicy": {"ResourceSignal": {"Timeout": "PT15M"}}}}, {}, []),
        ({"Pool": {**POOL, "CreationPolicy": {"ResourceSignal": {"Timeout": "15M"}}}}, {}, ["HP-REF-010"]),
        ({"Pool": {**POOL, "CreationPolicy": {"ResourceSignal": {"Timeout": "PT13H"}}}}, {}, ["HP-REF-010"]),
        ({"Pool": {"Properties": {"MinSize": 1}}}, {}, ["HP-REF-010"]),
        ({"Pool": {**POOL, "Condition": "Never"}}, {"Conditions": {"IsProd": IS_PROD, "Never": {"Fn::Equals": ["a", "b"]}}}, []),
        ({"Cluster/.CreationPolicy": {"ResourceSignal": {"Timeout": "PT1H"}}}, {}, ["HP-REF-010"]),
        ({}, {"AWSTemplateFormatVersion": "2012-10-17"}, ["HP-REF-010"]),
        ({}, {"Description": "x" * 1025}, ["HP-REF-010"]),
        ({}, {"Transform": "AWS::Serverless-2016"}, ["HP-REF-010"]),
        ({}, {"Transform": "Company::Macro"}, []),
        ({}, outputs([{"Ref": "Vpc"}]), ["HP-REF-010"]),
        ({}, outputs({"Fn::Split": [",", "a,b"]}), ["HP-REF-010"]),
        ({}, outputs({"Ref": "Names"}), ["HP-REF-010"]),
        ({}, outputs({"Fn::Join": [",", {"Ref": "Names"}]}), []),
        ({}, outputs({"Ref": "Secret"}), ["HP-REF-010"]),
        ({}, outputs({"Fn::Sub": "{{resolve:secretsmanager:${Vpc}:SecretString:password}}"}), ["HP-REF-010"]),
        ({}, outputs("{{resolve:ssm:/team/address}}"), []),
        ({}, outputs({"Ref": "Vpc"}, Condition="IsProduction"), ["HP-REF-001"]),
    ],
)
def test_parts_are_what_cloudformation_takes(changes: dict[str, Any], sections: dict[str, Any], found: list[str]) -> None:
    secret = {"Type": "String", "NoEcho": True, "Default": "x"}
    parameters = {"Stage": STAGE, "Names": {"Type": "CommaDelimitedList", "Default": "a,b"}, "Secret": secret}
    assert rules_of(template(changes, Parameters=parameters, **sections)) == found


@pytest.mark.parametrize(
    ("parameter", "found"),
    [
        ({"Type": "String", "AllowedPattern": "([a-z]"}, ["HP-REF-004"]),
        ({"Type": "String", "AllowedPattern": "[a-z"}, ["HP-REF-004"]),
        ({"Type": "String", "AllowedPattern": "\\p{Alpha}+"}, []),
        ({"Type": "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>", "Default": "ami-0123456789abcdef0"}, ["HP-REF-004"]),
        ({"Type": "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>", "Default": "/images/own"}, []),
        ({"Type": "AWS::SSM::Parameter::Value<String>", "Default": "ops@example.org"}, ["HP-REF-004"]),
        ({"Type": "AWS::SSM::Parameter::Value<String>", "Default": "arn:aws:ssm:us-west-2:123456789012:parameter/it"}, []),
    ],
)
def test_parameters_are_declared_as_cloudformation_reads_them(parameter: dict[str, Any], found: list[str]) -> None:
    assert rules_of(template({}, Parameters={"Stage": STAGE, "It": parameter})) == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"Fn::Select": [-1, {"Fn::GetAZs": ""}]}, ["HP-REF-003"]),
        ({"Fn::Join": ["-", "us-west-2a"]}, ["HP-REF-003"]),
        ({"Fn::ImportValue": {"Ref": "Vpc"}}, ["HP-REF-003"]),
        ({"Fn::ImportValue": {"Fn::Sub": "${AWS::StackName}-zone"}}, []),
    ],
)
def test_functions_take_their_arguments(value: Any, found: list[str]) -> None:
    assert rules_of(template({}, **outputs(value))) == found


@pytest.mark.parametrize(("handle", "found"), [({"Ref": "Ready"}, []), ({"Ref": "Vpc"}, ["HP-REF-012"]), ("Ready", ["HP-SCH-007"])])
def test_a_wait_has_a_handle(handle: Any, found: list[str]) -> None:
    wait = {"Type": "AWS::CloudFormation::WaitCondition", "Properties": {"Handle": handle, "Timeout": "3600"}}
    assert rules_of(template({"Ready": {"Type": "AWS::CloudFormation::WaitConditionHandle"}, "Await": wait})) == found
