"""What FSx refuses by looking at the request: capacity, throughput, metadata and version of Lustre, the basics of OpenZFS.

The rules are those of the API reference and of the user guide of FSx for Lustre; the messages are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.local.service import AwsError

PERSISTENT_1_HDD_STEPS = {12: 6000, 40: 1800}
EFA_STEPS = {125: 38400, 250: 19200, 500: 9600, 1000: 4800}
"""MB/s per TiB to the step of the capacity in GiB, with EFA."""

SSD_THROUGHPUTS = {"PERSISTENT_1": (50, 100, 200), "PERSISTENT_2": (125, 250, 500, 1000)}
OPENZFS_THROUGHPUTS = {
    1: (64, 128, 256, 512, 1024, 2048, 3072, 4096),
    2: (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240),
}
CACHE_GIB_PER_4000_MBPS = (32, 131072)
UPDATABLE = ("StorageCapacity", "StorageType", "FileSystemTypeVersion")

Request = Mapping[str, Any]


def refusal(message: str, code: str = "BadRequest") -> AwsError:
    """The error with which FSx answers a request that breaks a rule."""
    return AwsError(code, message)


def check_create(request: Request) -> None:
    """Refuse a CreateFileSystem request that breaks a rule. Raises AwsError."""
    kind = request["FileSystemType"]
    if kind == "LUSTRE":
        _check_lustre(request, request.get("LustreConfiguration", {}))
    elif kind == "OPENZFS":
        if "OpenZFSConfiguration" not in request:
            raise refusal("OPENZFS needs OpenZFSConfiguration", "MissingFileSystemConfiguration")
        _check_openzfs(request, request["OpenZFSConfiguration"])
    else:
        raise refusal(f"FileSystemType {kind}: the embedded AWS serves LUSTRE and OPENZFS; try {kind} on AWS")


def check_update(kind: str, current: Request, request: Request) -> None:
    """Refuse an UpdateFileSystem request; `current` has the members of the request that created it. Raises AwsError."""
    capacity, old = request.get("StorageCapacity"), current.get("StorageCapacity", 0)
    if capacity is not None and capacity <= old:
        raise refusal(f"StorageCapacity can only grow: it is {old} GiB, found {capacity} GiB")
    if kind == "LUSTRE":
        if capacity is not None and _deployment(current) == "SCRATCH_1":
            raise refusal("StorageCapacity of a SCRATCH_1 file system cannot be changed")
        version = request.get("FileSystemTypeVersion")
        if version is not None and _number(version) <= _number(current["FileSystemTypeVersion"]):
            raise refusal(f"FileSystemTypeVersion can only rise: it is {current['FileSystemTypeVersion']}, found {version}")
    member = {"LUSTRE": "LustreConfiguration", "OPENZFS": "OpenZFSConfiguration"}[kind]
    merged = {**current, **{key: request[key] for key in UPDATABLE if key in request}}
    merged[member] = {**current.get(member, {}), **request.get(member, {})}
    check_create(merged)


def default_version(configuration: Request) -> str:
    """The Lustre version of a file system whose request names none."""
    if configuration.get("DeploymentType") != "PERSISTENT_2":
        return "2.10"
    return "2.15" if "MetadataConfiguration" in configuration else "2.12"


def _deployment(request: Request) -> str:
    return str(request.get("LustreConfiguration", {}).get("DeploymentType", "SCRATCH_1"))


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _check_lustre(request: Request, lustre: Request) -> None:
    deployment, storage = _deployment(request), request.get("StorageType", "SSD")
    if len(request["SubnetIds"]) != 1:
        raise refusal(f"a Lustre file system needs exactly one subnet; found {len(request['SubnetIds'])}")
    allowed = {"HDD": "PERSISTENT_1", "INTELLIGENT_TIERING": "PERSISTENT_2"}.get(storage, deployment)
    if deployment != allowed:
        raise refusal(f"StorageType {storage} needs DeploymentType {allowed}; found {deployment}")
    _check_version(request.get("FileSystemTypeVersion", default_version(lustre)), deployment, lustre)
    if deployment.startswith("SCRATCH"):
        for member in ("KmsKeyId", "PerUnitStorageThroughput", "AutomaticBackupRetentionDays", "DailyAutomaticBackupStartTime"):
            if member in request or lustre.get(member):
                raise refusal(f"{member} needs a persistent DeploymentType; found {deployment}")
    _check_metadata(deployment, storage, lustre)
    if lustre.get("EfaEnabled") and (deployment != "PERSISTENT_2" or "MetadataConfiguration" not in lustre):
        raise refusal("EfaEnabled needs DeploymentType PERSISTENT_2 with MetadataConfiguration")
    if "ImportPath" not in lustre and any(
        member in lustre for member in ("ExportPath", "AutoImportPolicy", "ImportedFileChunkSize")
    ):
        raise refusal("ExportPath, AutoImportPolicy and ImportedFileChunkSize need an ImportPath")
    if storage == "INTELLIGENT_TIERING":
        _check_tiering(request, lustre)
    else:
        _check_capacity(request, lustre, deployment, storage)


def _check_version(version: str, deployment: str, lustre: Request) -> None:
    if version not in ("2.10", "2.12", "2.15"):
        raise refusal(f"FileSystemTypeVersion {version}: allowed are 2.10, 2.12 and 2.15")
    if version == "2.10" and deployment == "PERSISTENT_2":
        raise refusal("FileSystemTypeVersion 2.10 does not support PERSISTENT_2; use 2.15")
    if version != "2.15" and "MetadataConfiguration" in lustre:
        raise refusal(f"FileSystemTypeVersion {version} does not support MetadataConfiguration; use 2.15")


def _check_capacity(request: Request, lustre: Request, deployment: str, storage: str) -> None:
    for member in ("ThroughputCapacity", "DataReadCacheConfiguration"):
        if member in lustre:
            raise refusal(f"{member} needs StorageType INTELLIGENT_TIERING; found {storage}")
    throughput: int = lustre.get("PerUnitStorageThroughput", 0)
    if deployment.startswith("PERSISTENT"):
        allowed = tuple(PERSISTENT_1_HDD_STEPS) if storage == "HDD" else SSD_THROUGHPUTS[deployment]
        if throughput not in allowed:
            listed = ", ".join(str(value) for value in allowed)
            message = (
                f"PerUnitStorageThroughput {throughput} of a {deployment} {storage} file system: allowed are {listed} MB/s/TiB"
            )
            raise refusal(message, "InvalidPerUnitStorageThroughput")
    if storage == "HDD" and "DriveCacheType" not in lustre:
        raise refusal("StorageType HDD needs DriveCacheType")
    capacity = request.get("StorageCapacity", 0)
    first: tuple[int, ...] = ()
    if lustre.get("EfaEnabled"):
        step = EFA_STEPS[throughput]
    elif storage == "HDD":
        step = PERSISTENT_1_HDD_STEPS[throughput]
    else:
        first, step = (1200, 2400), 3600 if deployment == "SCRATCH_1" else 2400
    if capacity not in first and (capacity < step or capacity % step != 0):
        starts = f"{', '.join(str(value) for value in first)} and " if first else ""
        raise refusal(
            f"StorageCapacity {capacity} GiB of a {deployment} {storage} file system"
            f"{' with EFA' if lustre.get('EfaEnabled') else ''}"
            f" at {throughput} MB/s/TiB: allowed are {starts}multiples of {step}"
        )


def _check_tiering(request: Request, lustre: Request) -> None:
    if "StorageCapacity" in request or "PerUnitStorageThroughput" in lustre:
        raise refusal("StorageType INTELLIGENT_TIERING takes ThroughputCapacity, not StorageCapacity and PerUnitStorageThroughput")
    throughput = lustre.get("ThroughputCapacity", 0)
    if throughput < 4000 or throughput % 4000 != 0:
        raise refusal(f"ThroughputCapacity {throughput}: allowed are multiples of 4000 MB/s")
    cache = lustre.get("DataReadCacheConfiguration")
    if cache is None:
        raise refusal("StorageType INTELLIGENT_TIERING needs DataReadCacheConfiguration")
    smallest, largest = (limit * (throughput // 4000) for limit in CACHE_GIB_PER_4000_MBPS)
    provisioned = cache.get("SizingMode") == "USER_PROVISIONED"
    if provisioned != ("SizeGiB" in cache):
        raise refusal("DataReadCacheConfiguration needs SizeGiB with SizingMode USER_PROVISIONED, and only then")
    if provisioned and not smallest <= cache["SizeGiB"] <= largest:
        raise refusal(
            f"SizeGiB {cache['SizeGiB']} of DataReadCacheConfiguration: allowed are {smallest} to {largest} at {throughput} MB/s"
        )


def _check_metadata(deployment: str, storage: str, lustre: Request) -> None:
    metadata = lustre.get("MetadataConfiguration")
    if metadata is None:
        return
    if deployment != "PERSISTENT_2":
        raise refusal(f"MetadataConfiguration needs DeploymentType PERSISTENT_2; found {deployment}")
    iops, tiering = metadata.get("Iops"), storage == "INTELLIGENT_TIERING"
    if metadata.get("Mode") == "AUTOMATIC":
        if tiering or iops is not None:
            raise refusal("MetadataConfiguration Mode AUTOMATIC takes no Iops, and is for StorageType SSD only")
        return
    allowed = (6000, 12000) if tiering else (1500, 3000, 6000)
    stepped = not tiering and iops is not None and 12000 <= iops <= 192000 and iops % 12000 == 0
    if iops is not None and iops not in allowed and not stepped:
        listed = ", ".join(str(value) for value in allowed)
        raise refusal(
            f"Iops {iops} of MetadataConfiguration: allowed are {listed}{'' if tiering else ' and multiples of 12000 to 192000'}"
        )


def _check_openzfs(request: Request, openzfs: Request) -> None:
    deployment = openzfs["DeploymentType"]
    subnets = 2 if deployment.startswith("MULTI_AZ") else 1
    if len(request["SubnetIds"]) != subnets:
        raise refusal(f"{deployment} needs {subnets} subnets; found {len(request['SubnetIds'])}")
    if subnets == 2 and openzfs.get("PreferredSubnetId") not in request["SubnetIds"]:
        raise refusal("MULTI_AZ_1 needs PreferredSubnetId, one of SubnetIds")
    if request.get("StorageType", "SSD") == "SSD" and not 64 <= request.get("StorageCapacity", 0) <= 524288:
        raise refusal(f"StorageCapacity {request.get('StorageCapacity')} of an OPENZFS file system: allowed are 64 to 524288 GiB")
    allowed = OPENZFS_THROUGHPUTS[1 if deployment in ("SINGLE_AZ_1", "SINGLE_AZ_HA_1") else 2]
    if openzfs["ThroughputCapacity"] not in allowed:
        listed = ", ".join(str(value) for value in allowed)
        raise refusal(f"ThroughputCapacity {openzfs['ThroughputCapacity']} of {deployment}: allowed are {listed} MB/s")
