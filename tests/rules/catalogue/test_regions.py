"""Regions: what a stack uses is in its own."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.regions import strangers
from hyperpod_constructs.templates.model import Model
from tests.rules.catalogue.cases import Case, edited
from tests.rules.catalogue.templates import findings, rules_of, slurm
from tests.templates.models import model_of

KEY = "arn:aws:kms:{}:123456789012:key/11111111-2222-3333-4444-555555555555"


def endpoint(**more: Any) -> dict[str, Any]:
    properties = {"VpcId": {"Ref": "Vpc"}, "ServiceName": "com.amazonaws.us-east-1.logs", "VpcEndpointType": "Interface", **more}
    return {"Type": "AWS::EC2::VPCEndpoint", "Properties": properties}


def encrypted_by(region: str, partition: str = "aws") -> dict[str, Any]:
    key = {"Fn::Sub": KEY.format(region).replace("arn:aws:", f"arn:{partition}:")}
    default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
    return {"ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": default}]}


def pulled(region: str, scheme: str = "") -> dict[str, Any]:
    """A function with an image."""
    image = {"ImageUri": f"{scheme}123456789012.dkr.ecr.{region}.amazonaws.com/tool:1"}
    given = {"PackageType": "Image", "Code": image, "Role": "arn:aws:iam::123456789012:role/tool"}
    return {"Type": "AWS::Lambda::Function", "Properties": given}


def served(region: str) -> dict[str, Any]:
    """A model with an image."""
    container = {"Image": f"763104351884.dkr.ecr.{region}.amazonaws.com/djl-inference:0.33.0"}
    given = {"PrimaryContainer": container, "ExecutionRoleArn": "arn:aws:iam::123456789012:role/tool"}
    return {"Type": "AWS::SageMaker::Model", "Properties": given}


def told(region: str) -> dict[str, Any]:
    """An alarm with a topic."""
    given = {
        "Namespace": "Team",
        "MetricName": "Full",
        "Statistic": "Maximum",
        "Period": 60,
        "EvaluationPeriods": 1,
        "Threshold": 1,
        "ComparisonOperator": "GreaterThanThreshold",
        "AlarmActions": [{"Fn::Sub": f"arn:${{AWS::Partition}}:sns:{region}:${{AWS::AccountId}}:alerts"}],
    }
    return {"Type": "AWS::CloudWatch::Alarm", "Properties": given}


OWNED = {
    "Statement": [{"Effect": "Allow", "Principal": {"AWS": {"Ref": "AWS::AccountId"}}, "Action": "kms:*", "Resource": "*"}],
}
CASES = [
    Case("HP-REG-001", slurm(), {"Llm": served("us-east-1")}, {"Llm": served("us-west-2")}),
    Case(
        "HP-REG-001",
        slurm(),
        {"FileSystem/KmsKeyId": KEY.format("us-east-1")},
        {"FileSystem/KmsKeyId": KEY.format("us-west-2")},
    ),
    Case(
        "HP-REG-001",
        slurm(),
        {"Scripts/BucketEncryption": encrypted_by("us-east-1")},
        {"Copy": {"Type": "AWS::KMS::ReplicaKey", "Properties": {"KeyPolicy": OWNED, "PrimaryKeyArn": KEY.format("us-east-1")}}},
    ),
    Case(
        "HP-REG-001",
        edited(slurm(), {"FileSystem/KmsKeyId": KEY.format("us-west-2")}),
        {"Scripts/BucketEncryption": encrypted_by("us-east-1", "${AWS::Partition}")},
        {"Scripts/BucketEncryption": encrypted_by("${AWS::Region}", "${AWS::Partition}")},
    ),
    Case("HP-REG-001", slurm(), {"Tool": pulled("us-east-1")}, {"Tool": pulled("us-west-2")}),
    Case("HP-SCH-007", slurm(), {"Tool": pulled("us-west-2", "https://")}, {"Tool": pulled("us-west-2")}),
    Case("HP-REG-001", slurm(), {"Full": told("us-east-1")}, {"Full": told("us-west-2")}),
    Case("HP-REG-001", slurm(), {"Logs": endpoint()}, {"Logs": endpoint(ServiceRegion="us-east-1")}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_a_zone_of_another_region_than_the_other_subnets() -> None:
    subnet = slurm()["Resources"]["NodeSubnet"]
    more = {
        name: {**subnet, "Properties": {**subnet["Properties"], "CidrBlock": f"10.0.{200 + place}.0/24"}}
        for place, name in enumerate("AB")
    }
    right = edited(slurm(), more)
    zone = "A/AvailabilityZone"
    assert rules_of(right, rules="HP-REG-001") == []
    assert [one.resource for one in findings(edited(right, {zone: "us-east-1a"}), rules="HP-REG-001")] == ["A"]


def test_a_zone_of_another_region_than_that_of_the_only_other_subnet() -> None:
    zones = {"NodeSubnet": "us-west-2a", "PublicSubnet": "us-east-1a"}
    template = edited(slurm(), {f"{name}/AvailabilityZone": zone for name, zone in zones.items()})
    places = [one for one in findings(template, rules="HP-REG-001") if one.resource in zones]
    assert len(places) == 1
    apart = edited(template, {"PublicSubnet/VpcId": "vpc-0123456789abcdef0"})
    assert [one for one in findings(apart, rules="HP-REG-001") if one.resource in zones] == []


def test_zones_of_a_list_are_one_mistake_of_their_parameter() -> None:
    """Both subnets pick the second zone of the list."""
    subnet = slurm()["Resources"]["NodeSubnet"]["Properties"]
    picked = {name: {"Fn::Select": [place, {"Ref": "Zones"}]} for place, names in enumerate(("AB", "CD")) for name in names}
    more = {
        name: {
            "Type": "AWS::EC2::Subnet",
            "Properties": {**subnet, "CidrBlock": f"10.0.{200 + place}.0/24", "AvailabilityZone": zone},
        }
        for place, (name, zone) in enumerate(picked.items())
    }
    template = edited(slurm(), more)
    template["Parameters"] = {
        **template.get("Parameters", {}),
        "Zones": {"Type": "CommaDelimitedList", "Default": "us-west-2a,us-east-1b"},
    }
    (finding,) = findings(template, rules="HP-REG-001")
    assert finding.resource == "C"
    assert "its parameter also gives AvailabilityZone of D" in finding.message


def test_an_unknown_region_says_nothing() -> None:
    zone = {"Fn::Select": [0, {"Fn::GetAZs": ""}]}
    template = edited(slurm(), {"NodeSubnet/AvailabilityZone": zone, "PublicSubnet/AvailabilityZone": zone})
    assert "HP-REG-001" not in rules_of(edited(template, {"FileSystem/KmsKeyId": KEY.format("us-east-1")}))


LIMITED = """
Mappings:
  Zones: {us-east-2: {A: use2-az1}, us-west-2: {A: usw2-az1}}
Resources:
  Vpc: {Type: AWS::EC2::VPC, Properties: {CidrBlock: 10.0.0.0/16}}
  Subnet:
    Type: AWS::EC2::Subnet
    Properties: {VpcId: !Ref Vpc, CidrBlock: 10.0.0.0/24, AvailabilityZoneId: %s}
  Endpoint:
    Type: AWS::EC2::VPCEndpoint
    Properties: {VpcId: !Ref Vpc, ServiceName: "com.amazonaws.%s.s3"}
  Key:
    Type: AWS::KMS::Key
    Properties:
      MultiRegion: %s
      KeyPolicy:
        Statement:
          - {Effect: Allow, Principal: {Service: %s}, Action: "kms:*", Resource: "*"}
"""
LOOKED_UP = '!FindInMap [Zones, !Ref "AWS::Region", A]'


@pytest.mark.parametrize(
    ("zone", "region", "several", "service", "strange"),
    [
        (LOOKED_UP, "us-west-2", "false", "logs.us-east-2.amazonaws.com", []),
        (LOOKED_UP, "eu-west-1", "false", "logs.us-east-2.amazonaws.com", ["Endpoint"]),
        (LOOKED_UP, "us-west-2", "false", "logs.eu-west-1.amazonaws.com", ["Key"]),
        (LOOKED_UP, "us-west-2", "true", "logs.eu-west-1.amazonaws.com", []),
        (LOOKED_UP, "us-west-2", "false", "[logs.eu-west-1.amazonaws.com, logs.us-west-2.amazonaws.com]", []),
        ('!If [Given, !FindInMap [Zones, !Ref "AWS::Region", A], usw2-az2]', "eu-west-1", "false", "logs.amazonaws.com", []),
        ('!FindInMap [Zones, !Ref "AWS::Region", A, {DefaultValue: a}]', "eu-west-1", "false", "logs.amazonaws.com", []),
    ],
)
def test_a_stack_is_where_its_mappings_have_values(zone: str, region: str, several: str, service: str, strange: list[str]) -> None:
    model = model_of(LIMITED % (zone, region, several, service))
    assert [one.claim.resource.logical_id for one in strangers(model) if "mappings" in one.home] == strange


def in_zones(one: str, other: str) -> dict[str, Any]:
    """A network whose zones two parameters give, each to two subnets."""
    zones = {"ZoneA": one, "ZoneB": other}
    parameters = {name: {"Type": "String", "Default": zone} for name, zone in zones.items()}
    places = [(f"{kind}{name[-1]}", name) for name in zones for kind in ("Inner", "Outer")]
    subnets = {
        name: {
            "Type": "AWS::EC2::Subnet",
            "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": f"10.0.{n}.0/24", "AvailabilityZone": {"Ref": zone}},
        }
        for n, (name, zone) in enumerate(places)
    }
    vpc = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}}
    return {"Parameters": parameters, "Resources": {"Vpc": vpc, **subnets}}


def test_two_zones_of_parameters_in_two_regions_are_one_finding_at_a_parameter() -> None:
    """Nothing tells which of both is the wrong one."""
    (finding,) = [one for one in findings(in_zones("us-east-1a", "us-west-2b")) if one.rule == "HP-REG-001"]
    assert finding.resource == "ZoneB"
    assert "'us-west-2b' and that of InnerA (us-east-1a) are of two regions" in finding.message
    assert [one for one in findings(in_zones("us-west-2a", "us-west-2b")) if one.rule == "HP-REG-001"] == []


def ruled(assertion: Any, **more: Any) -> dict[str, Any]:
    """A network in us-west-2 whose template asserts its region."""
    return {**in_zones("us-west-2a", "us-west-2b"), "Rules": {"Place": {"Assertions": [{"Assert": assertion}], **more}}}


REGION = {"Ref": "AWS::Region"}


@pytest.mark.parametrize(
    ("template", "wrong"),
    [
        (ruled({"Fn::Equals": [REGION, "us-west-2"]}), False),
        (ruled({"Fn::Equals": ["us-east-1", REGION]}), True),
        (ruled({"Fn::Contains": [["us-east-1", "us-west-2"], REGION]}), False),
        (ruled({"Fn::Contains": [["us-east-1", "eu-west-1"], REGION]}), True),
        (ruled({"Fn::Equals": [REGION, "us-east-1"]}, RuleCondition={"Fn::Equals": [{"Ref": "ZoneA"}, "a"]}), False),
        (ruled({"Fn::Not": [{"Fn::Equals": [REGION, "us-east-1"]}]}), False),
        (ruled({"Fn::Equals": [REGION, {"Ref": "ZoneA"}]}), False),
    ],
)
def test_a_rule_lets_the_stack_into_the_region_of_its_zones(template: dict[str, Any], wrong: bool) -> None:
    found = [one for one in findings(template) if one.rule == "HP-REG-001"]
    assert [one.resource for one in found] == ["Place"] * wrong


def test_one_zone_outside_of_the_region_of_a_rule_is_the_mistake() -> None:
    rule = {"Assertions": [{"Assert": {"Fn::Equals": [REGION, "us-west-2"]}}]}
    found = [*strangers(Model.of({"t": {**in_zones("us-east-1a", "us-west-2b"), "Rules": {"Place": rule}}}))]
    assert {one.claim.text for one in found} == {"us-east-1a"}
    assert all(one.rule is None for one in found)
