"""The effect of each change of a file system or of another resource with data."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.plan.effect import Effect
from tests.plan.templates import change, lustre, resource, row, rows, template


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ({"StorageCapacity": 1200}, {"StorageCapacity": 2400}, Effect.NO_INTERRUPTION),
        ({"StorageCapacity": "1200"}, {"StorageCapacity": 2400}, Effect.NO_INTERRUPTION),
        ({"StorageCapacity": 2400}, {"StorageCapacity": 1200}, Effect.REFUSED),
        ({}, {"SubnetIds": ["subnet-2"]}, Effect.REPLACE),
        ({"SecurityGroupIds": ["sg-1"]}, {"SecurityGroupIds": ["sg-2"]}, Effect.REPLACE),
        ({}, {"KmsKeyId": "key"}, Effect.REPLACE),
        ({"StorageType": "SSD"}, {"StorageType": "HDD"}, Effect.REPLACE),
        ({"FileSystemTypeVersion": "2.12"}, {"FileSystemTypeVersion": "2.15"}, Effect.REPLACE),
        ({}, {"Tags": [{"Key": "a", "Value": "b"}]}, Effect.NO_INTERRUPTION),
    ],
)
def test_a_kept_file_system(before: dict[str, Any], after: dict[str, Any], effect: Effect) -> None:
    assert row(lustre(keep=True, **before), lustre(keep=True, **after)).effect is effect


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ({}, {"EfaEnabled": True}, Effect.REPLACE),
        ({}, {"CopyTagsToBackups": True}, Effect.REPLACE),
        ({}, {"DeploymentType": "PERSISTENT_1"}, Effect.REPLACE),
        ({}, {"PerUnitStorageThroughput": 500}, Effect.ROLLING),
        ({"EfaEnabled": True}, {"EfaEnabled": True, "PerUnitStorageThroughput": 500}, Effect.REFUSED),
        ({"DataCompressionType": "NONE"}, {"DataCompressionType": "LZ4"}, Effect.NO_INTERRUPTION),
        (
            {"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000}},
            {"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 12000}},
            Effect.NO_INTERRUPTION,
        ),
        (
            {"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 12000}},
            {"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000}},
            Effect.REFUSED,
        ),
        ({"ThroughputCapacity": 8000}, {"ThroughputCapacity": 4000}, Effect.REFUSED),
        ({"AutomaticBackupRetentionDays": 7}, {"AutomaticBackupRetentionDays": 3}, Effect.NO_INTERRUPTION),
    ],
)
def test_the_lustre_configuration(before: dict[str, Any], after: dict[str, Any], effect: Effect) -> None:
    assert row(lustre(keep=True, lustre=before), lustre(keep=True, lustre=after)).effect is effect


def homes(*, openzfs: dict[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
    configuration = {"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 160, **(openzfs or {})}
    given = {"FileSystemType": "OPENZFS", "StorageCapacity": 100, **properties}
    return resource("AWS::FSx::FileSystem", keep=True, OpenZFSConfiguration=configuration, **given)


@pytest.mark.parametrize(
    ("before", "after", "effect", "why"),
    [
        ({"AutomaticBackupRetentionDays": 30}, {"AutomaticBackupRetentionDays": 7}, Effect.NO_INTERRUPTION, "are deleted"),
        ({"AutomaticBackupRetentionDays": 7}, {"AutomaticBackupRetentionDays": 30}, Effect.NO_INTERRUPTION, "sets how long"),
        ({}, {"ThroughputCapacity": 320}, Effect.NO_INTERRUPTION, "file servers are exchanged"),
        ({}, {"CopyTagsToBackups": True}, Effect.NO_INTERRUPTION, "later backups"),
        ({}, {"DeploymentType": "SINGLE_AZ_2"}, Effect.REPLACE, "new, empty file system"),
        ({}, {"RootVolumeConfiguration": {"RecordSizeKiB": 256}}, Effect.REPLACE, "does not update the root volume"),
    ],
)
def test_the_openzfs_configuration(before: dict[str, Any], after: dict[str, Any], effect: Effect, why: str) -> None:
    found = row(homes(openzfs=before), homes(openzfs=after))
    assert (found.effect, why in found.why) == (effect, True)


@pytest.mark.parametrize(("capacity", "effect"), [(109, Effect.REFUSED), (110, Effect.NO_INTERRUPTION), (99, Effect.REFUSED)])
def test_openzfs_grows_by_a_tenth_or_more(capacity: int, effect: Effect) -> None:
    assert row(homes(), homes(StorageCapacity=capacity)).effect is effect


def test_a_growth_names_gib_and_its_limit() -> None:
    why = row(lustre(StorageCapacity=1200), lustre(StorageCapacity=4800)).why
    assert "by 3600 GiB" in why
    assert "six hours" in why


def test_a_replacement_without_retention_loses_the_files() -> None:
    found = row(lustre(), lustre(SubnetIds=["subnet-2"]))
    assert found.effect is Effect.DATA_LOSS
    assert "up to 2400 GiB" in found.why
    assert "UpdateReplacePolicy: Retain" in found.avoid


def test_a_replacement_with_retention_keeps_them_outside() -> None:
    found = row(lustre(keep=True), lustre(keep=True, SubnetIds=["subnet-2"]))
    assert found.kept
    assert "the old resource stays in the account" in found.why


def test_other_changes_apply_to_the_new_file_system() -> None:
    """A shrink, too: the new file system is created with its size."""
    found = {item.property: item.effect for item in rows(lustre(), lustre(SubnetIds=["subnet-2"], StorageCapacity=1200))}
    assert found == {"SubnetIds": Effect.DATA_LOSS, "StorageCapacity": Effect.NO_INTERRUPTION}


@pytest.mark.parametrize(
    ("kind", "properties", "effect"),
    [
        ("AWS::FSx::FileSystem", {"FileSystemType": "OPENZFS", "StorageCapacity": 64}, Effect.DATA_LOSS),
        ("AWS::Logs::LogGroup", {}, Effect.DATA_LOSS),
        ("AWS::KMS::Key", {}, Effect.DATA_LOSS),
        ("AWS::SecretsManager::Secret", {}, Effect.DATA_LOSS),
        ("AWS::EC2::Volume", {"Size": 100}, Effect.DATA_LOSS),
        ("AWS::EFS::FileSystem", {}, Effect.DATA_LOSS),
        ("AWS::DynamoDB::Table", {}, Effect.DATA_LOSS),
        ("AWS::S3::Bucket", {"Tags": [{"Key": "aws-cdk:auto-delete-objects", "Value": "true"}]}, Effect.DATA_LOSS),
        ("AWS::S3::Bucket", {}, Effect.NO_INTERRUPTION),
        ("AWS::ECR::Repository", {}, Effect.NO_INTERRUPTION),
        ("AWS::ECR::Repository", {"EmptyOnDelete": True}, Effect.DATA_LOSS),
        ("AWS::RDS::DBInstance", {"AllocatedStorage": "20"}, Effect.NO_INTERRUPTION),
        ("AWS::RDS::DBInstance", {"DBClusterIdentifier": "cluster"}, Effect.NO_INTERRUPTION),
        ("AWS::RDS::DBInstance", {"SourceDBInstanceIdentifier": "source"}, Effect.NO_INTERRUPTION),
        ("AWS::IAM::Role", {}, Effect.NO_INTERRUPTION),
        ("AWS::EC2::NatGateway", {}, Effect.REPLACE),
        ("AWS::SageMaker::Cluster", {}, Effect.REPLACE),
    ],
)
def test_a_removal(kind: str, properties: dict[str, Any], effect: Effect) -> None:
    (found,) = change(template(Thing=resource(kind, **properties)), template()).rows
    assert (found.property, found.effect) == ("", effect)
    (kept,) = change(template(Thing=resource(kind, keep=True, **properties)), template()).rows
    assert kept.effect is Effect.NO_INTERRUPTION


@pytest.mark.parametrize(("policy", "effect"), [("Snapshot", Effect.NO_INTERRUPTION), ("Delete", Effect.DATA_LOSS)])
def test_a_policy_of_a_volume(policy: str, effect: Effect) -> None:
    volume = {**resource("AWS::EC2::Volume", Size=100), "DeletionPolicy": policy}
    assert change(template(Thing=volume), template()).rows[0].effect is effect


@pytest.mark.parametrize(("old", "new"), [("2.12", "2.15"), ("2.15", "2.12")])
def test_another_lustre_version_replaces_the_file_system(old: str, new: str) -> None:
    """CloudFormation replaces the file system for any other version in its template, even after an update in place."""
    found = row(lustre(FileSystemTypeVersion=old), lustre(FileSystemTypeVersion=new))
    assert found.effect is Effect.DATA_LOSS
    assert found.avoid.startswith("keep the value here")


def test_a_file_system_has_no_snapshots() -> None:
    files = {**lustre(), "DeletionPolicy": "Snapshot"}
    assert change(template(Thing=files), template()).rows[0].effect is Effect.DATA_LOSS


@pytest.mark.parametrize("policy", [{"Ref": "Policy"}, {"a": 1}, ["Retain"], None])
def test_an_unknown_policy_keeps_nothing(policy: Any) -> None:
    files = {**lustre(), "DeletionPolicy": policy}
    assert change(template(Thing=files), template()).rows[0].effect is Effect.DATA_LOSS


def test_a_database_is_lost_only_if_its_snapshot_is_switched_off() -> None:
    database = {**resource("AWS::RDS::DBInstance", AllocatedStorage="20"), "DeletionPolicy": "Delete"}
    (found,) = change(template(Thing=database), template()).rows
    assert "up to 20 GiB" in found.why


def test_a_database_with_protection_stays_and_costs() -> None:
    database = resource("AWS::RDS::DBInstance", AllocatedStorage="20", DeletionProtection=True)
    (found,) = change(template(Thing={**database, "DeletionPolicy": "Delete"}), template()).rows
    assert (found.effect, "DeletionProtection" in found.why) == (Effect.NO_INTERRUPTION, True)


def test_the_log_of_a_function_is_not_data() -> None:
    function = resource("AWS::Lambda::Function", LoggingConfig={"LogGroup": {"Ref": "Log"}})
    found = change(template(Log=resource("AWS::Logs::LogGroup"), Function=function), template()).rows
    assert {item.effect for item in found} == {Effect.NO_INTERRUPTION}


def test_a_renamed_file_system_is_named_with_the_way_to_keep_it() -> None:
    found = change(template(Old=lustre()), template(New=lustre()))
    (lost,) = (item for item in found.rows if item.effect is Effect.DATA_LOSS)
    assert "if New is the same resource" in lost.avoid


@pytest.mark.parametrize("name", ["DeletionPolicy", "UpdateReplacePolicy"])
def test_a_policy_that_was_removed_is_named(name: str) -> None:
    weaker = {key: value for key, value in lustre(keep=True).items() if key != name}
    found = row(lustre(keep=True), weaker)
    assert (found.property, found.effect) == (name, Effect.NO_INTERRUPTION)
    assert "from then on" in found.why


def test_shorter_retention_deletes_events() -> None:
    never = resource("AWS::Logs::LogGroup")
    assert row(never, resource("AWS::Logs::LogGroup", RetentionInDays=30)).effect is Effect.DATA_LOSS
    one, other = (resource("AWS::Logs::LogGroup", RetentionInDays=days) for days in (90, 30))
    assert row(one, other).effect is Effect.DATA_LOSS
    assert row(other, one).effect is Effect.NO_INTERRUPTION


def test_metrics_that_stay_for_fewer_days_are_lost() -> None:
    default = resource("AWS::APS::Workspace")
    year, month = (resource("AWS::APS::Workspace", WorkspaceConfiguration={"RetentionPeriodInDays": days}) for days in (365, 30))
    assert row(default, year).effect is Effect.NO_INTERRUPTION
    assert row(year, default).effect is Effect.DATA_LOSS
    assert row(default, month).effect is Effect.DATA_LOSS


EXPIRATION: dict[str, Any] = {"Status": "Enabled", "Prefix": "logs/", "ExpirationInDays": 30}


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        (None, EXPIRATION, Effect.DATA_LOSS),
        (None, {**EXPIRATION, "Status": "Disabled"}, Effect.NO_INTERRUPTION),
        (None, {"Status": "Enabled", "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}}, Effect.NO_INTERRUPTION),
        ({**EXPIRATION, "Status": "Disabled"}, EXPIRATION, Effect.DATA_LOSS),
        (EXPIRATION, {**EXPIRATION, "ExpirationInDays": 7}, Effect.DATA_LOSS),
        (EXPIRATION, {**EXPIRATION, "ExpirationInDays": 90}, Effect.NO_INTERRUPTION),
        (EXPIRATION, {**EXPIRATION, "Prefix": ""}, Effect.DATA_LOSS),
        (EXPIRATION, {**EXPIRATION, "NoncurrentVersionExpiration": {"NoncurrentDays": 1}}, Effect.DATA_LOSS),
        (EXPIRATION, None, Effect.NO_INTERRUPTION),
    ],
)
def test_an_earlier_expiration_deletes_objects(old: Any, new: Any, effect: Effect) -> None:
    one, other = (
        resource(
            "AWS::S3::Bucket",
            keep=False,
            **({"LifecycleConfiguration": {"Rules": [rule]}} if rule else {"ObjectLockEnabled": False}),
        )
        for rule in (old, new)
    )
    found = {item.property: item.effect for item in rows(one, other)}
    assert found["LifecycleConfiguration"] is effect


ASSOCIATION: dict[str, Any] = {"FileSystemId": "fs-1", "FileSystemPath": "/data", "DataRepositoryPath": "s3://bucket/a"}


@pytest.mark.parametrize(
    ("changed", "effect"),
    [
        ({"BatchImportMetaDataOnCreate": True}, Effect.REFUSED),
        ({"DataRepositoryPath": "s3://bucket/b"}, Effect.REFUSED),
        ({"FileSystemPath": "/other"}, Effect.REFUSED),
        ({"FileSystemId": "fs-2"}, Effect.REPLACE),
        ({"S3": {}}, Effect.NO_INTERRUPTION),
    ],
)
def test_an_association(changed: dict[str, Any], effect: Effect) -> None:
    kind = "AWS::FSx::DataRepositoryAssociation"
    assert row(resource(kind, **ASSOCIATION), resource(kind, **{**ASSOCIATION, **changed})).effect is effect


def test_an_association_of_another_file_system_overlaps_nothing() -> None:
    kind = "AWS::FSx::DataRepositoryAssociation"
    moved = {**ASSOCIATION, "FileSystemId": "fs-2", "BatchImportMetaDataOnCreate": True}
    assert {found.effect for found in rows(resource(kind, **ASSOCIATION), resource(kind, **moved))} == {Effect.REPLACE}


def test_an_association_with_two_new_paths_is_created_again() -> None:
    kind = "AWS::FSx::DataRepositoryAssociation"
    moved = {**ASSOCIATION, "FileSystemPath": "/other", "DataRepositoryPath": "s3://bucket/b"}
    assert {found.effect for found in rows(resource(kind, **ASSOCIATION), resource(kind, **moved))} == {Effect.REPLACE}


@pytest.mark.parametrize(
    ("changed", "effect"),
    [
        ({"InstanceType": "ml.m5.2xlarge"}, Effect.ROLLING),
        ({"VolumeSizeInGB": 200}, Effect.ROLLING),
        ({"VolumeSizeInGB": 50}, Effect.REFUSED),
    ],
)
def test_a_notebook(changed: dict[str, Any], effect: Effect) -> None:
    before = {"InstanceType": "ml.m5.xlarge", "VolumeSizeInGB": 100}
    old, new = (template(Thing=resource("AWS::SageMaker::NotebookInstance", **one)) for one in (before, {**before, **changed}))
    (found,) = change(old, new).rows
    assert found.effect is effect
