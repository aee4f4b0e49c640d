"""Mounts of nodes: one file system, and a path of its own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import KEPT, findings, slurm
from tests.rules.catalogue.test_file_systems import openzfs

MOUNT = "Cluster/InstanceGroups/2/InstanceStorageConfigs/1/FsxLustreConfig"
SECOND = slurm()["Resources"]["FileSystem"]
OTHER = edited(slurm(), {"Second": SECOND})
HOST = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"


def expiring(**limits: Any) -> dict[str, Any]:
    return {"Rules": [{"Id": "old", "Status": "Enabled", "ExpirationInDays": 30, **limits}]}


def archiving(storage_class: str, **limits: str) -> dict[str, Any]:
    steps = [{"StorageClass": storage_class, "TransitionInDays": 90}]
    return {"Rules": [{"Id": "cold", "Status": "Enabled", "Transitions": steps, **limits}]}


def kept(**properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::S3::Bucket", **KEPT, "Properties": properties}


def tiered(**limits: str) -> list[dict[str, Any]]:
    return [{"Id": "cold", "Status": "Enabled", "Tierings": [{"AccessTier": "ARCHIVE_ACCESS", "Days": 120}], **limits}]


TIERS = "Scripts/IntelligentTieringConfigurations"
SMALLEST = "Scripts/LifecycleConfiguration/TransitionDefaultMinimumObjectSize"
OF_DATA = {"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 200, "ImportPath": {"Fn::Sub": "s3://${Data}/datasets"}}
"""A file system that is created from a bucket."""

NOTHING = {"Ref": "AWS::NoValue"}

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
        "HP-RET-007",
        slurm(),
        {"Data/LifecycleConfiguration": expiring(Prefix="")},
        {"Scripts/LifecycleConfiguration": expiring(Prefix="logs/")},
    ),
    Case(
        "HP-RET-007",
        slurm(),
        {"Scripts/LifecycleConfiguration": expiring()},
        {"Scripts/LifecycleConfiguration": expiring(TagFilters=[{"Key": "kind", "Value": "trial"}])},
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
        {"Checkpoints": kept(LifecycleConfiguration=expiring(ExpirationInDays=730))},
    ),
    Case(
        "HP-RET-007",
        {**slurm(), "Conditions": {"Trial": {"Fn::Equals": [{"Ref": "AWS::StackName"}, "trial"]}}},
        {"Checkpoints": kept(LifecycleConfiguration=expiring())},
        {"Checkpoints": kept(LifecycleConfiguration={"Rules": [{"Fn::If": ["Trial", *expiring()["Rules"], NOTHING]}]})},
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
    Case(
        "HP-RET-008",
        slurm(),
        {"Scripts/LifecycleConfiguration": archiving("GLACIER")},
        {
            "Scripts/LifecycleConfiguration": archiving("GLACIER", Prefix="old/"),
            "Scripts/IntelligentTieringConfigurations": tiered(),
        },
    ),
    Case(
        "HP-RET-008",
        slurm(),
        {"Scripts/LifecycleConfiguration": archiving("DEEP_ARCHIVE", Prefix="lifecycle/")},
        {"Scripts/LifecycleConfiguration": archiving("DEEP_ARCHIVE", Prefix="lifecycle/old/")},
    ),
    Case("HP-RET-004", slurm(), {"FileSystem/.UpdateReplacePolicy": "RetainExceptOnCreate"}, {}),
    Case("HP-RET-004", slurm(), {"Scripts/.DeletionPolicy": "Keep"}, {"Scripts/.DeletionPolicy": "RetainExceptOnCreate"}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_a_host_of_another_kind_of_file_system() -> None:
    Case("HP-MNT-001", openzfs(), {f"{MOUNT}/DnsName": {"Fn::GetAtt": ["Home", "DNSName"]}}, {}).check()


def model(**container: Any) -> dict[str, Any]:
    properties = {"ExecutionRoleArn": "arn:aws:iam::123456789012:role/a", "PrimaryContainer": {"Image": "a", **container}}
    return {"Type": "AWS::SageMaker::Model", "Properties": properties}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "objects of 128 KB and more that nodes read go to GLACIER"),
        ({SMALLEST: "varies_by_storage_class"}, "objects that nodes read go to GLACIER"),
        ({SMALLEST: "all_storage_classes_128K"}, "objects of 128 KB and more that nodes read go to GLACIER"),
    ],
)
def test_the_size_of_what_is_archived(changes: dict[str, Any], said: str) -> None:
    template = edited(slurm(), {"Scripts/LifecycleConfiguration": archiving("GLACIER"), **changes})
    assert [one.message for one in findings(template, rules="HP-RET-008")] == [said]


@pytest.mark.parametrize(("key", "count"), [("models/a.tar.gz", 1), ("old/a.tar.gz", 0)])
def test_models_that_are_archived(key: str, count: int) -> None:
    archive = kept(BucketName="weights", LifecycleConfiguration=archiving("GLACIER", Prefix="models/"))
    source = {"S3DataSource": {"S3Uri": f"s3://weights/{key}"}}
    for container in ({"ModelDataUrl": f"s3://weights/{key}"}, {"ModelDataSource": source}):
        template = edited(slurm(), {"Archive": archive, "Model": model(**container)})
        assert len(findings(template, rules="HP-RET-008")) == count
