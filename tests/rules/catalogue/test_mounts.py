"""Mounts of nodes: one file system, and a path of its own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import KEPT, slurm
from tests.rules.catalogue.test_file_systems import openzfs

MOUNT = "Cluster/InstanceGroups/2/InstanceStorageConfigs/1/FsxLustreConfig"
SECOND = slurm()["Resources"]["FileSystem"]
OTHER = edited(slurm(), {"Second": SECOND})
HOST = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"


def expiring(**limits: str) -> dict[str, Any]:
    return {"Rules": [{"Id": "old", "Status": "Enabled", "ExpirationInDays": 30, **limits}]}


def archiving(storage_class: str, **limits: str) -> dict[str, Any]:
    steps = [{"StorageClass": storage_class, "TransitionInDays": 90}]
    return {"Rules": [{"Id": "cold", "Status": "Enabled", "Transitions": steps, **limits}]}


def kept(**properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::S3::Bucket", **KEPT, "Properties": properties}


def tiered(**limits: str) -> list[dict[str, Any]]:
    return [{"Id": "cold", "Status": "Enabled", "Tierings": [{"AccessTier": "ARCHIVE_ACCESS", "Days": 120}], **limits}]


OF_DATA = {"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 200, "ImportPath": {"Fn::Sub": "s3://${Data}/datasets"}}
"""A file system that is created from a bucket."""

CASES = [
    Case("HP-MNT-001", slurm(), {f"{MOUNT}/MountName": "fsx"}, {f"{MOUNT}/DnsName": HOST, f"{MOUNT}/MountName": "abcdefgh"}),
    Case(
        "HP-MNT-001",
        OTHER,
        {f"{MOUNT}/MountName": {"Fn::GetAtt": ["Second", "LustreMountName"]}},
        {
            f"{MOUNT}/{name}": {"Fn::GetAtt": ["Second", value]}
            for name, value in (("DnsName", "DNSName"), ("MountName", "LustreMountName"))
        },
    ),
    Case("HP-GRP-005", slurm(), {f"{MOUNT}/MountPath": "/opt/sagemaker"}, {f"{MOUNT}/MountPath": "/opt/data"}),
    Case("HP-GRP-005", slurm(), {f"{MOUNT}/MountPath": "/usr"}, {f"{MOUNT}/MountPath": "/usr2"}),
    Case("HP-SLM-010", slurm(), {"Cluster/InstanceGroups/2/SlurmConfig/PartitionNames": ["dev"]}, {}),
    Case("HP-SLM-010", slurm(), {"Cluster/InstanceGroups/2/InstanceGroupName": "dev"}, {}),
    Case(
        "HP-SCR-006",
        slurm(),
        {"Cluster/InstanceGroups/2/LifeCycleConfig/SourceS3Uri": {"Fn::Sub": "s3://${Scripts}/lifecycle/on_init_complete.sh"}},
        {"Cluster/InstanceGroups/2/LifeCycleConfig/SourceS3Uri": {"Fn::Sub": "s3://${Scripts}/lifecycle"}},
    ),
    Case("HP-RET-005", slurm(), {"Data/.DeletionPolicy": "Delete"}, {"Data/.DeletionPolicy": "Retain"}),
    Case(
        "HP-RET-007", slurm(), {"Data/LifecycleConfiguration": expiring()}, {"Data/LifecycleConfiguration": expiring(Prefix="old/")}
    ),
    Case(
        "HP-RET-007", slurm(), {"Data/LifecycleConfiguration": expiring(Prefix="")}, {"Scripts/LifecycleConfiguration": expiring()}
    ),
    Case(
        "HP-RET-007",
        slurm(),
        {"Data/LifecycleConfiguration": expiring(Prefix="data")},
        {"Data/LifecycleConfiguration": expiring(Prefix="datasets/old/")},
    ),
    Case(
        "HP-RET-007",
        slurm(),
        {"Checkpoints": kept(LifecycleConfiguration=expiring())},
        {"AccessLogs": kept(LifecycleConfiguration=expiring())},
    ),
    Case(
        "HP-RET-007",
        slurm(),
        {"ModelWeights": kept(LifecycleConfiguration=expiring())},
        {"ModelLogs": kept(LifecycleConfiguration=expiring())},
    ),
    Case(
        "HP-RET-008",
        slurm(),
        {"Data/LifecycleConfiguration": archiving("DEEP_ARCHIVE")},
        {"Data/LifecycleConfiguration": archiving("GLACIER_IR")},
    ),
    Case(
        "HP-RET-008",
        slurm(),
        {"Data/LifecycleConfiguration": archiving("GLACIER")},
        {"Data/LifecycleConfiguration": archiving("GLACIER", Prefix="old/")},
    ),
    Case(
        "HP-RET-008",
        slurm(),
        {"Data/IntelligentTieringConfigurations": tiered()},
        {"Data/IntelligentTieringConfigurations": tiered(Prefix="old/")},
    ),
    Case(
        "HP-RET-008",
        edited(slurm(), {"Data/BucketName": "example-data", "Link/DataRepositoryPath": "s3://example-data/datasets/"}),
        {"Data/LifecycleConfiguration": archiving("GLACIER", Prefix="datasets/")},
        {"Data/LifecycleConfiguration": archiving("GLACIER", Prefix="old/")},
    ),
    Case(
        "HP-RET-008",
        edited(slurm(), {"Link": REMOVED, "FileSystem/LustreConfiguration": OF_DATA}),
        {"Data/LifecycleConfiguration": archiving("GLACIER", Prefix="datasets/")},
        {"Data/LifecycleConfiguration": archiving("GLACIER", Prefix="old/")},
    ),
    Case("HP-RET-004", slurm(), {"FileSystem/.UpdateReplacePolicy": "RetainExceptOnCreate"}, {}),
    Case("HP-RET-004", slurm(), {"Scripts/.DeletionPolicy": "Keep"}, {"Scripts/.DeletionPolicy": "RetainExceptOnCreate"}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_a_host_of_another_kind_of_file_system() -> None:
    Case("HP-MNT-001", openzfs(), {f"{MOUNT}/DnsName": {"Fn::GetAtt": ["Home", "DNSName"]}}, {}).check()
