"""References: what a template names is there, is taken, and is of the right kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.analysis.references.exports import unmatched
from hyperpod_constructs.analysis.references.functions import wrong_calls
from hyperpod_constructs.analysis.references.outputs import misnamed_outputs
from hyperpod_constructs.analysis.references.parameters import wrong_parameters
from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.model import Model, load
from hyperpod_constructs.templates.raw import raw_template
from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import Template, eks, findings, rules_of, slurm

GROUP = "Cluster/InstanceGroups/2"
SIZES = {"Sizes": {"dev": {"Capacity": 1200}, "prod": {"Capacity": 4800}}}
SLURM = slurm()
IN_MAP = {"Fn::FindInMap": ["Sizes", "prod", "Capacity"]}


def sub(text: str, **given: Any) -> Any:
    return {"Fn::Sub": [text, given] if given else text}


def with_sections(template: Template, **sections: Any) -> Template:
    return {**template, **sections}


MAPPED = with_sections(
    SLURM,
    Mappings=SIZES,
    Parameters={"Stage": {"Type": "String", "Default": "prod"}, "Open": {"Type": "String"}, "Free": {"Type": "String"}},
    Conditions={
        "Always": {"Fn::Equals": [{"Ref": "Stage"}, "prod"]},
        "Never": {"Fn::Equals": [{"Ref": "Stage"}, "dev"]},
        "Perhaps": {"Fn::Equals": [{"Ref": "Open"}, "x"]},
    },
)
LEFT_OUT = edited(MAPPED, {"Spare": {"Type": "AWS::EC2::InternetGateway", "Condition": "Never"}})
SUBNET = "NodeSubnet/VpcId"

NAMES = [
    ({SUBNET: {"Ref": "Vcp"}}, {SUBNET: {"Ref": "Vpc"}}),
    ({f"{GROUP}/InstanceCount": {"Ref": "AWS::Acount"}}, {f"{GROUP}/InstanceCount": {"Ref": "AWS::NoValue"}, GROUP: REMOVED}),
    ({f"{GROUP}/ExecutionRole": {"Fn::GetAtt": ["Rolle", "Arn"]}}, {f"{GROUP}/ExecutionRole": {"Fn::GetAtt": "Role.Arn"}}),
    ({"Cluster/ClusterName": sub("train-${Stag}")}, {"Cluster/ClusterName": sub("train-${Stage}")}),
    ({"Cluster/ClusterName": sub("train-${Rol.Arn}")}, {"Cluster/ClusterName": sub("train-${A}", A="x")}),
    ({"Cluster/ClusterName": sub("train-${Stag}")}, {"Cluster/ClusterName": sub("${!Stag}train")}),
    ({"NodeSubnet/.DependsOn": "Gatway"}, {"NodeSubnet/.DependsOn": "Vpc"}),
    ({"NodeSubnet/.DependsOn": ["Vpc", "Stage"]}, {"NodeSubnet/.DependsOn": ["Vpc"]}),
    ({"NodeSelfEgress/.Condition": "Alway"}, {"NodeSelfEgress/.Condition": "Always"}),
    (
        {f"{GROUP}/InstanceCount": {"Fn::If": ["Alway", 4, 2]}},
        {f"{GROUP}/InstanceCount": {"Fn::If": ["Always", 4, {"Ref": "AWS::NoValue"}]}},
    ),
    (
        {"FileSystem/StorageCapacity": {"Fn::FindInMap": ["Size", "prod", "Capacity"]}},
        {"FileSystem/StorageCapacity": IN_MAP},
    ),
]


@pytest.mark.parametrize(("wrong", "right"), NAMES)
def test_names_are_there(wrong: Mapping[str, Any], right: Mapping[str, Any]) -> None:
    assert "HP-REF-001" in rules_of(edited(MAPPED, wrong))
    assert "HP-REF-001" not in rules_of(edited(MAPPED, right))


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"Ref": "Spare"}, True),
        ({"Fn::If": ["Always", {"Ref": "Spare"}, "igw-0123456789abcdef0"]}, True),
        ({"Fn::If": ["Never", {"Ref": "Spare"}, "igw-0123456789abcdef0"]}, False),
        ({"Fn::If": ["Perhaps", {"Ref": "Spare"}, "igw-0123456789abcdef0"]}, True),
    ],
)
def test_a_resource_that_a_condition_leaves_out_is_not_there(value: Any, found: bool) -> None:
    attachment = {"Type": "AWS::EC2::VPCGatewayAttachment", "Properties": {"VpcId": {"Ref": "Vpc"}, "InternetGatewayId": value}}
    assert ("HP-REF-001" in rules_of(edited(LEFT_OUT, {"Attachment": attachment}))) is found


@pytest.mark.parametrize("more", [{"Transform": "Own"}, {"Transform": "AWS::Serverless-2016-10-31"}])
def test_a_macro_may_add_the_name(more: Mapping[str, Any]) -> None:
    assert "HP-REF-001" not in rules_of(with_sections(edited(SLURM, {SUBNET: {"Ref": "Elsewhere"}}), **more))


def test_a_module_may_hold_the_name() -> None:
    module = {"Type": "Company::Network::Subnets::MODULE", "Properties": {}}
    assert "HP-REF-001" not in rules_of(edited(SLURM, {"Own": module, SUBNET: {"Ref": "OwnPrivate"}}))


def test_outputs_and_conditions_have_names_too() -> None:
    output = with_sections(SLURM, Outputs={"Id": {"Value": {"Ref": "Clustr"}}})
    condition = with_sections(MAPPED, Conditions={"Is": {"Fn::Equals": [{"Ref": "Vpc"}, "x"]}})
    assert [(one.rule, one.resource) for one in findings(output)] == [("HP-REF-001", "Id")]
    assert [(one.rule, one.resource) for one in findings(condition)] == [("HP-REF-001", "Is")]


def test_one_wrong_name_in_many_places_is_one_finding() -> None:
    wrong = edited(SLURM, {f"Cluster/InstanceGroups/{index}/ExecutionRole": {"Fn::GetAtt": ["Rolle", "Arn"]} for index in range(3)})
    assert rules_of(wrong) == ["HP-REF-001"]


@pytest.mark.parametrize(
    ("attribute", "rules"),
    [
        (["FileSystem", "MountName"], ["HP-REF-002"]),
        (["FileSystem", "DnsName"], ["HP-REF-002"]),
        (["FileSystem", "LustreMountName"], []),
        (["Custom", "Anything"], []),
        (["Vpc", "CidrBlock"], []),
        (["Vpc", "CidrBlocks"], ["HP-REF-002"]),
    ],
)
def test_attributes_are_there(attribute: list[str], rules: list[str]) -> None:
    custom = {"Type": "Custom::Thing", "Properties": {"ServiceToken": "arn:aws:lambda:us-west-2:123456789012:function:own"}}
    template = edited(SLURM, {"Custom": custom})
    assert rules_of(with_sections(template, Outputs={"It": {"Value": {"Fn::GetAtt": attribute}}})) == rules


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ({"Fn::Select": [2, ["a", "b"]]}, True),
        ({"Fn::Select": [1, ["a", "b"]]}, False),
        ({"Fn::Select": [1, {"Fn::GetAZs": ""}]}, False),
        ({"Fn::Select": [6, {"Fn::GetAZs": ""}]}, False),
        ({"Fn::Select": [7, {"Fn::GetAZs": ""}]}, True),
        ({"Fn::Select": [3, {"Fn::Split": ["-", "a-b"]}]}, True),
        ({"Fn::Select": [0, {"Fn::Cidr": ["10.0.0.0/24", 8, 6]}]}, True),
        ({"Fn::Select": [0, {"Fn::Cidr": ["10.0.0.0/24", 4, 6]}]}, False),
        ({"Fn::Select": [0, {"Fn::Cidr": [{"Ref": "Free"}, 400, 6]}]}, False),
        ({"Fn::FindInMap": ["Sizes", "prod", "Size"]}, True),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "Stage"}, "Capacity"]}, False),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "Free"}, "Capacity"]}, False),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "Free"}, "Capacities"]}, True),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "AWS::Region"}, "Capacities"]}, True),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "Free"}, {"Ref": "AWS::Region"}]}, False),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "Free"}, "Capacities", {"DefaultValue": "x"}]}, False),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "Open"}, "Capacity"]}, True),
        ({"Fn::FindInMap": ["Sizes", "prod", "Size", {"DefaultValue": "x"}]}, False),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "Vpc"}, "Capacity"]}, True),
        ({"Fn::If": ["Always", "a"]}, True),
        ({"Fn::If": [{"Fn::Equals": [{"Ref": "Stage"}, "prod"]}, "a", "b"]}, True),
        ({"Fn::If": ["Always", "a", "b"]}, False),
        ({"Fn::If": ["Never", {"Fn::Select": [2, ["a"]]}, "b"]}, True),
        ({"Fn::Join": [",", ["a"], "b"]}, True),
        ({"Fn::Subst": "a"}, True),
    ],
)
def test_arguments_are_taken(value: Any, wrong: bool) -> None:
    """Conditions foresee the stage `dev`, and the value `x` of the parameter Open."""
    template = with_sections(MAPPED, Outputs={"It": {"Value": value}}, Transform="AWS::LanguageExtensions")
    assert ("HP-REF-003" in rules_of(template)) is wrong


OF_KINDS: dict[str, Any] = {
    "Parameters": {
        "Text": {"Type": "String"},
        "Subnet": {"Type": "AWS::EC2::Subnet::Id"},
        "Subnets": {"Type": "List<AWS::EC2::Subnet::Id>"},
        "Stored": {"Type": "AWS::SSM::Parameter::Value<List<String>>"},
    },
    "Conditions": {"Asked": {"Fn::Equals": [{"Ref": "Text"}, "x"]}},
    "Resources": {
        "Control": {"Type": "AWS::EKS::Cluster"},
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
        "Nested": {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "https://s3.amazonaws.com/b/t.yaml"}},
    },
}


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ({"Fn::Join": [",", {"Ref": "Text"}]}, "Text, which is a text"),
        ({"Fn::Join": [",", {"Ref": "Vpc"}]}, "Vpc, which is a text"),
        ({"Fn::Join": [",", {"Ref": "Subnets"}]}, None),
        ({"Fn::Join": [",", {"Ref": "Stored"}]}, None),
        ({"Fn::Join": [",", {"Fn::GetAtt": ["Nested", "Outputs.Subnets"]}]}, "Nested.Outputs.Subnets, which is a text"),
        ({"Fn::Join": [",", {"Fn::GetAtt": ["Vpc", "CidrBlockAssociations"]}]}, None),
        ({"Fn::Select": [0, {"Fn::ImportValue": "subnets"}]}, "Fn::ImportValue, which is a text"),
        ({"Fn::Select": [0, {"Fn::Split": [",", {"Fn::ImportValue": "subnets"}]}]}, None),
        ({"Fn::Select": [0, {"Fn::If": ["Asked", {"Ref": "Subnets"}, {"Ref": "Stored"}]}]}, None),
        ({"Fn::Select": [0, {"Fn::Split": [",", {"Ref": "Subnets"}]}]}, "Subnets, which is a list already"),
        ({"Fn::Select": [0, {"Fn::Split": ["-", {"Ref": "Subnet"}]}]}, None),
        ({"Fn::Select": [0, {"Fn::Split": ["/", {"Fn::GetAtt": ["Vpc", "CidrBlockAssociations"]}]}]}, "is a list already"),
    ],
)
def test_a_function_gives_the_kind_of_value_that_another_takes(value: Any, wrong: str | None) -> None:
    found = wrong_calls(Model.of({"t": {**OF_KINDS, "Outputs": {"It": {"Value": value}}}}))
    assert len(found) == (wrong is not None)
    assert wrong is None or wrong in found[0].message


@pytest.mark.parametrize(
    ("index", "delimiter", "attribute", "wrong"),
    [
        (0, "//", "OpenIdConnectIssuerUrl", True),
        (0, "://", "Endpoint", True),
        (1, "//", "OpenIdConnectIssuerUrl", False),
        (0, "/", "OpenIdConnectIssuerUrl", False),
        (0, "//", "CertificateAuthorityData", False),
    ],
)
def test_the_scheme_of_an_address_is_no_name(index: int, delimiter: str, attribute: str, wrong: bool) -> None:
    value = {"Fn::Select": [index, {"Fn::Split": [delimiter, {"Fn::GetAtt": ["Control", attribute]}]}]}
    found = wrong_calls(Model.of({"t": {**OF_KINDS, "Outputs": {"It": {"Value": value}}}}))
    assert [("the scheme" in one.message) for one in found] == [True] * wrong


@pytest.mark.parametrize(
    ("place", "value", "wrong"),
    [
        ("Url", {"Fn::Select": [1, {"Fn::Split": ["//", {"Fn::GetAtt": ["Control", "OpenIdConnectIssuerUrl"]}]}]}, True),
        ("Url", {"Fn::Select": [1, {"Fn::Split": ["https://", {"Fn::GetAtt": ["Control", "OpenIdConnectIssuerUrl"]}]}]}, False),
        ("Url", {"Fn::GetAtt": ["Control", "OpenIdConnectIssuerUrl"]}, False),
        (
            "Tags",
            [{"Key": "host", "Value": {"Fn::Select": [1, {"Fn::Split": ["//", {"Fn::GetAtt": ["Control", "Endpoint"]}]}]}}],
            False,
        ),
    ],
)
def test_the_address_of_a_provider_is_whole(place: str, value: Any, wrong: bool) -> None:
    provider: dict[str, Any] = {"Type": "AWS::IAM::OIDCProvider", "Properties": {"Url": "https://oidc.example.com", place: value}}
    found = wrong_calls(Model.of({"t": {"Resources": {**OF_KINDS["Resources"], "Provider": provider}}}))
    assert [("behind https://" in one.message) for one in found] == [True] * wrong


CLUSTER_ARN = {"Fn::GetAtt": ["Cluster", "ClusterArn"]}
VERSION = {"Type": "AWS::Lambda::Version", "Properties": {"FunctionName": "clean"}}


@pytest.mark.parametrize(
    ("index", "delimiter", "arn", "dimension", "wrong"),
    [
        (1, "/", CLUSTER_ARN, "ClusterId", False),
        (2, "/", CLUSTER_ARN, "ClusterId", True),
        (0, "/", CLUSTER_ARN, "ClusterId", True),
        (1, ":", CLUSTER_ARN, "ClusterId", True),
        (1, ":", CLUSTER_ARN, "Partition", False),
        (4, ":", CLUSTER_ARN, "ClusterId", True),
        (4, ":", CLUSTER_ARN, "AccountId", False),
        (5, ":", CLUSTER_ARN, "ClusterId", True),
        (6, ":", CLUSTER_ARN, "ClusterId", True),
        (7, ":", {"Ref": "Version"}, "Resource", False),
        (9, "-", CLUSTER_ARN, "ClusterId", False),
    ],
)
def test_an_item_of_an_arn_is_one_with_a_name(index: int, delimiter: str, arn: Any, dimension: str, wrong: bool) -> None:
    value = {"Fn::Select": [index, {"Fn::Split": [delimiter, arn]}]}
    alarm = {"Dimensions": [{"Name": dimension, "Value": value}], "EvaluationPeriods": 1, "ComparisonOperator": "LessThanThreshold"}
    resources = {"Version": VERSION, "Idle": {"Type": "AWS::CloudWatch::Alarm", "Properties": alarm}}
    template = {**SLURM, "Resources": {**SLURM["Resources"], **resources}}
    found = [one.resource for one in findings(template) if one.rule == "HP-REF-003"]
    assert found == (["Idle"] if wrong else [])


@pytest.mark.parametrize(("index", "words"), [(3, "the region"), (4, "the account")])
def test_a_part_of_an_arn_that_is_no_name_is_said(index: int, words: str) -> None:
    value = {"Fn::Select": [index, {"Fn::Split": [":", CLUSTER_ARN]}]}
    alarm = {
        "Dimensions": [{"Name": "ClusterId", "Value": value}],
        "EvaluationPeriods": 1,
        "ComparisonOperator": "LessThanThreshold",
    }
    resources = {**SLURM["Resources"], "Idle": {"Type": "AWS::CloudWatch::Alarm", "Properties": alarm}}
    (found,) = [one for one in findings({**SLURM, "Resources": resources}) if one.rule == "HP-REF-003"]
    assert words in found.message


@pytest.mark.parametrize(
    ("index", "delimiter", "wrong"),
    [
        (1, "//", False),
        (2, "//", True),
        (4, "/", False),
        (5, "/", True),
        (1, "https://", False),
        (2, "https://", True),
        (9, ".", False),
    ],
)
def test_an_item_of_an_address_is_one_of_its_parts(index: int, delimiter: str, wrong: bool) -> None:
    issuer = {"Fn::GetAtt": ["Control", "OpenIdConnectIssuerUrl"]}
    value = {"Fn::Select": [index, {"Fn::Split": [delimiter, issuer]}]}
    template = with_sections(eks(), Outputs={"It": {"Value": {"Fn::Sub": ["${Part}:sub", {"Part": value}]}}})
    assert ("HP-REF-003" in rules_of(template)) is wrong


def test_an_item_of_an_arn_may_stand_in_a_text_and_a_tag() -> None:
    partition = {"Fn::Select": [1, {"Fn::Split": [":", CLUSTER_ARN]}]}
    text = {"Fn::Join": ["", ["arn:", partition, ":iam::aws:policy/ReadOnlyAccess"]]}
    tag = {"Key": "partition", "Value": partition}
    assert "HP-REF-003" not in rules_of(with_sections(SLURM, Outputs={"It": {"Value": text}}))
    topic = {"Type": "AWS::SNS::Topic", "Properties": {"Tags": [tag]}}
    assert "HP-REF-003" not in rules_of({**SLURM, "Resources": {**SLURM["Resources"], "Topic": topic}})


PARAMETERS = [
    ({"Type": "String", "AllowedValues": ["dev", "prod"]}, "prd", "prod"),
    ({"Type": "Number", "MinValue": 1, "MaxValue": 64}, 65, 64),
    ({"Type": "Number"}, "four", "4"),
    ({"Type": "String", "MaxLength": 3}, "long", "abc"),
    ({"Type": "String", "AllowedPattern": "[a-z]+"}, "Abc", "abc"),
    ({"Type": "AWS::EC2::VPC::Id"}, "subnet-0123456789abcdef0", "vpc-0123456789abcdef0"),
    ({"Type": "List<AWS::EC2::Subnet::Id>"}, "subnet-0123456789abcdef0,vpc-0123456789abcdef0", "subnet-0123456789abcdef0"),
    ({"Type": "AWS::EC2::AvailabilityZone::Name"}, "us-east-1-b", "us-east-1b"),
    ({"Type": "List<AWS::EC2::AvailabilityZone::Name>"}, "us-west-2a,us-west-2", "us-west-2a,us-west-2-lax-1a"),
    ({"Type": "AWS::EC2::Instance::Id"}, "0123456789abcdef0", "i-0123456789abcdef0"),
    ({"Type": "AWS::EC2::Volume::Id"}, "i-0123456789abcdef0", "vol-01234567"),
    ({"Type": "CommaDelimitedList", "AllowedValues": ["a", "b"]}, "a,c", "a, b"),
    ({"Type": "Strng"}, "a", None),
]


@pytest.mark.parametrize(("declared", "wrong", "right"), PARAMETERS)
def test_defaults_are_taken(declared: Mapping[str, Any], wrong: Any, right: Any) -> None:
    def found(default: Any) -> list[tuple[str, str]]:
        template = with_sections(SLURM, Parameters={"It": {**declared, "Default": default}})
        return [(one.rule, one.resource) for one in findings(template)]

    assert found(wrong) == [("HP-REF-004", "It")]
    assert right is None or found(right) == []


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "(a|aa)+b", "a*a*a*a*a*b", "(x?){30}x{30}", r"(a)\1"])
def test_a_pattern_that_can_keep_the_matcher_busy_is_not_matched(pattern: str) -> None:
    parameters = {"It": {"Type": "String", "AllowedPattern": pattern, "Default": "a" * 60 + "c"}}
    assert list(wrong_parameters(Model.of({"t": {"Resources": {}, "Parameters": parameters}}))) == []


def nested(parameters: Mapping[str, Any], given: Any, declared: Mapping[str, Any] | None = None) -> list[str]:
    """The rules of findings in a stack with a nested one."""
    child = {"Parameters": parameters, "Resources": {}, "Outputs": dict(declared or {"Id": {"Value": "x"}})}
    stack = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "child.yaml", **given}}
    body = {"Resources": {"Child": stack}, "Outputs": {"It": {"Value": {"Fn::GetAtt": ["Child", "Outputs.Id"]}}}}
    inner = Document(name="t/Child", body=raw_template(child))
    return [one.rule for one in check(Model([Document(name="t", body=raw_template(body), nested={"Child": inner})]))]


@pytest.mark.parametrize(
    ("given", "rules"),
    [
        ({"Parameters": {"Id": "vpc-0123456789abcdef0"}}, []),
        ({}, ["HP-REF-005"]),
        ({"Parameters": {"Id": "vpc-0123456789abcdef0", "More": "x"}}, ["HP-REF-005"]),
        ({"Parameters": {"Id": "subnet-0123456789abcdef0"}}, ["HP-REF-005"]),
        ({"Parameters": {"Id": ["a", "b"]}}, ["HP-REF-005"]),
        ({"Parameters": {"Id": {"Ref": "AWS::StackName"}}}, []),
        ({"Parameters": {"Fn::Transform": {"Name": "AWS::Include"}}}, []),
    ],
)
def test_a_nested_stack_receives_its_parameters(given: Any, rules: list[str]) -> None:
    parameters = {"Id": {"Type": "AWS::EC2::VPC::Id"}, "Count": {"Type": "Number", "Default": 1}}
    assert nested(parameters, given) == rules


@pytest.mark.parametrize(
    ("given", "rules"),
    [
        ({"Ref": "Offices"}, ["HP-REF-005"]),
        ({"Fn::Split": [";", {"Ref": "One"}]}, ["HP-REF-005"]),
        ({"Fn::Join": [",", {"Ref": "Offices"}]}, []),
        ({"Ref": "One"}, []),
    ],
)
def test_a_nested_stack_receives_lists_as_texts(given: Any, rules: list[str]) -> None:
    child = {"Parameters": {"Ids": {"Type": "CommaDelimitedList"}}, "Resources": {}, "Outputs": {"Id": {"Value": "x"}}}
    stack = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "child.yaml", "Parameters": {"Ids": given}}}
    parameters = {"Offices": {"Type": "CommaDelimitedList", "Default": "a,b"}, "One": {"Type": "String", "Default": "a"}}
    used = {"It": {"Value": {"Fn::GetAtt": ["Child", "Outputs.Id"]}}}
    body = {"Parameters": parameters, "Resources": {"Child": stack}, "Outputs": used}
    inner = Document(name="t/Child", body=raw_template(child))
    found = [one.rule for one in check(Model([Document(name="t", body=raw_template(body), nested={"Child": inner})]))]
    assert [rule for rule in found if rule == "HP-REF-005"] == rules


STAGES: Mapping[str, Any] = {"Type": "String", "AllowedValues": ["dev", "prod"]}
SIZED = {"Type": "AWS::EC2::EIP", "Properties": {"PublicIpv4Pool": {"Fn::FindInMap": ["Pools", {"Ref": "Stage"}, "Pool"]}}}
KEPT = {"Type": "AWS::SNS::Topic", "Condition": "Kept"}


@pytest.mark.parametrize(
    ("inside", "given", "rules"),
    [
        ({"Mappings": {"Pools": {"prod": {"Pool": "a"}}}}, {"Ref": "Stage"}, ["HP-REF-003"]),
        ({"Mappings": {"Pools": {stage: {"Pool": "a"} for stage in ("dev", "prod")}}}, {"Ref": "Stage"}, []),
        ({"Mappings": {"Pools": {"prod": {"Pool": "a"}}}}, "prod", []),
        ({"Conditions": {"Kept": {"Fn::Equals": [{"Ref": "Stage"}, "prod"]}}}, {"Ref": "Stage"}, ["HP-REF-001"]),
        ({"Conditions": {"Kept": {"Fn::Not": [{"Fn::Equals": [{"Ref": "Stage"}, "test"]}]}}}, {"Ref": "Stage"}, []),
        ({"Conditions": {"Kept": {"Fn::Equals": [{"Ref": "Stage"}, "prod"]}}}, {"Fn::GetAtt": ["Other", "Outputs.Stage"]}, []),
    ],
)
def test_a_nested_stack_has_the_values_of_the_stack_above(inside: dict[str, Any], given: Any, rules: list[str]) -> None:
    resources = {"It": SIZED if "Mappings" in inside else KEPT}
    outputs = {"Out": {"Value": {"Ref": "It"}}}
    child = {"Parameters": {"Stage": {"Type": "String"}}, "Resources": resources, "Outputs": outputs, **inside}
    above = {
        "Type": "AWS::CloudFormation::Stack",
        "Properties": {"TemplateURL": "https://s3/b/c.json", "Parameters": {"Stage": given}},
    }
    stacks = {"Child": above, "Other": {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "https://s3/b/o.json"}}}
    body = {"Parameters": {"Stage": STAGES}, "Resources": stacks if isinstance(given, dict) else {"Child": above}}
    nested = {"Child": Document(name="c", body=raw_template(child))}
    found = [one.rule for one in check(Model([Document(name="t", body=raw_template(body), nested=nested)]))]
    assert [rule for rule in found if rule in ("HP-REF-001", "HP-REF-003")] == rules


NETWORK = ("Network", "Network")
PLAN, OPEN = {"Ref": "Plan"}, {"Fn::Equals": [{"Ref": "Open"}, "yes"]}
NO_PLAN = {"Fn::Equals": [PLAN, ""]}
NOTHING = {"Ref": "AWS::NoValue"}


@pytest.mark.parametrize(
    ("conditions", "given", "wrong"),
    [
        ({"Planned": NO_PLAN}, [PLAN, NOTHING], True),
        ({"Planned": {"Fn::Not": [NO_PLAN]}}, ["none", PLAN], True),
        ({"Planned": {"Fn::And": [NO_PLAN, OPEN]}}, [PLAN, "none"], True),
        ({"Planned": {"Fn::Not": [{"Condition": "Given"}]}, "Given": {"Fn::Not": [NO_PLAN]}}, [PLAN, NOTHING], True),
        ({"Planned": {"Fn::Equals": ["", {"Fn::Join": ["", PLAN]}]}}, [{"Fn::Split": [",", PLAN]}, NOTHING], True),
        ({"Planned": NO_PLAN}, [NOTHING, PLAN], False),
        ({"Planned": {"Fn::Not": [NO_PLAN]}}, [PLAN, NOTHING], False),
        ({"Planned": {"Fn::And": [NO_PLAN, OPEN]}}, ["none", PLAN], False),
        ({"Planned": {"Fn::Or": [NO_PLAN, OPEN]}}, [PLAN, NOTHING], False),
        ({"Planned": NO_PLAN}, [{"Fn::Sub": "plan-${Plan}"}, NOTHING], False),
        ({"Planned": {"Fn::Equals": [PLAN, "none"]}}, [PLAN, NOTHING], False),
        ({"Planned": {"Fn::Equals": [{"Fn::Select": [0, PLAN]}, ""]}}, [PLAN, NOTHING], False),
    ],
)
def test_a_parameter_is_not_used_where_its_condition_says_that_it_is_empty(
    conditions: dict[str, Any], given: list[Any], wrong: bool
) -> None:
    parameters = {name: {"Type": "String", "Default": ""} for name in ("Plan", "Open")}
    outputs = {"It": {"Value": {"Fn::If": ["Planned", *given]}}}
    template = with_sections(SLURM, Parameters=parameters, Conditions=conditions, Outputs=outputs)
    found = [one for one in wrong_calls(Model.of({"t": template})) if "there it is empty" in one.message]
    assert bool(found) is wrong


WANTED = {"Fn::Equals": [{"Ref": "Wanted"}, "yes"]}


@pytest.mark.parametrize(
    ("decides", "inside", "wrong"),
    [
        ({"Fn::Equals": [{"Ref": "Network"}, "yes"]}, {"Value": {"Ref": "It"}}, True),
        (WANTED, {"Value": {"Ref": "It"}}, False),
        ({"Fn::And": [WANTED, {"Fn::Equals": [{"Ref": "Network"}, "yes"]}]}, {"Value": {"Ref": "It"}}, False),
        ({"Fn::Equals": [{"Ref": "Network"}, "yes"]}, {"Value": {"Ref": "It"}, "Condition": "Kept"}, False),
        ({"Fn::Equals": [{"Ref": "Network"}, "yes"]}, {"Value": {"Ref": "It"}, "Condition": "Same"}, False),
        ({"Fn::Equals": [{"Ref": "Network"}, "yes"]}, {"Value": {"Ref": "It"}, "Condition": "Network"}, False),
    ],
)
@pytest.mark.parametrize("listed", [True, False])
def test_a_stack_under_a_condition_has_the_values_on_which_that_does_not_decide(
    decides: dict[str, Any], inside: dict[str, Any], wrong: bool, listed: bool
) -> None:
    """Two parameters with the same value from above never differ."""
    switch = {"Type": "String", "Default": "yes", **({"AllowedValues": ["yes", "no"]} if listed else {})}
    child = {
        "Parameters": {"Kept": {"Type": "String"}, "Again": {"Type": "String"}, "Network": {"Type": "String"}},
        "Conditions": {name: {"Fn::Equals": [{"Ref": of}, "yes"]} for name, of in (("Kept", "Kept"), ("Same", "Again"), NETWORK)},
        "Resources": {"It": KEPT},
        "Outputs": {"Out": inside},
    }
    given = {"Kept": {"Ref": "Wanted"}, "Again": {"Ref": "Wanted"}, "Network": {"Ref": "Network"}}
    stack = {"Type": "AWS::CloudFormation::Stack", "Condition": "Made", "Properties": {"TemplateURL": "c", "Parameters": given}}
    body = {"Parameters": {"Wanted": switch, "Network": switch}, "Conditions": {"Made": decides}, "Resources": {"Child": stack}}
    inner = {"Child": Document(name="c", body=raw_template(child))}
    found = [one.rule for one in check(Model([Document(name="t", body=raw_template(body), nested=inner)]))]
    assert ("HP-REF-001" in found) is wrong


@pytest.mark.parametrize(("given", "needed", "wrong"), [("yes", None, False), (None, None, True), (None, "Wanted", False)])
def test_an_output_is_there_for_all_values_for_which_it_is_needed(given: str | None, needed: str | None, wrong: bool) -> None:
    switch = {"Type": "String", "AllowedValues": ["yes", "no"], "Default": "yes"}
    kept = {"Parameters": {"Wanted": switch}, "Conditions": {"Wanted": WANTED}}
    child = {**kept, "Resources": {}, "Outputs": {"Out": {"Value": "x", "Condition": "Wanted"}}}
    handed = {"Wanted": given or {"Ref": "Wanted"}}
    stack = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "c", "Parameters": handed}}
    output = {"Value": {"Fn::GetAtt": ["Child", "Outputs.Out"]}, **({"Condition": needed} if needed else {})}
    body = {**kept, "Resources": {"Child": stack}, "Outputs": {"All": output}}
    inner = {"Child": Document(name="c", body=raw_template(child))}
    found = [one.rule for one in check(Model([Document(name="t", body=raw_template(body), nested=inner)]))]
    assert ("HP-REF-002" in found) is wrong


def test_a_value_for_a_nested_stack_is_one_mistake_there_and_inside() -> None:
    """The subnet that is given as a VPC is wrong as the parameter of the stack, and as the VPC of the group in it."""
    group = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "x", "VpcId": {"Ref": "VpcId"}}}
    child = {"Parameters": {"VpcId": {"Type": "AWS::EC2::VPC::Id"}}, "Resources": {"Group": group}}
    given = {"TemplateURL": "child.yaml", "Parameters": {"VpcId": {"Fn::ImportValue": "lab-subnet"}}}
    body = {"Resources": {"Child": {"Type": "AWS::CloudFormation::Stack", "Properties": given}}}
    network = with_sections(SLURM, Outputs={"Subnet": {"Value": {"Ref": "NodeSubnet"}, "Export": {"Name": "lab-subnet"}}})
    inner = Document(name="t/Child", body=raw_template(child))
    parent = Document(name="t", body=raw_template(body), nested={"Child": inner})
    found = check(Model([Document(name="network", body=raw_template(network)), parent]))
    assert [one.rule for one in found if one.rule.startswith("HP-REF")] == ["HP-REF-012"]


@pytest.mark.parametrize(
    ("url", "rules"),
    [
        ("./child.yaml", []),
        ("chlid.yaml", ["HP-REF-001"]),
        ("https://example.s3.amazonaws.com/chlid.yaml", []),
        ({"Fn::Sub": "https://${AWS::StackName}.s3.amazonaws.com/chlid.yaml"}, []),
        ("child", []),
    ],
)
def test_a_local_template_is_beside_its_parent(url: Any, rules: list[str], tmp_path: Path) -> None:
    nested = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": url}}
    (tmp_path / "parent.json").write_text(json.dumps({"Resources": {"Child": nested}}))
    (tmp_path / "child.yaml").write_text("Resources: {Topic: {Type: 'AWS::SNS::Topic'}}")
    assert [one.rule for one in check(load([tmp_path / "parent.json"]))] == rules


def test_a_nested_stack_has_its_outputs() -> None:
    assert nested({}, {}, {"Identifier": {"Value": "x"}}) == ["HP-REF-002"]


TOKEN = "arn:aws:lambda:us-west-2:123456789012:function:own"


VPC_ID = "vpc-0123456789abcdef0"


def exporting(name: Any, value: Any = VPC_ID, **more: Any) -> Template:
    return {"Resources": {}, "Outputs": {"Out": {"Value": value, "Export": {"Name": name}}, **more}}


def importing(*names: Any) -> Template:
    properties = {"GroupDescription": "x", "VpcId": {"Fn::ImportValue": names[0]}}
    others = {f"Out{index}": {"Value": {"Fn::ImportValue": name}} for index, name in enumerate(names[1:])}
    return {"Resources": {"Group": {"Type": "AWS::EC2::SecurityGroup", "Properties": properties}}, "Outputs": others}


@pytest.mark.parametrize(
    ("exported", "imported", "rules"),
    [
        ("ml-node-subnet", ["ml-node-subnet"], []),
        ("ml-node-subnet", ["ml-nodes-subnet"], ["HP-REF-007"]),
        ("ml-node-subnet", ["ml-nodes-subnet", "ml-nodes-subnets"], ["HP-REF-007"]),
        ("ml-node-subnet-a", ["ml-node-subnet-b", "ml-node-subnet-a"], []),
        ("ml-node-subnet", ["platform-vpc"], []),
        ("ml-node-subnet", [{"Ref": "AWS::StackName"}], []),
    ],
)
def test_imports_are_exported(exported: str, imported: list[Any], rules: list[str]) -> None:
    assert rules_of(exporting(exported), importing(*imported)) == rules


def test_an_export_without_a_known_name_may_be_what_is_imported() -> None:
    nameless = {"Subnet": {"Value": "x", "Export": {"Name": sub("${AWS::StackName}-subnets")}}}
    assert rules_of(exporting("ml-node-subnet", **nameless), importing("ml-nodes-subnet")) == []
    assert rules_of(exporting("ml-node-subnet", **nameless), importing("ml-nodes-subnet", "ml-nodes-subnets")) == ["HP-REF-007"]


def test_a_stack_under_other_names_is_the_mistake_and_not_who_imports_from_it() -> None:
    data = {**importing("laboratory-dev-subnet"), "Outputs": {"Key": {"Value": "x", "Export": {"Name": "laboratory-dev-the-key"}}}}
    found = findings(exporting("laboratory-subnet"), data, importing("laboratory-the-key"))
    assert [(one.rule, one.found) for one in found] == [("HP-REF-007", "laboratory-dev-subnet")]


def test_an_export_is_there_once() -> None:
    second = {"Second": {"Value": "y", "Export": {"Name": "one"}}}
    assert [(one.rule, one.resource) for one in findings(exporting("one", **second))] == [("HP-REF-006", "Second")]
    assert rules_of(exporting("one"), exporting("one")) == []


@pytest.mark.parametrize(("other", "rules"), [("two", ["HP-REF-006"]), ("four", [])])
def test_an_export_is_there_once_among_stacks_that_import_from_each_other(other: str, rules: list[str]) -> None:
    first, second = ({"Second": {"Value": VPC_ID, "Export": {"Name": name}}} for name in ("two", "three"))
    assert rules_of(exporting("one", **first), exporting(other, **second), importing("one", "three")) == rules


def test_an_import_that_two_stacks_export_joins_none_of_them() -> None:
    second = {"Second": {"Value": VPC_ID, "Export": {"Name": "two"}}}
    assert rules_of(exporting("one"), exporting("one"), importing("one"), exporting("one", **second), importing("two")) == []


@pytest.mark.parametrize(("condition", "rules"), [({}, ["HP-REF-006"]), ({"Condition": "Perhaps"}, [])])
def test_an_export_whose_name_is_not_known_is_written_once(condition: dict[str, str], rules: list[str]) -> None:
    name = sub("${AWS::StackName}-one")
    other = {"Other": {"Value": "y", "Export": {"Name": sub("${AWS::StackName}-other")}}}
    second = {"Second": {"Value": "y", "Export": {"Name": name}, **condition}}
    conditions = {"Perhaps": {"Fn::Equals": [{"Ref": "AWS::StackName"}, "x"]}}
    assert rules_of({**exporting(name, **other, **second), "Conditions": conditions}) == rules


def test_an_import_is_exported_where_all_others_of_its_family_are() -> None:
    exports = {name: {"Value": "x", "Export": {"Name": f"ml-{name}"}} for name in ("vpc", "subnet", "group", "key")}
    foundation = {"Resources": {}, "Outputs": exports}
    again = {"Resources": {}, "Outputs": {**exports, "again": exports["key"]}}

    def found(exporter: Template, *names: str) -> list[object]:
        templates = {"foundation": exporter, "other": importing(*names), "last": importing("ml-vpc", "ml-nets")}
        return [one.found for one in unmatched(Model.of(templates))]

    assert found(foundation, "ml-vpc", "ml-subnet", "ml-group") == ["ml-nets"]
    assert found(foundation, "ml-vpc", "ml-subnet") == []
    assert found(foundation, "ml-vpc", "ml-subnet", "ml-group", "ml-other") == []
    assert found(again, "ml-vpc", "ml-subnet", "ml-group") == []


def test_an_export_may_have_the_name_that_another_stack_gives() -> None:
    name = {"Fn::ImportValue": "name"}
    stack = {
        **exporting(name),
        "Resources": {"P": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": name}}},
    }
    assert rules_of(stack) == []


def test_an_export_is_there_once_in_an_account_and_region() -> None:
    def rules(region: str) -> list[str]:
        places = [Environment(region="us-west-2", account="123456789012"), Environment(region=region, account="123456789012")]
        documents = [
            Document(name=f"t{index}", body=raw_template(exporting("one")), environment=place) for index, place in enumerate(places)
        ]
        return [one.rule for one in check(Model(documents))]

    assert rules("us-west-2") == ["HP-REF-006"]
    assert rules("us-east-1") == []


def test_stacks_do_not_import_from_each_other_in_a_circle() -> None:
    one = {**importing("two"), "Outputs": {"Out": {"Value": "vpc-0123456789abcdef1", "Export": {"Name": "one"}}}}
    two = {**importing("one"), "Outputs": {"Out": {"Value": "vpc-0123456789abcdef0", "Export": {"Name": "two"}}}}
    assert "HP-REF-011" in rules_of(one, two)
    assert "HP-REF-011" not in rules_of(importing("two"), exporting("two", "vpc-0123456789abcdef0"))


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("{{resolve:ssm:/team/name:3}}", []),
        ("{{resolve:ssm:/team/name}}", []),
        ("{{resolve:ssm:/team/name:latest}}", ["HP-REF-008"]),
        ("{{resolve:secretsmanager:team:SecretString:name}}", []),
        ("{{resolve:secretsmanager:team:name}}", ["HP-REF-008"]),
        ({"Fn::Sub": "{{resolve:secretsmanager:${AWS::StackName}:SecretBinary:name}}"}, ["HP-REF-008"]),
        ({"Fn::Sub": "{{resolve:secretsmanager:${AWS::StackName}-${AWS::Region}:SecretString:name}}"}, []),
        ("{{resolve:secretmanager:team:SecretString:name}}", ["HP-REF-008"]),
        ("{{resolve:ssm-secure:/team/name:1}}", ["HP-REF-008"]),
        ({"Fn::Sub": "{{resolve:ssm:/${AWS::StackName}/name}}"}, []),
    ],
)
def test_dynamic_references_are_read(text: Any, rules: list[str]) -> None:
    assert rules_of(edited(SLURM, {"Scripts/Tags": [{"Key": "team", "Value": text}]})) == rules


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{{resolve:ssm:${Key}:SecretString:token}}", True),
        ("{{resolve:ssm-secure:${Key}}}", True),
        ("{{resolve:secretsmanager:${Name}}}", True),
        ("{{resolve:secretsmanager:${Key}}}", False),
        ("{{resolve:ssm:${Name}}}", False),
        ("{{resolve:ssm:/aws/reference/secretsmanager/${Key}}}", False),
    ],
)
def test_secrets_and_parameters_are_asked_for_at_their_services(text: str, wrong: bool) -> None:
    kept = {
        "Key": {"Type": "AWS::SecretsManager::Secret", "Properties": {"SecretString": "x"}},
        "Name": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": "x"}},
    }
    found = rules_of(edited(SLURM, {**kept, "Scripts/Tags": [{"Key": "team", "Value": {"Fn::Sub": text}}]}))
    assert ("HP-REF-008" in found) is wrong


def joined(*parts: Any) -> Template:
    return {"Fn::Join": ["", list(parts)]}


LOGIN = {"SecretStringTemplate": '{"user": "slurm"}', "GenerateStringKey": "word"}
OWN = {
    "Key": {"Type": "AWS::SecretsManager::Secret", "Properties": {"Name": "lab/login", "GenerateSecretString": LOGIN}},
    "Plain": {"Type": "AWS::SSM::Parameter", "Properties": {"Name": "/lab/plain", "Type": "String", "Value": "x"}},
    "Attached": {
        "Type": "AWS::SecretsManager::SecretTargetAttachment",
        "Properties": {"SecretId": {"Ref": "Key"}, "TargetId": "db", "TargetType": "AWS::RDS::DBInstance"},
    },
}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (joined("{{resolve:secretsmanager:", {"Ref": "Key"}, ":SecretString:password::}}"), True),
        (joined("{{resolve:secretsmanager:", {"Ref": "Key"}, ":SecretString:word::}}"), False),
        (joined("{{resolve:secretsmanager:", {"Fn::GetAtt": ["Key", "Id"]}, ":SecretString:name}}"), True),
        (joined("{{resolve:secretsmanager:", {"Ref": "Attached"}, ":SecretString:username}}"), True),
        (joined("{{resolve:secretsmanager:", {"Ref": "Attached"}, ":SecretString:host}}"), False),
        (joined("user={{resolve:secretsmanager:", {"Ref": "Key"}, ":SecretString:user}} at ", {"Ref": "Scripts"}), False),
        (joined("{{resolve:secretsmanager:", {"Fn::ImportValue": "login"}, ":SecretString:password}}"), False),
        (joined("{{resolve:secretsmanager:", {"Fn::GetAtt": "Key.Id"}, ":SecretString:word:AWSCURRENT:1}}"), True),
        (joined("{{resolve:ssm:", {"Ref": "Key"}, "}}"), True),
        (joined("{{resolve:ssm:", {"Ref": "Attached"}, "}}"), True),
        (joined("{{resolve:ssm:", {"Ref": "Plain"}, ":1}}"), False),
        ("{{resolve:secretsmanager:lab/login:SecretString:password}}", True),
        ("{{resolve:secretsmanager:lab/login:SecretString:word}}", False),
        ("{{resolve:secretsmanager:other/login:SecretString:password}}", False),
        ("{{resolve:ssm:lab/login}}", True),
        ("{{resolve:ssm:/lab/plain}}", False),
        ("{{resolve:ssm:arn:aws:secretsmanager:us-west-2:123456789012:secret:login-a1b2c3}}", True),
        ("{{resolve:secretsmanager:arn:aws:ssm:us-west-2:123456789012:parameter/plain}}", True),
        ("{{resolve:secretsmanager:arn:aws:secretsmanager:us-west-2:123456789012:secret:login-a1b2c3:SecretString:a}}", False),
    ],
)
def test_references_of_any_spelling_name_a_key_of_their_secret(text: Any, wrong: bool) -> None:
    found = rules_of(edited(SLURM, {**OWN, "Scripts/Tags": [{"Key": "team", "Value": text}]}))
    assert ("HP-REF-008" in found) is wrong


KINDS = [
    ({"NodeSubnet/VpcId": {"Ref": "NodeGroup"}}, "NodeSubnet"),
    (
        {"Nat": {"Type": "AWS::EC2::NatGateway", "Properties": {"AllocationId": {"Ref": "Ip"}, "SubnetId": {"Ref": "NodeSubnet"}}}},
        "Nat",
    ),
    ({"More": {"Type": "AWS::EC2::Route", "Properties": {"RouteTableId": {"Ref": "NodeSubnet"}, "NatGatewayId": "nat-1"}}}, "More"),
    (
        {"Extra": {"Type": "AWS::IAM::RolePolicy", "Properties": {"RoleName": {"Fn::GetAtt": ["Role", "Arn"]}, "PolicyName": "x"}}},
        "Extra",
    ),
    ({"Link/FileSystemId": {"Fn::GetAtt": ["FileSystem", "DNSName"]}}, "Link"),
]


def test_a_property_that_takes_an_id_or_an_arn_takes_an_id() -> None:
    properties = {"FileSystemId": {"Ref": "Homes"}, "SubnetId": {"Ref": "NodeSubnet"}}
    target = {"Type": "AWS::EFS::MountTarget", "Properties": properties}
    template = edited(SLURM, {"Homes": {"Type": "AWS::EFS::FileSystem", "Properties": {}}, "Target": target})
    assert "HP-REF-012" not in rules_of(template)


@pytest.mark.parametrize("kind", ["TransitGatewayAttachment", "TransitGatewayVpcAttachment"])
def test_an_attachment_of_either_type_is_one_of_a_transit_gateway(kind: str) -> None:
    hub = {"Type": "AWS::EC2::TransitGateway", "Properties": {"DefaultRouteTableAssociation": "disable"}}
    table = {"Type": "AWS::EC2::TransitGatewayRouteTable", "Properties": {"TransitGatewayId": {"Ref": "Hub"}}}
    joins = {"TransitGatewayId": {"Ref": "Hub"}, "VpcId": {"Ref": "Vpc"}, "SubnetIds": [{"Ref": "NodeSubnet"}]}
    uses = {"TransitGatewayAttachmentId": {"Ref": "Joined"}, "TransitGatewayRouteTableId": {"Ref": "HubTable"}}
    joined = {
        "Hub": hub,
        "HubTable": table,
        "Joined": {"Type": f"AWS::EC2::{kind}", "Properties": joins},
        "Uses": {"Type": "AWS::EC2::TransitGatewayRouteTableAssociation", "Properties": uses},
    }
    assert "HP-REF-012" not in rules_of(edited(SLURM, joined))
    assert "HP-REF-012" in rules_of(edited(SLURM, {**joined, "Uses/TransitGatewayAttachmentId": {"Ref": "Hub"}}))


@pytest.mark.parametrize(("changes", "resource"), KINDS)
def test_references_are_of_the_right_kind(changes: Mapping[str, Any], resource: str) -> None:
    template = edited(SLURM, {"Ip": {"Type": "AWS::EC2::EIP", "Properties": {"Domain": "vpc"}}, **changes})
    assert ("HP-REF-012", resource) in [(one.rule, one.resource) for one in findings(template)]


def test_attributes_of_another_resource_may_be_of_the_right_kind() -> None:
    member = {"GroupDescription": "x", "VpcId": {"Fn::GetAtt": ["NodeSubnet", "VpcId"]}}
    assert rules_of(edited(SLURM, {"Extra": {"Type": "AWS::EC2::SecurityGroup", "Properties": member}})) == []
    policy = {"GroupId": {"Fn::GetAtt": ["Control", "ClusterSecurityGroupId"]}, "IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}
    rule = {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": {**policy, "CidrIp": "10.0.0.0/16"}}
    assert rules_of(edited(eks(), {"Extra": rule})) == []


def machine(**substitutions: str) -> dict[str, Any]:
    """A state machine with a variable called like a parameter in its definition, and what takes the places of variables."""
    states = {"Stop": {"Type": "Fail", "Error": "${Stage}"}}
    role = {"Fn::GetAtt": ["Role", "Arn"]}
    properties = {"RoleArn": role, "Definition": {"StartAt": "Stop", "States": states}, "DefinitionSubstitutions": substitutions}
    return {"Type": "AWS::StepFunctions::StateMachine", "Properties": properties}


@pytest.mark.parametrize(
    ("changes", "sections", "rules"),
    [
        ({"Role/Description": "of ${Stage}"}, {}, {"HP-REF-009"}),
        ({"Role/Description": "in ${AWS::Region}"}, {}, {"HP-REF-009"}),
        ({"Machine": machine(Stage="beta")}, {}, set()),
        ({"Machine": machine(Other="beta")}, {}, {"HP-REF-009"}),
        ({"Role/Description": {"Fn::Sub": "of ${Stage}"}}, {}, set()),
        ({"Role/Description": "of ${aws:username} and ${Other}"}, {}, set()),
        ({"Scripts/Tags": [{"Key": "team", "Value": "${AWS::Region}"}]}, {}, set()),
        ({}, {"Conditions": {"Is": {"Fn::Equals": [{"Ref": "Kind"}, "production"]}}}, {"HP-REF-009"}),
        ({}, {"Conditions": {"Is": {"Fn::Equals": ["prod", {"Ref": "Kind"}]}}}, set()),
    ],
)
def test_texts_mean_what_they_look_like(changes: Mapping[str, Any], sections: Mapping[str, Any], rules: set[str]) -> None:
    parameters = {**MAPPED["Parameters"], "Kind": {"Type": "String", "AllowedValues": ["dev", "prod"], "Default": "prod"}}
    template = with_sections(edited(MAPPED, changes), Parameters=parameters, **sections)
    assert {rule for rule in rules_of(template) if rule == "HP-REF-009"} == rules


@pytest.mark.parametrize(
    "template",
    [
        edited(SLURM, {"Cluster/.DependOn": "Role"}),
        edited(SLURM, {"Own": {"Type": "Custom::My Chart", "Properties": {"ServiceToken": TOKEN}}}),
        with_sections(SLURM, Parameter={}),
        with_sections(SLURM, Outputs={"It": {"Val": "x"}}),
        with_sections(SLURM, Parameters={"It": {"Type": "String", "Defaults": "x"}}),
    ],
)
def test_keys_are_known(template: Template) -> None:
    assert set(rules_of(template)) == {"HP-REF-010"}
    assert rules_of(with_sections(template, Transform="Own")) == []


@pytest.mark.parametrize(
    ("given", "rules"),
    [
        ({"DependsOn": "Vpc"}, []),
        ({"DependsOn": {"Fn::Sub": "Vpc"}}, ["HP-REF-010"]),
        ({"DependsOn": ["Vpc", {"Ref": "Vpc"}]}, ["HP-REF-010"]),
        ({"DeletionPolicy": {"Ref": "Policy"}}, ["HP-REF-010"]),
        ({"DependsOn": 5}, ["HP-REF-010"]),
        ({"Properties": ["QueueName"]}, ["HP-REF-010"]),
        ({"UpdatePolicy": "rolling"}, ["HP-REF-010"]),
        ({"Metadata": "a note"}, ["HP-REF-010"]),
        ({"Type": ["AWS::SQS::Queue"]}, ["HP-REF-010"]),
        ({"Properties": {"QueueName": {"Fn::ImportValue": ["queue"]}}}, ["HP-REF-003"]),
        ({"Properties": {"QueueName": {"Fn::ImportValue": {"Fn::ImportValue": "queue"}}}}, ["HP-REF-003"]),
        ({"Properties": {"QueueName": {"Fn::FindInMap": ["a", "b", "c"], "Fn::Sub": "queue"}}}, ["HP-REF-003"]),
        ({"Properties": {"Tags": {"Fn::Transform": {"Name": "Own"}, "Key": "a"}}}, []),
    ],
)
def test_keys_of_a_resource_have_what_they_take(given: Mapping[str, Any], rules: list[str]) -> None:
    resources = {"Vpc": {"Type": "AWS::SNS::Topic"}, "Queue": {"Type": "AWS::SQS::Queue", **given}}
    body = {"Parameters": {"Policy": {"Type": "String", "Default": "Retain"}}, "Resources": resources}
    found = check(Model([Document(name="t", body=raw_template(body))]))
    assert [one.rule for one in found if one.rule.startswith("HP-REF")] == rules


@pytest.mark.parametrize(
    ("imported", "rules"),
    [
        (["lab-vpc", "lab-subnet", "lab-key", "lab-doors"], ["HP-REF-007"]),
        (["lab-vpc", "lab-subnet", "lab-doors"], []),
        (["lab-vpc", "lab-subnet", "lab-key", "shared-doors"], []),
        (["lab-vpc", "lab-subnet", "lab-key", "lab-doors", "lab-logs"], []),
    ],
)
def test_the_only_import_of_its_family_that_is_not_exported(imported: list[str], rules: list[str]) -> None:
    names = ["lab-vpc", "lab-subnet", "lab-key"]
    outputs = {f"O{index}": {"Value": "x", "Export": {"Name": name}} for index, name in enumerate(names)}
    texts = {"Description": {"Fn::Join": [" ", [{"Fn::ImportValue": name} for name in imported]]}}
    group = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": texts["Description"]}}
    exporting: Template = {"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}, "Outputs": outputs}
    found = rules_of(exporting, {"Resources": {"Group": group}})
    assert [rule for rule in found if rule == "HP-REF-007"] == rules


@pytest.mark.parametrize(
    ("subnets", "rules"),
    [
        ([{"Fn::Join": [",", [{"Ref": "NodeSubnet"}, {"Ref": "PublicSubnet"}]]}], ["HP-SCH-004"]),
        ([{"Fn::Join": ["", [{"Ref": "NodeSubnet"}, {"Ref": "PublicSubnet"}]]}], ["HP-REF-012"]),
        ({"Fn::Split": [",", {"Fn::Sub": "${NodeSubnet} ${PublicSubnet}"}]}, ["HP-SCH-004"]),
        ({"Fn::Split": [" ", {"Fn::Sub": "${NodeSubnet},${PublicSubnet}"}]}, ["HP-SCH-004"]),
        ({"Fn::Split": [";", {"Fn::Sub": "${NodeSubnet}|${PublicSubnet}"}]}, ["HP-SCH-004"]),
        ({"Fn::Split": [",", {"Ref": "NodeSubnet"}]}, []),
        ([{"Fn::Select": [0, {"Fn::Split": [",", {"Fn::Join": [",", [{"Ref": "NodeSubnet"}, "x"]]}]}]}], []),
    ],
)
def test_an_identifier_is_no_list_in_a_text(subnets: list[Any], rules: list[str]) -> None:
    system = {"FileSystemType": "LUSTRE", "StorageCapacity": 1200, "SubnetIds": subnets}
    scratch = {"Type": "AWS::FSx::FileSystem", "DeletionPolicy": "Delete", "UpdateReplacePolicy": "Delete", "Properties": system}
    said = rules_of(edited(SLURM, {"Scratch": scratch}))
    assert [rule for rule in said if rule in ("HP-REF-012", "HP-SCH-004")] == rules


def test_variables_and_parameters_of_a_nested_stack_take_a_list_in_a_text() -> None:
    joined = {"Fn::Join": [",", [{"Ref": "NodeSubnet"}, {"Ref": "PublicSubnet"}]]}
    code = {"Runtime": "python3.13", "Handler": "index.handler", "Code": {"S3Bucket": "code", "S3Key": "a.zip"}}
    function = {**code, "Role": "arn:aws:iam::123456789012:role/x", "Environment": {"Variables": {"SubnetIds": joined}}}
    assert rules_of(edited(SLURM, {"Watch": {"Type": "AWS::Lambda::Function", "Properties": function}})) == []
    properties = {"TemplateURL": "https://b.s3.amazonaws.com/t.yaml", "Parameters": {"SubnetIds": joined}}
    assert rules_of(edited(SLURM, {"Nested": {"Type": "AWS::CloudFormation::Stack", "Properties": properties}})) == []


@pytest.mark.parametrize(("key", "rules"), [("clusterArn", ["HP-REF-012"]), ("clusterName", [])])
def test_keys_of_arns_in_a_text_of_json_have_arns(key: str, rules: list[str]) -> None:
    values = {"Fn::Sub": f'{{"env": {{"{key}": "${{Control}}"}}}}'}
    properties = {"ClusterName": {"Ref": "Control"}, "AddonName": "own-addon", "ConfigurationValues": values}
    found = rules_of(edited(eks(), {"Extra": {"Type": "AWS::EKS::Addon", "Properties": properties}}))
    assert [rule for rule in found if rule.startswith("HP-REF")] == rules


@pytest.mark.parametrize(
    ("space", "key", "attribute", "rules"),
    [
        ("amp", "prometheusEndpoint", "Arn", ["HP-REF-012"]),
        ("amp", "prometheusEndpoint", "PrometheusEndpoint", []),
        ("amp", "arn", "Arn", []),
        ("amg", "arn", "Arn", ["HP-REF-012"]),
    ],
)
def test_keys_of_addresses_in_a_text_of_json_have_addresses(space: str, key: str, attribute: str, rules: list[str]) -> None:
    values = {"Fn::Sub": f'{{"{space}Workspace": {{"{key}": "${{Metrics.{attribute}}}"}}}}'}
    properties = {"ClusterName": {"Ref": "Control"}, "AddonName": "own-addon", "ConfigurationValues": values}
    workspace = {"Type": "AWS::APS::Workspace", "DeletionPolicy": "Retain"}
    found = rules_of(edited(eks(), {"Extra": {"Type": "AWS::EKS::Addon", "Properties": properties}, "Metrics": workspace}))
    assert [rule for rule in found if rule.startswith("HP-REF")] == rules


def test_case_has_one_finding_where_the_reference_is_typed_wrongly() -> None:
    Case("HP-REF-001", SLURM, {"NodeSubnet/VpcId": {"Ref": "Vcp"}}, {}).check()


@pytest.mark.parametrize(
    ("destination", "rules"),
    [
        ("arn:aws:s3:::team-models", ["HP-REF-013"]),
        ({"Fn::Sub": "arn:${AWS::Partition}:s3:::team-models"}, ["HP-REF-013"]),
        ("arn:aws:s3:::team-models-copy", []),
    ],
)
def test_a_bucket_is_not_its_own_copy(destination: Any, rules: list[str]) -> None:
    rule = {"Id": "all", "Status": "Enabled", "Destination": {"Bucket": destination}}
    properties = {
        "BucketName": "team-models",
        "VersioningConfiguration": {"Status": "Enabled"},
        "ReplicationConfiguration": {"Role": "arn:aws:iam::123456789012:role/copy", "Rules": [rule]},
    }
    kept = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
    assert rules_of(edited(SLURM, {"Models": {"Type": "AWS::S3::Bucket", **kept, "Properties": properties}})) == rules


@pytest.mark.parametrize(
    ("logging", "rules"),
    [
        ({"LogFilePrefix": "own/"}, ["HP-REF-013"]),
        ({"DestinationBucketName": "team-models"}, ["HP-REF-013"]),
        ({"DestinationBucketName": "team-logs", "LogFilePrefix": "own/"}, []),
        ({"DestinationBucketName": {"Ref": "AWS::StackName"}, "LogFilePrefix": "own/"}, []),
    ],
)
def test_a_bucket_does_not_log_its_own_logs(logging: Any, rules: list[str]) -> None:
    properties = {"BucketName": "team-models", "LoggingConfiguration": logging}
    kept = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
    found = rules_of(edited(SLURM, {"Models": {"Type": "AWS::S3::Bucket", **kept, "Properties": properties}}))
    assert [one for one in found if one == "HP-REF-013"] == rules


ZFS = {
    "FileSystemType": "OPENZFS",
    "StorageCapacity": 64,
    "OpenZFSConfiguration": {"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 160},
}


@pytest.mark.parametrize(
    ("kind", "attribute", "wrong", "right"),
    [
        ("DynamoDB::Table", "StreamArn", {}, {"StreamSpecification": {"StreamViewType": "KEYS_ONLY"}}),
        (
            "EC2::VPCEndpoint",
            "DnsEntries",
            {"VpcEndpointType": "Gateway", "RouteTableIds": ["rtb-1"]},
            {"VpcEndpointType": "Interface"},
        ),
        ("EC2::VPCEndpoint", "NetworkInterfaceIds", {}, {"VpcEndpointType": {"Ref": "Kind"}}),
        ("EKS::Cluster", "EncryptionConfigKeyArn", {}, {"EncryptionConfig": [{}]}),
        ("FSx::FileSystem", "LustreMountName", ZFS, {"FileSystemType": "LUSTRE"}),
        ("FSx::FileSystem", "RootVolumeId", {"FileSystemType": "LUSTRE", "StorageCapacity": 1200}, ZFS),
        (
            "Grafana::Workspace",
            "SsoClientId",
            {"AuthenticationProviders": ["SAML"]},
            {"AuthenticationProviders": ["AWS_SSO", "SAML"]},
        ),
        ("RDS::DBCluster", "MasterUserSecret.SecretArn", {"SnapshotIdentifier": "last"}, {"ManageMasterUserPassword": True}),
        (
            "RDS::DBInstance",
            "MasterUserSecret.SecretArn",
            {"ManageMasterUserPassword": False},
            {"ManageMasterUserPassword": "true"},
        ),
        ("SageMaker::Domain", "SingleSignOnApplicationArn", {"AuthMode": "IAM"}, {"AuthMode": "SSO"}),
    ],
)
def test_settings_decide_on_attributes(kind: str, attribute: str, wrong: dict[str, object], right: dict[str, object]) -> None:
    for properties, found in ((wrong, True), (right, False)):
        template = with_sections(SLURM, Parameters={"Kind": {"Type": "String"}}, Outputs={"It": {"Value": att(attribute)}})
        template["Resources"] = {**SLURM["Resources"], "Other": {"Type": f"AWS::{kind}", "Properties": properties}}
        assert ("HP-REF-002" in rules_of(template)) is found


def att(attribute: str) -> dict[str, object]:
    return {"Fn::GetAtt": ["Other", attribute]}


@pytest.mark.parametrize(
    ("file", "rules"),
    [("network.yaml", ["HP-TXT-010"]), ("netwrok.yaml", []), ("storage.yaml", [])],
)
def test_a_template_that_is_nearly_called_so_is_meant(file: str, rules: list[str]) -> None:
    url = {"Fn::Sub": "https://templates.s3.${AWS::Region}.amazonaws.com/netwrok.yaml"}
    parent = {"Resources": {"Network": {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": url}}}}
    documents = [
        Document(name="main", body=raw_template(parent), file=Path("main.yaml")),
        Document(name="other", body=raw_template({"Resources": {}}), file=Path(file)),
    ]
    assert [one.rule for one in check(Model(documents))] == rules


@pytest.mark.parametrize(("delimiter", "wrong"), [(",", False), ({"Ref": "AWS::Region"}, True)])
def test_the_delimiter_of_a_join_is_a_text(delimiter: Any, wrong: bool) -> None:
    outputs = {"All": {"Value": {"Fn::Join": [delimiter, ["a", "b"]]}}}
    found = wrong_calls(Model.of({"t": {"Resources": {}, "Outputs": outputs}}))
    assert [one.found for one in found] == (["Ref"] if wrong else [])


@pytest.mark.parametrize(("argument", "wrong"), [({"Fn::Transform": {"Name": "Text"}}, False), ({"Ref": "AWS::Region"}, True)])
def test_a_macro_may_write_the_text_of_sub(argument: dict[str, Any], wrong: bool) -> None:
    template = with_sections(SLURM, Outputs={"It": {"Value": {"Fn::Sub": argument}}})
    assert ("HP-REF-003" in rules_of(template)) is wrong


def test_another_value_is_said_in_words() -> None:
    kept = {"Parameters": {"Stage": {"Type": "String"}}, "Conditions": {"Kept": {"Fn::Equals": [{"Ref": "Stage"}, "prod"]}}}
    (message,) = [
        one.message for one in findings({**kept, "Resources": {"It": KEPT}, "Outputs": {"Out": {"Value": {"Ref": "It"}}}})
    ]
    assert message.endswith("leaves out with another Stage")


@pytest.mark.parametrize(("name", "wrong"), [("Password", False), ("PasswordOf", True)])
def test_a_secure_string_may_stand_below_a_condition(name: str, wrong: bool) -> None:
    profile = {"Fn::If": ["Own", {name: "{{resolve:ssm-secure:/team/first:1}}"}, {"Ref": "AWS::NoValue"}]}
    user = {"Type": "AWS::IAM::User", "Properties": {"LoginProfile": profile}}
    more = {"Parameters": {"Stage": {"Type": "String"}}, "Conditions": {"Own": {"Fn::Equals": [{"Ref": "Stage"}, "own"]}}}
    assert ("HP-REF-008" in rules_of({**more, "Resources": {"User": user}})) is wrong


def test_a_bucket_does_not_log_into_a_bucket_of_its_own_name() -> None:
    name = {"Fn::Sub": "models-${AWS::AccountId}"}
    properties = {"BucketName": name, "LoggingConfiguration": {"DestinationBucketName": name}}
    kept = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
    found = rules_of(edited(SLURM, {"Models": {"Type": "AWS::S3::Bucket", **kept, "Properties": properties}}))
    assert "HP-REF-013" in found


def test_a_rule_that_refuses_every_deployment_is_one_mistake() -> None:
    rule = {"Assertions": [{"Assert": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-west2"]}}]}
    (found,) = findings({**SLURM, "Rules": {"OnlyOregon": rule}})
    assert (found.rule, found.resource) == ("HP-REF-014", "OnlyOregon")
    assert found.message == "rule OnlyOregon refuses every deployment: AWS::Region is never 'us-west2'; the nearest is us-west-2"


def test_an_export_that_takes_the_name_of_another_is_one_mistake() -> None:
    outputs = {name: {"Value": {"Ref": "Vpc"}, "Export": {"Name": "lab-vpc"}} for name in ("Vpc", "Second")}
    giver = {**SLURM, "Outputs": {**outputs, "Third": {"Value": {"Ref": "Vpc"}, "Export": {"Name": "lab-vpc-2"}}}}
    assert rules_of(giver, importing("lab-vpc-1")) == ["HP-REF-006"]


def test_a_list_in_one_text_is_one_mistake() -> None:
    joined = {"Fn::Join": [";", [{"Ref": "NodeSubnet"}, {"Ref": "Second"}]]}
    subnet = {**SLURM["Resources"]["NodeSubnet"]}
    split = {"Fn::Split": [",", joined]}
    group = {"Type": "AWS::RDS::DBSubnetGroup", "Properties": {"DBSubnetGroupDescription": "a", "SubnetIds": split}}
    found = findings(edited(SLURM, {"Second": subnet, "Subnets": group}))
    assert [one.rule for one in found if one.resource == "Subnets" and one.path] == ["HP-REF-012"]


_OF_OUTPUTS: dict[str, Any] = {
    "Files": {"Type": "AWS::FSx::FileSystem", "Properties": {"FileSystemType": "LUSTRE"}},
    "Records": {"Type": "AWS::RDS::DBInstance", "Properties": {"Engine": "mariadb"}},
    "Ledger": {"Type": "AWS::RDS::DBCluster", "Properties": {"Engine": "aurora-mysql"}},
    "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}},
    "Alerts": {"Type": "AWS::SNS::Topic"},
    "Jobs": {"Type": "AWS::SQS::Queue"},
    "Key": {"Type": "AWS::KMS::Key", "Properties": {"KeyPolicy": {}}},
    "Balancer": {"Type": "AWS::ElasticLoadBalancingV2::LoadBalancer"},
    "Group": {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "a"}},
    "Store": {"Type": "AWS::S3::Bucket"},
}


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("LustreDnsName", {"Ref": "Files"}, "DNSName"),
        ("LustreMountName", {"Fn::GetAtt": ["Files", "DNSName"]}, "LustreMountName"),
        ("BalancerDNSName", {"Ref": "Balancer"}, "DNSName"),
        ("RecordsEndpointAddress", {"Ref": "Records"}, "Endpoint.Address"),
        ("RoleArn", {"Ref": "Role"}, "Arn"),
        ("StoreArn", {"Fn::Sub": "${Store}"}, "Arn"),
        ("LustreDnsName", {"Fn::GetAtt": ["Files", "DNSName"]}, None),
        ("LustreDns", {"Ref": "Files"}, None),
        ("LustreId", {"Ref": "Files"}, None),
        ("RecordsEndpoint", {"Fn::GetAtt": ["Records", "Endpoint.Address"]}, None),
        ("LedgerEndpoint", {"Fn::GetAtt": ["Ledger", "Endpoint.Address"]}, None),
        ("RoleName", {"Ref": "Role"}, None),
        ("AlertsArn", {"Ref": "Alerts"}, None),
        ("JobsUrl", {"Ref": "Jobs"}, None),
        ("JobsQueueUrl", {"Ref": "Jobs"}, None),
        ("KeyArn", {"Ref": "Key"}, None),
        ("GroupId", {"Ref": "Group"}, None),
        ("StoreName", {"Ref": "Store"}, None),
        ("StoreArn", {"Fn::Sub": "arn:aws:s3:::${Store}"}, None),
        ("StoreArn", {"Ref": "AWS::StackName"}, None),
    ],
)
def test_an_output_gives_the_attribute_after_which_it_is_named(name: str, value: Any, meant: str | None) -> None:
    template = {"Resources": _OF_OUTPUTS, "Outputs": {name: {"Value": value}}}
    found = [one.message for one in misnamed_outputs(Model.of({"t": template}))]
    assert [one.endswith(f"and not its {meant}") for one in found] == ([] if meant is None else [True])


def test_a_misnamed_output_is_one_warning() -> None:
    output = {"NodeRoleArn": {"Value": {"Ref": "Role"}}}
    (found,) = findings(with_sections(slurm(), Outputs=output))
    assert (found.rule, found.resource) == ("HP-REF-016", "NodeRoleArn")
