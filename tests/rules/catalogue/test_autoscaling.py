from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import KEPT, Template, eks, rules_of


def node_class(*groups: Any, kind: str = "HyperpodNodeClass") -> Template:
    """As CDK's KubernetesManifest writes it."""
    spec = {"instanceGroups": list(groups)}
    manifest = {"apiVersion": "karpenter.sagemaker.amazonaws.com/v1", "kind": kind, "metadata": {"name": "gpu"}, "spec": spec}
    properties = {"ServiceToken": "arn", "ClusterName": {"Ref": "Control"}, "Manifest": json.dumps([manifest])}
    return {"Type": "Custom::AWSCDK-EKS-KubernetesResource", "DependsOn": "Cluster", "Properties": properties}


GPU = "Cluster/InstanceGroups/1"
TRUST = {"Effect": "Allow", "Principal": {"Service": "hyperpod.sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
ROUTED = {
    "Type": "AWS::EC2::SubnetRouteTableAssociation",
    "Properties": {"SubnetId": {"Ref": "Other"}, "RouteTableId": {"Ref": "NodeRoutes"}},
}
SUBNET = {
    "Type": "AWS::EC2::Subnet",
    **KEPT,
    "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.128.0/18", "AvailabilityZone": "us-west-2c"},
}
SCALED = edited(
    eks(),
    {
        "ScalingRole": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": {"Statement": [TRUST]},
                "ManagedPolicyArns": ["arn:aws:iam::123456789012:policy/scaling"],
            },
        },
        "Cluster/ClusterRole": {"Fn::GetAtt": ["ScalingRole", "Arn"]},
        "Cluster/AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"},
        f"{GPU}/InstanceCount": 0,
        "Class": node_class("accelerated"),
    },
)

CASES = [
    Case("HP-KAR-001", SCALED, {"Cluster/AutoScaling": REMOVED, "Cluster/ClusterRole": REMOVED}, {}),
    Case("HP-KAR-001", SCALED, {"Class/.DependsOn": "Control"}, {}),
    Case("HP-KAR-002", SCALED, {"Class": node_class("accelerated", "gpus")}, {}),
    Case("HP-KAR-003", SCALED, {f"{GPU}/InstanceCount": 2}, {"Class": node_class(), f"{GPU}/InstanceCount": 2}),
    Case("HP-KAR-003", SCALED, {f"{GPU}/OnStartDeepHealthChecks": ["InstanceStress"]}, {}),
    Case("HP-KAR-003", SCALED, {f"{GPU}/CapacityRequirements": {"Spot": {}}}, {f"{GPU}/CapacityRequirements": {"OnDemand": {}}}),
    Case(
        "HP-KAR-003",
        edited(SCALED, {f"{GPU}/InstanceType": "ml.g4dn.xlarge", "Other": SUBNET, "Routed": ROUTED}),
        {"Cluster/VpcConfig/Subnets": [{"Ref": "NodeSubnet"}, {"Ref": "Other"}]},
        {},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize("manifest", ["[{", "[" * 100_000, "{}", "[1]", '[{"kind": "HyperpodNodeClass"}]', {"Ref": "AWS::Region"}])
def test_other_manifests_are_not_judged(manifest: object) -> None:
    assert rules_of(edited(SCALED, {"Class/Manifest": manifest})) == []


def test_objects_of_other_kinds_are_not_judged() -> None:
    assert rules_of(edited(SCALED, {"Class": node_class("anything", kind="NodePool")})) == []


def test_a_group_that_only_the_deployment_knows_is_not_judged() -> None:
    text = '[{"kind": "HyperpodNodeClass", "spec": {"instanceGroups": ["${AWS::StackName}-gpu"]}}]'
    assert rules_of(edited(SCALED, {"Class/Manifest": {"Fn::Sub": text}})) == []
