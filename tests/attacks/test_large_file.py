"""Large templates: the work grows in proportion to the size."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.plan.plan import plan
from hyperpod_constructs.rules.checking import check, load_catalogue
from hyperpod_constructs.templates.model import Model
from tests.work import calls


def crowded(count: int) -> Model:
    """Several clusters in one VPC, each with a subnet, routes, a group, a role, a bucket and a file system of its own."""
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


def work(model: Model) -> int:
    """The work of all rules on a model."""
    load_catalogue()
    return calls(lambda: check(model))


def test_twice_as_many_resources_take_twice_the_work() -> None:
    assert work(crowded(40)) < 2.2 * work(crowded(20))


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
    """A quadratic pattern would take more than an hour here."""
    strings = {"a": HOSTILE_STRINGS[kind], "b": {"Fn::Sub": HOSTILE_STRINGS[kind]}}
    content = {"Content": {"schemaVersion": "2.2", "mainSteps": [], **strings}}
    body = {"Resources": {"D": {"Type": "AWS::SSM::Document", "Properties": content}}}
    model = Model.of({"t": body})
    assert check(model) == []
    assert plan(model, Model.of({"t": body})).exit_code == 0
