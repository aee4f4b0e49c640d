"""The properties of one file system."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.rules.finding import Level
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.raw import raw_template
from tests.rules.catalogue.templates import Template, findings, properties, rules_of, slurm

ABSENT: Any = object()
GROUP = "arn:aws:logs:us-west-2:111122223333:log-group:/aws/fsx/x:*"
P2 = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250, "MetadataConfiguration": {"Mode": "AUTOMATIC"}}
TIERED = {
    "StorageType": "INTELLIGENT_TIERING",
    "StorageCapacity": ABSENT,
    "LustreConfiguration": {
        "DeploymentType": "PERSISTENT_2",
        "ThroughputCapacity": 8000,
        "DataReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED", "SizeGiB": 64},
        "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
    },
}


def with_lustre(**changes: Any) -> Template:
    """The file system with other properties, and without its association."""
    template = slurm()
    del template["Resources"]["Link"]
    _change(properties(template, "FileSystem"), changes)
    return template


def _change(target: Template, changes: Template) -> None:
    for name, value in deepcopy(changes).items():
        if value is ABSENT or type(value) is object:
            target.pop(name, None)
        else:
            target[name] = value


def lustre(**changes: Any) -> Template:
    """A template whose file system has another Lustre configuration than the default of PERSISTENT_2."""
    configuration = deepcopy(P2)
    _change(configuration, changes)
    return with_lustre(LustreConfiguration=configuration)


def tiered(**changes: Any) -> Template:
    """A template with an Intelligent-Tiering file system."""
    template = with_lustre(**TIERED)
    properties(template, "FileSystem").pop("StorageCapacity", None)
    _change(properties(template, "FileSystem")["LustreConfiguration"], changes)
    return template


def logged(**group: Any) -> Template:
    """A template whose file system logs to a log group of the template."""
    template = lustre(LogConfiguration={"Level": "WARN_ERROR", "Destination": {"Fn::GetAtt": ["Logs", "Arn"]}})
    template["Resources"]["Logs"] = {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": 30, **group}}
    return template


def openzfs(**configuration: Any) -> Template:
    """A template whose nodes mount an OpenZFS file system too."""
    template = slurm()
    template["Resources"]["Home"] = {
        "Type": "AWS::FSx::FileSystem",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": {
            "FileSystemType": "OPENZFS",
            "StorageCapacity": 64,
            "SubnetIds": [{"Ref": "NodeSubnet"}],
            "SecurityGroupIds": [{"Fn::GetAtt": ["NodeGroup", "GroupId"]}],
            "OpenZFSConfiguration": {"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 160, **configuration},
        },
    }
    return template


def zfs_tiered(deployment: str) -> Template:
    """An OpenZFS file system with Intelligent-Tiering."""
    template = openzfs(DeploymentType=deployment)
    template["Resources"]["Home"]["Properties"] |= {"StorageType": "INTELLIGENT_TIERING"}
    return template


CORRECT = {
    "with Intelligent-Tiering": tiered(),
    "with EFA": with_lustre(StorageCapacity=19200, LustreConfiguration={**P2, "EfaEnabled": True}),
    "with provisioned metadata": lustre(MetadataConfiguration={"Mode": "USER_PROVISIONED", "Iops": 24000}),
    "on hard disks": with_lustre(
        StorageType="HDD",
        StorageCapacity=12000,
        FileSystemTypeVersion="2.12",
        LustreConfiguration={"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 12, "DriveCacheType": "READ"},
    ),
    "from a backup": with_lustre(
        BackupId="backup-0123456789abcdef0", StorageCapacity=ABSENT, LustreConfiguration={"DeploymentType": "PERSISTENT_2"}
    ),
    "that nobody can know": with_lustre(
        StorageCapacity={"Ref": "AWS::StackName"}, LustreConfiguration={**P2, "PerUnitStorageThroughput": {"Ref": "AWS::StackName"}}
    ),
    "of numbers as strings": with_lustre(
        StorageCapacity="4800", LustreConfiguration={**P2, "PerUnitStorageThroughput": "125", "EfaEnabled": "false"}
    ),
    "of OpenZFS": openzfs(),
    "of OpenZFS with figures": openzfs(
        DiskIopsConfiguration={"Mode": "USER_PROVISIONED", "Iops": 192}, RootVolumeConfiguration={"RecordSizeKiB": 1024}
    ),
}


@pytest.mark.parametrize("name", CORRECT)
def test_a_correct_file_system(name: str) -> None:
    assert rules_of(CORRECT[name]) == []


CASES: list[tuple[str, Template, str]] = [
    ("HP-FSX-001", lustre(PerUnitStorageThroughput=ABSENT), "has no PerUnitStorageThroughput"),
    ("HP-FSX-001", lustre(PerUnitStorageThroughput=200), "PerUnitStorageThroughput 200 is not a tier of PERSISTENT_2"),
    ("HP-FSX-002", with_lustre(StorageCapacity=1500), "StorageCapacity 1500 is not 1200 or a multiple of 2400"),
    ("HP-FSX-002", with_lustre(StorageCapacity=ABSENT), "has no StorageCapacity"),
    ("HP-FSX-002", with_lustre(LustreConfiguration={**P2, "EfaEnabled": True}), "a multiple of 19200 with EFA at 250 MB/s/TiB"),
    ("HP-FSX-003", lustre(EfaEnabled=True, MetadataConfiguration=ABSENT), "EfaEnabled without a MetadataConfiguration"),
    (
        "HP-FSX-003",
        with_lustre(LustreConfiguration={"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 200, "EfaEnabled": True}),
        "EfaEnabled on a PERSISTENT_1 file system",
    ),
    ("HP-FSX-004", lustre(MetadataConfiguration={"Mode": "AUTOMATIC", "Iops": 6000}), "Iops beside Mode AUTOMATIC"),
    ("HP-FSX-004", lustre(MetadataConfiguration={"Mode": "USER_PROVISIONED", "Iops": 2000}), "Iops 2000 is not 1500, 3000"),
    ("HP-FSX-004", lustre(DeploymentType="PERSISTENT_1", PerUnitStorageThroughput=100), "MetadataConfiguration on a PERSISTENT_1"),
    ("HP-FSX-004", tiered(MetadataConfiguration={"Mode": "AUTOMATIC"}), "Mode AUTOMATIC with Intelligent-Tiering"),
    ("HP-FSX-004", tiered(MetadataConfiguration={"Mode": "USER_PROVISIONED", "Iops": 24000}), "Iops 24000 is not 6000 or 12000"),
    ("HP-FSX-005", lustre(DeploymentType=ABSENT), "PerUnitStorageThroughput on a SCRATCH_1 file system"),
    (
        "HP-FSX-005",
        with_lustre(LustreConfiguration={"DeploymentType": "SCRATCH_2", "AutomaticBackupRetentionDays": 7}),
        "AutomaticBackupRetentionDays on a SCRATCH_2",
    ),
    (
        "HP-FSX-005",
        with_lustre(KmsKeyId="alias/mine", LustreConfiguration={"DeploymentType": "SCRATCH_2"}),
        "KmsKeyId on a SCRATCH_2",
    ),
    ("HP-FSX-006", with_lustre(StorageType="INTELLIGENT_TIERING"), "StorageCapacity with Intelligent-Tiering"),
    ("HP-FSX-006", tiered(PerUnitStorageThroughput=250), "PerUnitStorageThroughput with Intelligent-Tiering"),
    ("HP-FSX-006", tiered(DataReadCacheConfiguration=ABSENT), "without DataReadCacheConfiguration"),
    ("HP-FSX-006", tiered(ThroughputCapacity=ABSENT), "without ThroughputCapacity"),
    ("HP-FSX-006", tiered(ThroughputCapacity=6000), "ThroughputCapacity 6000 is not a multiple of 4000 MB/s"),
    ("HP-FSX-006", tiered(DataReadCacheConfiguration={"SizingMode": "USER_PROVISIONED", "SizeGiB": 32}), "SizeGiB 32 is not 64 to"),
    ("HP-FSX-006", tiered(DataReadCacheConfiguration={"SizingMode": "USER_PROVISIONED"}), "USER_PROVISIONED without SizeGiB"),
    (
        "HP-FSX-006",
        tiered(DataReadCacheConfiguration={"SizingMode": "NO_CACHE", "SizeGiB": 64}),
        "SizeGiB beside SizingMode NO_CACHE",
    ),
    ("HP-FSX-006", lustre(ThroughputCapacity=4000), "ThroughputCapacity without Intelligent-Tiering"),
    (
        "HP-FSX-006",
        tiered(DeploymentType="PERSISTENT_1", MetadataConfiguration=ABSENT),
        "Intelligent-Tiering on a PERSISTENT_1 file system",
    ),
    ("HP-FSX-007", with_lustre(FileSystemTypeVersion="2.10"), "Lustre 2.10 has no PERSISTENT_2"),
    ("HP-FSX-007", with_lustre(FileSystemTypeVersion=2.12), "Lustre 2.12 has no MetadataConfiguration"),
    ("HP-FSX-008", with_lustre(SubnetIds=[{"Ref": "NodeSubnet"}, {"Ref": "PublicSubnet"}]), "takes 1 subnet, found 2"),
    ("HP-FSX-008", openzfs(DeploymentType="MULTI_AZ_1", PreferredSubnetId={"Ref": "NodeSubnet"}), "takes 2 subnets, found 1"),
    (
        "HP-FSX-010",
        with_lustre(StorageType="HDD", StorageCapacity=6000),
        "StorageType HDD on a PERSISTENT_2 file system",
    ),
    (
        "HP-FSX-010",
        with_lustre(
            StorageType="HDD",
            StorageCapacity=6000,
            LustreConfiguration={"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 12},
        ),
        "StorageType HDD without DriveCacheType",
    ),
    ("HP-FSX-011", lustre(ImportPath="s3://bucket/prefix"), "ImportPath on a PERSISTENT_2 file system"),
    (
        "HP-FSX-011",
        with_lustre(
            LustreConfiguration={"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 50, "ExportPath": "s3://a/b"}
        ),
        "ExportPath without ImportPath",
    ),
    ("HP-FSX-012", openzfs(ThroughputCapacity=64), "ThroughputCapacity 64 is not a tier of SINGLE_AZ_HA_2"),
    (
        "HP-FSX-015",
        openzfs(DiskIopsConfiguration={"Mode": "USER_PROVISIONED", "Iops": 191}),
        "Iops 191 is less than the 192 that come with 64 GiB",
    ),
    ("HP-FSX-015", zfs_tiered("SINGLE_AZ_HA_2"), "DeploymentType SINGLE_AZ_HA_2 has no storage of the type INTELLIGENT_TIERING"),
    ("HP-FSX-015", openzfs(RootVolumeConfiguration={"RecordSizeKiB": 100}), "RecordSizeKiB 100 is not one of 4, 8, 16, 32, 64"),
    ("HP-SCH-007", lustre(WeeklyMaintenanceStartTime="0:05:00"), "WeeklyMaintenanceStartTime is '0:05:00'; allowed: a day of the"),
    ("HP-SCH-007", lustre(DailyAutomaticBackupStartTime="5:00"), "DailyAutomaticBackupStartTime is '5:00'; allowed: a time of day"),
    (
        "HP-SCH-007",
        lustre(AutomaticBackupRetentionDays=91),
        "AutomaticBackupRetentionDays is 91; the nearest is 90; allowed: 0 to 90",
    ),
    ("HP-SCH-007", lustre(DataCompressionType="ZSTD"), "DataCompressionType is 'ZSTD'; allowed: NONE, LZ4"),
    ("HP-SCH-007", lustre(LogConfiguration={"Level": "INFO"}), "Level is 'INFO'; allowed: DISABLED, WARN_ONLY, ERROR_ONLY, WARN_"),
    (
        "HP-SCH-007",
        lustre(LogConfiguration={"Level": "DISABLED", "Destination": GROUP}),
        "Destination is not taken here (logs that",
    ),
    (
        "HP-TXT-012",
        lustre(LogConfiguration={"Level": "WARN_ERROR", "Destination": GROUP.replace("/aws/fsx", "/mine")}),
        "logs go to 'arn:aws:logs",
    ),
    ("HP-TXT-012", logged(LogGroupName="/mine"), "begins with /aws/fsx: in Logs, LogGroupName is '/mine'"),
    ("HP-TXT-012", logged(), "begins with /aws/fsx: in Logs, LogGroupName is missing"),
]


@pytest.mark.parametrize(("rule", "template", "message"), CASES, ids=[f"{case[0]}: {case[2]}" for case in CASES])
def test_a_file_system_that_is_refused(rule: str, template: Template, message: str) -> None:
    (finding,) = findings(template)

    assert (finding.rule, finding.level) == (rule, Level.ERROR)
    assert message in finding.described()
    assert finding.path.startswith("Properties/")
    assert finding.fix


@pytest.mark.parametrize(
    "template",
    [
        logged(LogGroupName="/aws/fsx/x"),
        logged(LogGroupName={"Ref": "AWS::StackName"}),
        lustre(LogConfiguration={"Level": "DISABLED"}),
        lustre(LogConfiguration={"Level": "WARN_ONLY", "Destination": GROUP}),
        lustre(WeeklyMaintenanceStartTime="7:23:59", DailyAutomaticBackupStartTime="00:00", AutomaticBackupRetentionDays=90),
    ],
)
def test_logs_and_times_that_the_api_takes(template: Template) -> None:
    assert rules_of(template) == []


def test_scratch_is_for_scratch() -> None:
    (finding,) = findings(with_lustre(LustreConfiguration={"DeploymentType": "SCRATCH_2"}))

    assert (finding.rule, finding.level) == ("HP-FSX-009", Level.WARNING)
    assert "controller, login, workers" in finding.message


def test_scratch_that_no_node_mounts_is_fine() -> None:
    template = with_lustre(LustreConfiguration={"DeploymentType": "SCRATCH_2"})
    for group in properties(template, "Cluster")["InstanceGroups"]:
        group["InstanceStorageConfigs"] = group["InstanceStorageConfigs"][:1]

    assert rules_of(template) == []


def _in_region(template: Template, region: str) -> list[str]:
    document = Document(name="t", body=raw_template(template), environment=Environment(region=region))
    found = [finding for finding in check(Model([document])) if finding.rule.startswith("HP-FSX")]
    return [f"{finding.rule}: {finding.message}" for finding in found]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (
            lustre(PerUnitStorageThroughput=500),
            "HP-FSX-001: PerUnitStorageThroughput 500 is not a tier of PERSISTENT_2 (125, 250); the nearest is 250",
        ),
        (
            with_lustre(StorageCapacity=19200, LustreConfiguration={**P2, "EfaEnabled": True}),
            "HP-FSX-003: EfaEnabled in il-central-1, which has no file systems with EFA",
        ),
    ],
)
def test_regions_with_fewer_figures(template: Template, expected: str) -> None:
    for name in ("NodeSubnet", "PublicSubnet"):
        properties(template, name).pop("AvailabilityZone")

    assert _in_region(template, "il-central-1") == [expected]
    assert _in_region(template, "us-west-2") == []


def test_efa_with_intelligent_tiering_takes_a_metadata_configuration_of_its_own() -> None:
    configuration = {key: value for key, value in TIERED["LustreConfiguration"].items() if key != "MetadataConfiguration"}

    (found,) = findings(with_lustre(**{**TIERED, "LustreConfiguration": {**configuration, "EfaEnabled": True}}))

    assert (found.rule, found.level) == ("HP-FSX-003", Level.ERROR)
    assert found.allowed == "MetadataConfiguration: {Mode: USER_PROVISIONED, Iops: 6000}"
