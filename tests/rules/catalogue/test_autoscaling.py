from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import CHART, KEPT, Template, eks, findings, rules_of
from tests.rules.catalogue.test_refused_calls import ROOT, allow


def manifest(*objects: Any) -> Template:
    """As CDK's KubernetesManifest writes it."""
    properties = {"ServiceToken": "arn", "ClusterName": {"Ref": "Control"}, "Manifest": json.dumps(objects)}
    return {"Type": "Custom::AWSCDK-EKS-KubernetesResource", "DependsOn": "Cluster", "Properties": properties}


def node_class(*groups: Any, version: str = "karpenter.sagemaker.amazonaws.com/v1", key: str = "instanceGroups") -> Template:
    spec = {key: list(groups)}
    return manifest({"apiVersion": version, "kind": "HyperpodNodeClass", "metadata": {"name": "gpu"}, "spec": spec})


OURS = {"group": "karpenter.sagemaker.amazonaws.com", "kind": "HyperpodNodeClass", "name": "gpu"}
NODE_TYPE, ZONE = "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone"
P5 = "ml.p5.48xlarge"


def wanting(key: str, *values: str, operator: str = "In") -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def node_pool(*requirements: Any, of: Any = None, version: str = "karpenter.sh/v1", **more: Any) -> Template:
    template = {"nodeClassRef": OURS if of is None else of, "expireAfter": "Never", "requirements": list(requirements)}
    spec = {"template": {"spec": template}, **more}
    return manifest({"apiVersion": version, "kind": "NodePool", "metadata": {"name": "gpu"}, "spec": spec})


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
        "Pool": node_pool(wanting(NODE_TYPE, P5), wanting(ZONE, "us-west-2b"), wanting("kubernetes.io/arch", "amd64")),
    },
)
EC2 = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"}
OTHER_CHART = {**CHART, "Properties": {**CHART["Properties"], "Release": "karpenter"}}

PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/plan"
CASES = [
    Case("HP-KAR-001", SCALED, {"Cluster/AutoScaling": REMOVED, "Cluster/ClusterRole": REMOVED}, {}),
    Case("HP-KAR-001", SCALED, {"Class/.DependsOn": "Control"}, {}),
    Case("HP-KAR-002", SCALED, {"Class": node_class("accelerated", "gpus")}, {}),
    Case("HP-KAR-002", SCALED, {"Class": node_class("accelerated", *(f"gpu{number}" for number in range(11)))}, {}),
    Case("HP-KAR-003", SCALED, {f"{GPU}/InstanceCount": 2}, {"Class": node_class("none"), f"{GPU}/InstanceGroupName": "none"}),
    Case("HP-KAR-003", SCALED, {f"{GPU}/OnStartDeepHealthChecks": ["InstanceStress"]}, {}),
    Case("HP-KAR-003", SCALED, {f"{GPU}/TrainingPlanArn": PLAN}, {f"{GPU}/CapacityRequirements": {"Spot": {}}}),
    Case(
        "HP-KAR-003",
        edited(SCALED, {"Pool": node_pool(), f"{GPU}/InstanceType": "ml.g6.2xlarge", "Other": SUBNET, "Routed": ROUTED}),
        {"Cluster/VpcConfig/Subnets": [{"Ref": "NodeSubnet"}, {"Ref": "Other"}]},
        {},
    ),
    Case("HP-KAR-001", SCALED, {"Pool/.DependsOn": "Control"}, {"Pool/.DependsOn": "Class"}),
    Case("HP-KAR-004", SCALED, {"Pool": node_pool(version="karpenter.sh/v1beta1")}, {"Pool": node_pool()}),
    Case("HP-KAR-004", SCALED, {"Class": node_class("accelerated", version="karpenter.k8s.aws/v1")}, {}),
    Case("HP-KAR-004", SCALED, {"Class": node_class("accelerated", key="instanceGroup")}, {}),
    Case("HP-KAR-004", SCALED, {"Pool": node_pool(limit={})}, {"Pool": node_pool(weight=10)}),
    Case("HP-KAR-004", SCALED, {"Pool": node_pool(wanting(NODE_TYPE, operator="exists"))}, {}),
    Case("HP-KAR-004", SCALED, {"Pool": node_pool(limits={"cpu": "many"})}, {"Pool": node_pool(limits={"cpu": 960})}),
    Case("HP-KAR-005", SCALED, {"Pool": node_pool(of={**OURS, "name": "gpus"})}, {}),
    Case("HP-KAR-005", SCALED, {"Pool": node_pool(of={**OURS, "kind": "HyperPodNodeClass"})}, {}),
    Case("HP-KAR-005", SCALED, {"Pool": node_pool(of=EC2)}, {"Pool": node_pool(of=EC2), "Other": OTHER_CHART}),
    Case("HP-KAR-006", SCALED, {"Pool": node_pool(wanting(NODE_TYPE, "p5.48xlarge"))}, {"Pool": node_pool(wanting(NODE_TYPE, P5))}),
    Case("HP-KAR-006", SCALED, {"Pool": node_pool(wanting(ZONE, "us-west-2a"))}, {}),
    Case("HP-KAR-006", SCALED, {"Pool": node_pool(wanting(ZONE, "usw2-az1"))}, {}),
    Case(
        "HP-KAR-006",
        edited(SCALED, {"NodeSubnet/AvailabilityZone": REMOVED, "NodeSubnet/AvailabilityZoneId": "usw2-az1"}),
        {"Pool": node_pool(wanting(ZONE, "eu-west-1a"))},
        {},
    ),
    Case("HP-KAR-006", SCALED, {"Pool": node_pool(wanting("kubernetes.io/arch", "arm64"))}, {}),
    Case("HP-KAR-007", SCALED, {"Pool": node_pool(limits={"cpu": "100"})}, {"Pool": node_pool(limits={"cpu": "192"})}),
    Case("HP-KAR-007", SCALED, {"Pool": node_pool(limits={"nvidia.com/gpu": 4})}, {"Pool": node_pool(limits={"memory": "2Ti"})}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize("text", ["[{", "[" * 100_000, "{}", "[1]", '[{"kind": "Other"}]', {"Ref": "AWS::Region"}])
def test_other_manifests_are_not_judged(text: object) -> None:
    assert rules_of(edited(SCALED, {"Pool/Manifest": text}), rules="HP-KAR") == []


def test_node_pools_of_other_clouds_are_not_judged() -> None:
    other = manifest({"apiVersion": "example.com/v1", "kind": "NodePool", "spec": {"size": 3}})
    assert rules_of(edited(SCALED, {"Pool": other})) == []


def test_what_only_the_deployment_knows_is_not_judged() -> None:
    name = "${AWS::StackName}-gpu"
    texts = [one["Properties"]["Manifest"] for one in (node_class(name), node_pool(wanting(NODE_TYPE, name), wanting(ZONE, name)))]
    changes = {f"{id}/Manifest": {"Fn::Sub": text} for id, text in zip(("Class", "Pool"), texts, strict=True)}
    assert rules_of(edited(SCALED, changes)) == []


def test_a_limit_of_a_resource_that_no_type_has_holds_nobody() -> None:
    assert rules_of(edited(SCALED, {"Pool": node_pool(limits={"aws.amazon.com/neuron": 0, "cpu": "1e3", "pods": 1})})) == []


@pytest.mark.parametrize(("via", "rules"), [("ec2", ["HP-PERM-002"]), ("sagemaker", [])])
def test_grants_for_the_volumes_of_new_nodes_are_made_by_sagemaker(via: str, rules: list[str]) -> None:
    condition = {"StringLike": {"kms:ViaService": {"Fn::Sub": f"{via}.${{AWS::Region}}.amazonaws.com"}}}
    use = allow(["kms:CreateGrant", "kms:DescribeKey"], {"Fn::GetAtt": ["Key", "Arn"]}, Condition=condition)
    document = {"Version": "2012-10-17", "Statement": [allow("sagemaker:Batch*ClusterNodes"), use]}
    key = {
        "Type": "AWS::KMS::Key",
        **KEPT,
        "Properties": {"EnableKeyRotation": True, "KeyPolicy": {"Statement": [{**allow("kms:*"), "Principal": ROOT}]}},
    }
    changes = {
        "Key": key,
        "ScalingRole/ManagedPolicyArns": REMOVED,
        "ScalingRole/Policies": [{"PolicyName": "scale", "PolicyDocument": document}],
        f"{GPU}/InstanceStorageConfigs": [
            {"EbsVolumeConfig": {"VolumeSizeInGB": 500, "VolumeKmsKeyId": {"Fn::GetAtt": ["Key", "Arn"]}}}
        ],
    }
    found = [one for one in findings(edited(SCALED, changes)) if one.resource == "ScalingRole"]
    assert [one.rule for one in found if one.rule.startswith("HP-PERM")] == rules
