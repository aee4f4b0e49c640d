"""Whoever writes a large template: the work grows as its size does."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from hyperpod_constructs.rules.plan import plan
from hyperpod_constructs.rules.rule import check, load_catalogue
from hyperpod_constructs.rules.template.model import Model


def crowded(count: int) -> Model:
    """That many clusters in one VPC, each with a subnet, routes, a group, a role, a bucket and a file system of its own."""
    bodies: dict[str, Any] = {"V": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/8"}}}
    for index in range(count):
        ref = {name: {"Ref": f"{name}{index}"} for name in ("Subnet", "Table", "Group", "Role", "Bucket", "Files")}
        role = {"Fn::GetAtt": [f"Role{index}", "Arn"]}
        statement = {"Effect": "Allow", "Action": "s3:*", "Resource": {"Fn::GetAtt": [f"Bucket{index}", "Arn"]}}
        group = {
            "InstanceGroupName": "w",
            "InstanceType": "ml.p5.48xlarge",
            "InstanceCount": 1,
            "ExecutionRole": role,
            "LifeCycleConfig": {"SourceS3Uri": {"Fn::Sub": f"s3://${{Bucket{index}}}/s"}, "OnCreate": "on_create.sh"},
        }
        made: dict[str, tuple[str, dict[str, Any]]] = {
            "Subnet": ("AWS::EC2::Subnet", {"VpcId": {"Ref": "V"}, "CidrBlock": f"10.0.{index}.0/24"}),
            "Table": ("AWS::EC2::RouteTable", {"VpcId": {"Ref": "V"}}),
            "Attachment": ("AWS::EC2::SubnetRouteTableAssociation", {"SubnetId": ref["Subnet"], "RouteTableId": ref["Table"]}),
            "Route": (
                "AWS::EC2::Route",
                {"RouteTableId": ref["Table"], "DestinationCidrBlock": "0.0.0.0/0"},
            ),
            "Endpoint": ("AWS::EC2::VPCEndpoint", {"VpcId": {"Ref": "V"}, "RouteTableIds": [ref["Table"]]}),
            "Group": ("AWS::EC2::SecurityGroup", {"VpcId": {"Ref": "V"}}),
            "Role": ("AWS::IAM::Role", {"AssumeRolePolicyDocument": {"Statement": []}}),
            "Policy": ("AWS::IAM::Policy", {"Roles": [ref["Role"]], "PolicyDocument": {"Statement": [statement]}}),
            "Bucket": ("AWS::S3::Bucket", {}),
            "Files": ("AWS::FSx::FileSystem", {"FileSystemType": "LUSTRE", "SubnetIds": [ref["Subnet"]]}),
            "Cluster": (
                "AWS::SageMaker::Cluster",
                {"VpcConfig": {"SecurityGroupIds": [ref["Group"]], "Subnets": [ref["Subnet"]]}, "InstanceGroups": [group]},
            ),
        }
        bodies |= {f"{name}{index}": {"Type": kind, "Properties": properties} for name, (kind, properties) in made.items()}
    return Model.of({"t": {"Resources": bodies}})


def calls(model: Model) -> int:
    """Functions that all rules call on a model: what they cost on any machine."""
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    load_catalogue()
    sys.setprofile(counted)
    try:
        check(model)
    finally:
        sys.setprofile(None)
    return count


def test_twice_as_many_resources_take_twice_the_work() -> None:
    assert calls(crowded(40)) < 2.2 * calls(crowded(20))


HOSTILE_STRINGS = {
    "dynamic references without an end": "{{resolve:" * 300_000,
    "targets without an end": "sagemaker-cluster:" * 150_000,
    "targets of dashes": "sagemaker-cluster:a_" + "-" * 2_000_000,
    "variables without an end": "${" * 1_000_000,
    "placeholders": "dummy-value-for-" * 100_000,
    "marks of placeholders": "1234" * 500_000,
}


@pytest.mark.parametrize("kind", HOSTILE_STRINGS)
def test_no_pattern_reads_a_text_again_for_each_of_its_characters(kind: str) -> None:
    """One that did would not come to the end of these in an hour."""
    content = {"Content": {"a": HOSTILE_STRINGS[kind], "b": {"Fn::Sub": HOSTILE_STRINGS[kind]}}}
    body = {"Resources": {"D": {"Type": "AWS::SSM::Document", "Properties": content}}}
    model = Model.of({"t": body})
    assert check(model) == []
    assert plan(model, Model.of({"t": body})).exit_code == 0
