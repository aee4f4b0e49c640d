from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import eks, rules_of, slurm

WORKERS = "Cluster/InstanceGroups/2"
ACCELERATED = "Cluster/InstanceGroups/1"
KEY = "arn:aws:kms:us-west-2:123456789012:key/1"
RESTRICTED = {
    "InstanceGroupName": "nova",
    "InstanceType": "ml.p5.48xlarge",
    "InstanceCount": 1,
    "ExecutionRole": {"Fn::GetAtt": ["Role", "Arn"]},
    "EnvironmentConfig": {"FSxLustreConfig": {"SizeInGiB": 1200, "PerUnitStorageThroughput": 125}},
}
TAINT = {"Key": "team", "Value": "a", "Effect": "NoSchedule"}
ZFS_NAME = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
NOTHING = {"Ref": "AWS::NoValue"}
ALARMS = [{"AlarmName": "errors"}]


def scheduled(percent: int, **members: Any) -> dict[str, Any]:
    policy = {"MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": percent}}
    return {"ScheduleExpression": "cron(0 3 ? * SUN *)", "DeploymentConfig": {"RollingUpdatePolicy": policy, **members}}


def patched(unit: str) -> dict[str, Any]:
    sizes = {"MaximumBatchSize": {"Type": unit, "Value": 1}, "RollbackMaximumBatchSize": {"Type": unit, "Value": 101}}
    return {"PatchingStrategy": "WhenIdle", "DeploymentConfig": {"RollingUpdatePolicy": sizes}}


CASES = [
    Case("HP-GRP-001", slurm(), {f"{WORKERS}/InstanceGroupName": "login"}, {f"{WORKERS}/InstanceGroupName": "Login"}),
    Case(
        "HP-GRP-001",
        eks(),
        {"Cluster/RestrictedInstanceGroups": [{**RESTRICTED, "InstanceGroupName": "system"}]},
        {"Cluster/RestrictedInstanceGroups": [RESTRICTED]},
    ),
    Case("HP-GRP-002", slurm(), {f"{WORKERS}/MinInstanceCount": 5}, {f"{WORKERS}/MinInstanceCount": 4}),
    Case("HP-GRP-002", slurm(), {f"{WORKERS}/MinInstanceCount": "5"}, {f"{WORKERS}/MinInstanceCount": {"Ref": "AWS::NoValue"}}),
    Case(
        "HP-GRP-003",
        slurm(),
        {f"{WORKERS}/InstanceStorageConfigs/2": {"EbsVolumeConfig": {"VolumeSizeInGB": 100}}},
        {f"{WORKERS}/InstanceStorageConfigs/2": {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": KEY}}},
    ),
    Case(
        "HP-GRP-003",
        slurm(),
        {f"{WORKERS}/InstanceStorageConfigs/2": {"FsxLustreConfig": {"DnsName": ZFS_NAME, "MountName": "b", "MountPath": "/b"}}},
        {
            f"{WORKERS}/InstanceStorageConfigs/2": {
                "EbsVolumeConfig": {"RootVolume": {"Ref": "AWS::StackId"}, "VolumeKmsKeyId": KEY}
            }
        },
    ),
    Case(
        "HP-GRP-004",
        slurm(),
        {f"{WORKERS}/InstanceStorageConfigs/2": {"EbsVolumeConfig": {"RootVolume": True}}},
        {f"{WORKERS}/InstanceStorageConfigs/2": {"EbsVolumeConfig": {"RootVolume": "true", "VolumeKmsKeyId": KEY}}},
    ),
    Case(
        "HP-GRP-004",
        slurm(),
        {f"{WORKERS}/InstanceStorageConfigs/0": {"EbsVolumeConfig": {"VolumeKmsKeyId": KEY}}},
        {f"{WORKERS}/InstanceStorageConfigs/0": {"EbsVolumeConfig": {"VolumeKmsKeyId": KEY, "VolumeSizeInGB": 5}}},
    ),
    Case(
        "HP-GRP-005",
        slurm(),
        {
            f"{WORKERS}/InstanceStorageConfigs/1/FsxLustreConfig/MountPath": "/home",
            f"{WORKERS}/InstanceStorageConfigs/2": {"FsxOpenZfsConfig": {"DnsName": ZFS_NAME}},
        },
        {f"{WORKERS}/InstanceStorageConfigs/2": {"FsxOpenZfsConfig": {"DnsName": ZFS_NAME}}},
    ),
    Case(
        "HP-GRP-006",
        slurm(),
        {"Cluster/VpcConfig": REMOVED},
        {
            "Cluster/VpcConfig": REMOVED,
            **{f"Cluster/InstanceGroups/{index}/InstanceStorageConfigs/1": REMOVED for index in range(3)},
        },
    ),
    Case(
        "HP-GRP-007",
        slurm(),
        {
            "Cluster/VpcConfig": REMOVED,
            **{f"Cluster/InstanceGroups/{index}/InstanceStorageConfigs/1": REMOVED for index in range(3)},
            f"{WORKERS}/OverrideVpcConfig": {
                "SecurityGroupIds": [{"Fn::GetAtt": ["NodeGroup", "GroupId"]}],
                "Subnets": [{"Ref": "NodeSubnet"}],
            },
        },
        {
            f"{WORKERS}/OverrideVpcConfig": {
                "SecurityGroupIds": [{"Fn::GetAtt": ["NodeGroup", "GroupId"]}],
                "Subnets": [{"Ref": "NodeSubnet"}],
            }
        },
    ),
    Case(
        "HP-GRP-008",
        slurm(),
        {"Cluster/InstanceGroups/1/NetworkInterface": {"InterfaceType": "efa"}},
        {f"{WORKERS}/NetworkInterface": {"InterfaceType": "efa-only"}},
    ),
    Case(
        "HP-GRP-009",
        slurm(),
        {"Cluster/InstanceGroups/1/InstanceType": "ml.m7g.xlarge", "Cluster/InstanceGroups/1/ThreadsPerCore": 2},
        {"Cluster/InstanceGroups/1/ThreadsPerCore": 2},
    ),
    Case(
        "HP-GRP-010",
        eks(),
        {"Cluster/InstanceGroups/0/OnStartDeepHealthChecks": ["InstanceStress", "InstanceConnectivity"]},
        {f"{ACCELERATED}/OnStartDeepHealthChecks": ["InstanceStress", "InstanceConnectivity"]},
    ),
    Case(
        "HP-GRP-011",
        slurm(),
        {f"{WORKERS}/InstanceCount": 1, f"{WORKERS}/OnStartDeepHealthChecks": ["InstanceStress", "InstanceConnectivity"]},
        {f"{WORKERS}/InstanceCount": 1, f"{WORKERS}/OnStartDeepHealthChecks": ["InstanceStress"]},
    ),
    Case(
        "HP-GRP-012",
        eks(),
        {f"{ACCELERATED}/OnStartDeepHealthChecks": ["InstanceStress"], f"{ACCELERATED}/KubernetesConfig": {"Taints": [TAINT]}},
        {
            f"{ACCELERATED}/KubernetesConfig": {"Taints": [TAINT]},
            "Cluster/InstanceGroups/0/KubernetesConfig": {"Labels": {"a": "b"}},
        },
    ),
    Case(
        "HP-GRP-013",
        slurm(),
        {"Cluster/InstanceGroups/1/OnStartDeepHealthChecks": ["InstanceStress"]},
        {f"{WORKERS}/OnStartDeepHealthChecks": ["InstanceStress"]},
    ),
    *(
        Case(
            "HP-GRP-014",
            slurm(),
            {f"{WORKERS}/ScheduledUpdateConfig": {"ScheduleExpression": wrong}},
            {f"{WORKERS}/ScheduledUpdateConfig": {"ScheduleExpression": right}},
        )
        for wrong, right in (
            ("cron(0 3 1 * SUN *)", "cron(0 3 ? * SUN *)"),
            ("cron(0 3 ? * ? *)", "cron(0 3 1 * ? *)"),
        )
    ),
    Case(
        "HP-GRP-015",
        eks(),
        {f"{ACCELERATED}/ScheduledUpdateConfig": scheduled(101)},
        {f"{ACCELERATED}/ScheduledUpdateConfig": scheduled(100)},
    ),
    Case(
        "HP-GRP-015",
        eks(),
        {f"{ACCELERATED}/AutoPatchConfig": patched("CAPACITY_PERCENTAGE")},
        {f"{ACCELERATED}/AutoPatchConfig": patched("INSTANCE_COUNT")},
    ),
    *(
        Case(
            "HP-GRP-016",
            eks(),
            {f"{ACCELERATED}/ScheduledUpdateConfig": scheduled(10, AutoRollbackConfiguration=ALARMS, **wrong)},
            {
                f"{ACCELERATED}/ScheduledUpdateConfig": scheduled(10, AutoRollbackConfiguration=ALARMS, WaitIntervalInSeconds=60),
            },
        )
        for wrong in ({}, {"WaitIntervalInSeconds": 0}, {"WaitIntervalInSeconds": 60, "RollingUpdatePolicy": NOTHING})
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize(
    ("taints", "rules"),
    [
        ([{**TAINT, "Effect": "NoScheduling"}], ["HP-SCH-004"]),
        ([{**TAINT, "Efect": "NoSchedule"}], ["HP-SCH-001"]),
        ([TAINT, {**TAINT, "Key": "pool", "Effect": "NoScheduling"}], ["HP-GRP-012", "HP-SCH-004"]),
        ([{**TAINT, "Effect": {"Fn::ImportValue": "effect"}}], ["HP-GRP-012"]),
        ([], []),
    ],
)
def test_a_taint_that_the_schema_refuses_is_one_mistake(taints: list[Any], rules: list[str]) -> None:
    changes = {f"{ACCELERATED}/OnStartDeepHealthChecks": ["InstanceStress"], f"{ACCELERATED}/KubernetesConfig": {"Taints": taints}}
    assert sorted(rules_of(edited(eks(), changes))) == rules
