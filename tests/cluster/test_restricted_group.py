"""Restricted instance groups and their environment: limits, rendering, and their refusal on Slurm."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_constructs import (
    ClusterInstanceType,
    DeepHealthCheck,
    EbsVolume,
    EnvironmentConfig,
    FSxLustreConfig,
    FSxLustreDeletionPolicy,
    HyperPodCluster,
    OverrideVpcConfig,
    RestrictedInstanceGroup,
    SharedEnvironmentConfig,
)
from tests.conftest import only

PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/plan"
ROLE = "arn:aws:iam::123456789012:role/nodes"
FILES = FSxLustreConfig(size_in_gib=1200, per_unit_storage_throughput=250)
NOVA = RestrictedInstanceGroup(
    name="nova",
    instance_type=ClusterInstanceType.P5_48XLARGE,
    count=2,
    environment_config=EnvironmentConfig(fsx_lustre_config=FILES),
)


def rendered(stack: Stack, *groups: RestrictedInstanceGroup, shared: SharedEnvironmentConfig | None = None) -> dict[str, Any]:
    """The properties of an L1 on EKS with these groups."""
    sagemaker.CfnCluster(
        stack,
        "Cluster",
        orchestrator=sagemaker.CfnCluster.OrchestratorProperty(
            eks=sagemaker.CfnCluster.ClusterOrchestratorEksConfigProperty(
                cluster_arn="arn:aws:eks:us-west-2:123456789012:cluster/k"
            )
        ),
        restricted_instance_groups=[group.render(role_arn=ROLE) for group in groups],
        restricted_instance_groups_config=None if shared is None else shared.render(),
    )
    found: dict[str, Any] = only(stack, "AWS::SageMaker::Cluster")["Properties"]
    return found


def everything_set(app: App) -> dict[str, Any]:
    """The properties of a cluster with all that restricted groups can say; the test that counts the typed leaves takes it too."""
    stack = Stack(app, "Restricted")
    key = kms.Key(stack, "Key")
    network = OverrideVpcConfig(
        subnets=[ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-1")],
        security_groups=[ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1")],
    )
    full = replace(
        NOVA,
        override_vpc_config=network,
        threads_per_core=1,
        ebs_volumes=(EbsVolume(size_gb=500, kms_key=key), EbsVolume(root=True, kms_key=key)),
        training_plan_arn=PLAN,
        deep_health_checks=(DeepHealthCheck.INSTANCE_STRESS, DeepHealthCheck.INSTANCE_CONNECTIVITY),
    )
    return rendered(stack, full, shared=SharedEnvironmentConfig(fsx_lustre_config=FILES))


def test_every_property_is_rendered() -> None:
    found = everything_set(App())
    (group,) = found["RestrictedInstanceGroups"]
    key = {"Fn::GetAtt": ["Key961B73FD", "Arn"]}
    files = {"SizeInGiB": 1200, "PerUnitStorageThroughput": 250}
    assert group == {
        "InstanceGroupName": "nova",
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": 2,
        "ExecutionRole": ROLE,
        "ThreadsPerCore": 1,
        "EnvironmentConfig": {"FSxLustreConfig": files},
        "InstanceStorageConfigs": [
            {"EbsVolumeConfig": {"VolumeSizeInGB": 500, "VolumeKmsKeyId": key}},
            {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": key}},
        ],
        "TrainingPlanArn": PLAN,
        "OverrideVpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]},
        "OnStartDeepHealthChecks": ["InstanceStress", "InstanceConnectivity"],
    }
    shared = {"FSxLustreConfig": files, "FSxLustreDeletionPolicy": "Keep"}
    assert found["RestrictedInstanceGroupsConfig"] == {"SharedEnvironmentConfig": shared}


def test_a_group_of_a_shared_environment_has_none_of_its_own(stack: Stack) -> None:
    policy = FSxLustreDeletionPolicy.DELETE_IF_NOT_USED
    shared = SharedEnvironmentConfig(fsx_lustre_config=FILES, fsx_lustre_deletion_policy=policy)
    found = rendered(stack, replace(NOVA, environment_config=None), shared=shared)
    assert set(found["RestrictedInstanceGroups"][0]) == {"InstanceGroupName", "InstanceType", "InstanceCount", "ExecutionRole"}
    assert found["RestrictedInstanceGroupsConfig"]["SharedEnvironmentConfig"]["FSxLustreDeletionPolicy"] == "DeleteIfNotUsed"


def test_takes_tokens(stack: Stack) -> None:
    text = CfnParameter(stack, "Text").value_as_string
    number: Any = CfnParameter(stack, "Number", type="Number").value_as_number
    files = FSxLustreConfig(size_in_gib=number, per_unit_storage_throughput=number)
    group = RestrictedInstanceGroup(
        name=text,
        instance_type=ClusterInstanceType.of(text),
        count=number,
        environment_config=EnvironmentConfig(fsx_lustre_config=files),
        threads_per_core=number,
        training_plan_arn=text,
        deep_health_checks=(DeepHealthCheck.INSTANCE_CONNECTIVITY,),
    )
    (found,) = rendered(stack, group)["RestrictedInstanceGroups"]
    ref = {"Ref": "Number"}
    assert found["EnvironmentConfig"]["FSxLustreConfig"] == {"SizeInGiB": ref, "PerUnitStorageThroughput": ref}
    assert (found["InstanceCount"], found["TrainingPlanArn"], found["InstanceType"]) == (ref, {"Ref": "Text"}, {"Ref": "Text"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size_in_gib": 1199}, "FSxLustreConfig: size_in_gib is 1199; allowed: 1200 to 100800; write size_in_gib=1200"),
        ({"size_in_gib": 100_801}, "size_in_gib is 100801; allowed: 1200 to 100800; write size_in_gib=100800"),
        (
            {"per_unit_storage_throughput": 124},
            "per_unit_storage_throughput is 124; allowed: 125 to 1000; write per_unit_storage_thr",
        ),
        ({"per_unit_storage_throughput": 1001}, "per_unit_storage_throughput is 1001; allowed: 125 to 1000"),
    ],
)
def test_fails_beyond_the_limits_of_the_file_system(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        replace(FILES, **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"ebs_volumes": (EbsVolume(size_gb=1), EbsVolume(size_gb=2))},
            "2 secondary volumes given; the service takes one per group",
        ),
        (
            {"instance_type": ClusterInstanceType.M5_XLARGE, "deep_health_checks": (DeepHealthCheck.INSTANCE_STRESS,)},
            "deep health checks on ml.m5.xlarge, which has no accelerator to check",
        ),
        (
            {"count": 1, "deep_health_checks": (DeepHealthCheck.INSTANCE_CONNECTIVITY,)},
            "InstanceConnectivity needs two nodes or more",
        ),
        ({"count": -1}, "count is -1; allowed: 0 to 6758; write count=0"),
        ({"name": "my_nova"}, 'write name="my-nova"'),
    ],
)
def test_fails_for_a_mistake_within_the_group(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^RestrictedInstanceGroup '.*': .*{re.escape(message)}"):
        replace(NOVA, **changes)


@pytest.mark.parametrize(
    "given",
    [{"restricted_instance_groups": [NOVA]}, {"shared_environment_config": SharedEnvironmentConfig(fsx_lustre_config=FILES)}],
)
def test_fails_in_a_slurm_cluster(stack: Stack, given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Cluster: restricted instance groups are for clusters that EKS orchestrates"):
        HyperPodCluster(stack, "Cluster", **given)
