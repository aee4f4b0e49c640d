"""Requests that FSx accepts or refuses by themselves: the table of the service's rules."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.fsx.checks import check_create

TIERING: dict[str, Any] = {"ThroughputCapacity": 4000, "DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"}}
ONE, TWO = ["subnet-1"], ["subnet-1", "subnet-2"]


def lustre(deployment: str, capacity: int | None, throughput: int | None = None, **members: Any) -> dict[str, Any]:
    outer: dict[str, Any] = {}
    for key in ("StorageType", "SubnetIds", "FileSystemTypeVersion", "KmsKeyId"):
        if key in members:
            outer[key] = members.pop(key)
    configuration = {"DeploymentType": deployment, "PerUnitStorageThroughput": throughput, **members}
    request: dict[str, Any] = {"FileSystemType": "LUSTRE", "SubnetIds": ONE, "StorageCapacity": capacity, **outer}
    request["LustreConfiguration"] = {key: value for key, value in configuration.items() if value is not None}
    return {key: value for key, value in request.items() if value is not None}


def openzfs(capacity: int, deployment: str = "SINGLE_AZ_2", throughput: int = 160, **members: Any) -> dict[str, Any]:
    inner = ("PreferredSubnetId", "DiskIopsConfiguration", "RootVolumeConfiguration")
    given = {name: members.pop(name) for name in inner if name in members}
    configuration = {"DeploymentType": deployment, "ThroughputCapacity": throughput, **given}
    request = {"FileSystemType": "OPENZFS", "SubnetIds": ONE, "StorageCapacity": capacity, "OpenZFSConfiguration": configuration}
    return request | members


def automatic(**members: Any) -> dict[str, Any]:
    return {"MetadataConfiguration": {"Mode": "AUTOMATIC", **members}}


def provisioned(iops: int) -> dict[str, Any]:
    return {"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": iops}}


def cache(mode: str, **members: Any) -> dict[str, Any]:
    return {"ThroughputCapacity": 8000, "DataReadCacheConfiguration": {"SizingMode": mode, **members}}


def efa(capacity: int, throughput: int) -> dict[str, Any]:
    return lustre("PERSISTENT_2", capacity, throughput, EfaEnabled=True, **automatic())


def tiered(**members: Any) -> dict[str, Any]:
    return lustre("PERSISTENT_2", None, StorageType="INTELLIGENT_TIERING", **(TIERING | members))


ACCEPTED: list[dict[str, Any]] = [
    lustre("SCRATCH_1", 3600),
    lustre("SCRATCH_2", 4800),
    lustre("PERSISTENT_1", 2400, 50),
    lustre("PERSISTENT_1", 6000, 12, StorageType="HDD", DriveCacheType="NONE"),
    lustre("PERSISTENT_1", 1800, 40, StorageType="HDD", DriveCacheType="READ"),
    lustre("PERSISTENT_2", 1200, 1000),
    lustre("PERSISTENT_2", 1200, 125, **automatic()),
    lustre("PERSISTENT_2", 1200, 125, **provisioned(24000)),
    *(efa(step, throughput) for throughput, step in ((125, 38400), (250, 19200), (500, 9600), (1000, 4800))),
    tiered(),
    tiered(**cache("USER_PROVISIONED", SizeGiB=64), **provisioned(6000)),
    openzfs(64),
    openzfs(64, "MULTI_AZ_1", SubnetIds=TWO, PreferredSubnetId="subnet-2"),
    openzfs(64, DiskIopsConfiguration={"Mode": "USER_PROVISIONED", "Iops": 192}, RootVolumeConfiguration={"RecordSizeKiB": 4}),
]

QUOTA = {"Type": "USER", "Id": 1001, "StorageCapacityQuotaGiB": 10}

REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("multiples of 3600", lustre("SCRATCH_1", 4800)),
    ("allowed are 1200 and multiples of 2400", lustre("SCRATCH_2", 3600)),
    ("allowed are 1200 and multiples of 2400", lustre("PERSISTENT_2", None, 125)),
    ("allowed are multiples of 6000", lustre("PERSISTENT_1", 1800, 12, StorageType="HDD", DriveCacheType="NONE")),
    ("with EFA at 250 MB/s/TiB: allowed are multiples of 19200", efa(1200, 250)),
    ("InvalidPerUnitStorageThroughput: .* allowed are 125, 250, 500, 1000", lustre("PERSISTENT_2", 1200, 50)),
    ("InvalidPerUnitStorageThroughput: .* allowed are 50, 100, 200", lustre("PERSISTENT_1", 1200)),
    ("PerUnitStorageThroughput needs a persistent", lustre("SCRATCH_2", 1200, 125)),
    ("KmsKeyId needs a persistent", lustre("SCRATCH_2", 1200, KmsKeyId="k")),
    ("exactly one subnet; found 2", lustre("SCRATCH_2", 1200, SubnetIds=TWO)),
    ("StorageType HDD needs DeploymentType PERSISTENT_1", lustre("PERSISTENT_2", 6000, 12, StorageType="HDD")),
    ("StorageType HDD needs DriveCacheType", lustre("PERSISTENT_1", 6000, 12, StorageType="HDD")),
    ("EfaEnabled needs DeploymentType PERSISTENT_2 with", lustre("PERSISTENT_2", 38400, 125, EfaEnabled=True)),
    (
        "MetadataConfiguration needs DeploymentType PERSISTENT_2",
        lustre("SCRATCH_2", 1200, FileSystemTypeVersion="2.15", **automatic()),
    ),
    ("AUTOMATIC takes no Iops", lustre("PERSISTENT_2", 1200, 125, **automatic(Iops=1500))),
    ("Iops 9000 .* allowed are 1500, 3000, 6000, 12000, 24000", lustre("PERSISTENT_2", 1200, 125, **provisioned(9000))),
    ("Iops 204000", lustre("PERSISTENT_2", 1200, 125, **provisioned(204000))),
    ("2.10 does not support PERSISTENT_2", lustre("PERSISTENT_2", 1200, 125, FileSystemTypeVersion="2.10")),
    ("2.12 does not support MetadataConfiguration", lustre("PERSISTENT_2", 1200, 125, FileSystemTypeVersion="2.12", **automatic())),
    ("FileSystemTypeVersion 2.14: allowed", lustre("PERSISTENT_2", 1200, 125, FileSystemTypeVersion="2.14")),
    ("need an ImportPath", lustre("SCRATCH_2", 1200, ExportPath="s3://a")),
    ("ThroughputCapacity needs StorageType INTELLIGENT_TIERING", lustre("PERSISTENT_2", 1200, 125, ThroughputCapacity=4000)),
    ("StorageType INTELLIGENT_TIERING needs DeploymentType", lustre("SCRATCH_2", None, StorageType="INTELLIGENT_TIERING")),
    ("not StorageCapacity", lustre("PERSISTENT_2", 1200, StorageType="INTELLIGENT_TIERING", **TIERING)),
    ("allowed are multiples of 4000", tiered(ThroughputCapacity=6000)),
    ("needs DataReadCacheConfiguration", tiered(DataReadCacheConfiguration=None)),
    ("needs SizeGiB with SizingMode USER_PROVISIONED", tiered(**cache("USER_PROVISIONED"))),
    ("SizeGiB 63 .* allowed are 64 to 262144", tiered(**cache("USER_PROVISIONED", SizeGiB=63))),
    ("AUTOMATIC takes no Iops, and is for StorageType SSD only", tiered(**automatic())),
    ("Iops 1500 .* allowed are 6000, 12000", tiered(**provisioned(1500))),
    ("MissingFileSystemConfiguration", {"FileSystemType": "OPENZFS", "SubnetIds": ONE}),
    ("allowed are 64 to 524288 GiB", openzfs(32)),
    ("ThroughputCapacity 64 of SINGLE_AZ_2", openzfs(64, throughput=64)),
    ("SINGLE_AZ_2 needs 1 subnets; found 2", openzfs(64, SubnetIds=TWO)),
    ("MULTI_AZ_1 needs PreferredSubnetId", openzfs(64, "MULTI_AZ_1", SubnetIds=TWO)),
    ("Iops 191 .* at least 192", openzfs(64, DiskIopsConfiguration={"Mode": "USER_PROVISIONED", "Iops": 191})),
    ("RecordSizeKiB 100: allowed are 4, 8", openzfs(64, RootVolumeConfiguration={"RecordSizeKiB": 100})),
    ("two quotas of USER 1001", openzfs(64, RootVolumeConfiguration={"UserAndGroupQuotas": [QUOTA, QUOTA]})),
    ("serves LUSTRE and OPENZFS", {"FileSystemType": "WINDOWS", "SubnetIds": ONE}),
]


def refusal(request: dict[str, Any]) -> str | None:
    try:
        check_create(request)
    except AwsError as error:
        return error.message
    return None


@pytest.mark.parametrize("request_", ACCEPTED)
def test_accepted(request_: dict[str, Any]) -> None:
    assert refusal(request_) is None


@pytest.mark.parametrize(("message", "request_"), REFUSED)
def test_fails(message: str, request_: dict[str, Any]) -> None:
    with pytest.raises(AwsError, match=message):
        check_create(request_)
