"""What FSx refuses by looking at the request: capacity, throughput, metadata and version of Lustre, the basics of OpenZFS.

The figures are those of `facts`; the messages are ours, because AWS does not publish its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hyperpod_constructs.facts import lustre, openzfs, root_squash, updates
from hyperpod_constructs.local.aws_service import AwsError

UPDATABLE = ("StorageCapacity", "StorageType", "FileSystemTypeVersion")

Request = Mapping[str, Any]
TYPE = "AWS::FSx::FileSystem"


def refusal(message: str, code: str = "BadRequest") -> AwsError:
    """The error with which FSx answers a request that breaks a rule."""
    return AwsError(code, message)


def check_create(request: Request) -> None:
    """Refuse a CreateFileSystem request that breaks a rule.

    :raises AwsError: with the cause of the refusal.
    """
    for member in ("OntapConfiguration", "WindowsConfiguration"):
        if member in request:
            raise refusal(f"{member}: the embedded AWS does not serve it; try it on AWS")
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
    """Refuse an UpdateFileSystem request; `current` has the members of the request that created it.

    :raises AwsError: with the cause of the refusal.
    """
    for path in sorted(updates.growing(TYPE)):
        _check_growth(current, request, path)
    if kind == "LUSTRE":
        _check_lustre_update(current, request)
    else:
        _check_openzfs_growth(current, request)
    member = {"LUSTRE": "LustreConfiguration", "OPENZFS": "OpenZFSConfiguration"}[kind]
    merged = {**current, **{key: request[key] for key in UPDATABLE if key in request}}
    merged[member] = configured(current.get(member, {}), request.get(member, {}))
    check_create(merged)


def configured(current: Request, change: Request) -> dict[str, Any]:
    """A configuration after an update of it."""
    added, removed = change.get("AddRouteTableIds", ()), change.get("RemoveRouteTableIds", ())
    answer = {**current, **{key: value for key, value in change.items() if not key.endswith("RouteTableIds")}}
    if added or removed:
        answer["RouteTableIds"] = [*(table for table in current.get("RouteTableIds", ()) if table not in removed), *added]
    return answer


def described(change: Request) -> dict[str, Any]:
    """A change of a configuration with the members only that descriptions have too."""
    return {key: value for key, value in change.items() if key != "AutoImportPolicy" and not key.endswith("RouteTableIds")}


def _check_growth(current: Request, request: Request, path: str) -> None:
    old, new = _at(current, path), _at(request, path)
    if new is not None and old is not None and new <= old:
        raise refusal(f"{path.rpartition('/')[2]} can only grow: it is {old}, found {new}")


def _check_openzfs_growth(current: Request, request: Request) -> None:
    old, new = current.get("StorageCapacity"), request.get("StorageCapacity")
    if old is not None and new is not None and not openzfs.grows_enough(old, new):
        raise refusal(f"StorageCapacity grows by {openzfs.SMALLEST_GROWTH_PERCENT} percent or more: it is {old}, found {new}")


def _check_lustre_update(current: Request, request: Request) -> None:
    if request.get("StorageCapacity") is not None and _deployment(current) == "SCRATCH_1":
        raise refusal("StorageCapacity of a SCRATCH_1 file system cannot be changed")
    version = request.get("FileSystemTypeVersion")
    if version is not None and _number(version) <= _number(current["FileSystemTypeVersion"]):
        raise refusal(f"FileSystemTypeVersion can only rise: it is {current['FileSystemTypeVersion']}, found {version}")
    path = "LustreConfiguration/PerUnitStorageThroughput"
    condition, old, new = updates.fixed_with(TYPE, path), _at(current, path), _at(request, path)
    if condition is not None and new not in (None, old) and _at(current, condition[0]) == condition[1]:
        raise refusal(f"PerUnitStorageThroughput of a file system with EFA cannot be changed: it is {old}, found {new}")


def _at(request: Request, path: str) -> Any:
    value: Any = request
    for part in path.split("/"):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def default_version(configuration: Request) -> str:
    """The Lustre version of a request without one."""
    deployment = configuration.get("DeploymentType", "SCRATCH_1")
    return lustre.default_version(deployment, metadata="MetadataConfiguration" in configuration)


def _deployment(request: Request) -> str:
    return str(request.get("LustreConfiguration", {}).get("DeploymentType", "SCRATCH_1"))


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _check_lustre(request: Request, given: Request) -> None:
    deployment, storage = _deployment(request), request.get("StorageType", "SSD")
    if len(request["SubnetIds"]) != 1:
        raise refusal(f"a Lustre file system needs exactly one subnet; found {len(request['SubnetIds'])}")
    allowed = {"HDD": "PERSISTENT_1", "INTELLIGENT_TIERING": "PERSISTENT_2"}.get(storage, deployment)
    if deployment != allowed:
        raise refusal(f"StorageType {storage} needs DeploymentType {allowed}; found {deployment}")
    _check_version(request.get("FileSystemTypeVersion", default_version(given)), deployment, given)
    if deployment.startswith("SCRATCH"):
        for member in ("KmsKeyId", "PerUnitStorageThroughput", "AutomaticBackupRetentionDays", "DailyAutomaticBackupStartTime"):
            if member in request or given.get(member):
                raise refusal(f"{member} needs a persistent DeploymentType; found {deployment}")
    _check_metadata(deployment, storage, given)
    if given.get("EfaEnabled") and (deployment != "PERSISTENT_2" or "MetadataConfiguration" not in given):
        raise refusal("EfaEnabled needs DeploymentType PERSISTENT_2 with MetadataConfiguration")
    if "ImportPath" not in given and any(member in given for member in ("ExportPath", "AutoImportPolicy", "ImportedFileChunkSize")):
        raise refusal("ExportPath, AutoImportPolicy and ImportedFileChunkSize need an ImportPath")
    _check_logs(given.get("LogConfiguration", {}))
    _check_squash(given.get("RootSquashConfiguration", {}))
    if storage == "INTELLIGENT_TIERING":
        _check_tiering(request, given)
    else:
        _check_capacity(request, given, deployment, storage)


def _check_logs(given: Request) -> None:
    if given.get("Level") == lustre.NO_LOGS and "Destination" in given:
        raise refusal(str(lustre.destination_without_logs("Destination")))


def _check_squash(given: Request) -> None:
    mistake = root_squash.ids_mistake("RootSquash", given["RootSquash"]) if "RootSquash" in given else None
    if mistake is not None:
        raise refusal(str(mistake))


def _check_version(version: str, deployment: str, given: Request) -> None:
    if version not in lustre.VERSIONS:
        raise refusal(f"FileSystemTypeVersion {version}: allowed are {_listed(lustre.VERSIONS)}")
    lacks = lustre.version_lacks(version, deployment, metadata="MetadataConfiguration" in given)
    if lacks is not None:
        raise refusal(f"FileSystemTypeVersion {version} does not support {lacks}; use {lustre.VERSIONS[-1]}")


def _check_capacity(request: Request, given: Request, deployment: str, storage: str) -> None:
    for member in ("ThroughputCapacity", "DataReadCacheConfiguration"):
        if member in given:
            raise refusal(f"{member} needs StorageType INTELLIGENT_TIERING; found {storage}")
    throughput: int = given.get("PerUnitStorageThroughput", 0)
    tiers = lustre.tiers(deployment, storage)
    if tiers and throughput not in tiers:
        message = (
            f"PerUnitStorageThroughput {throughput} of a {deployment} {storage} file system: allowed are {_listed(tiers)} MB/s/TiB"
        )
        raise refusal(message, "InvalidPerUnitStorageThroughput")
    if storage == "HDD" and "DriveCacheType" not in given:
        raise refusal("StorageType HDD needs DriveCacheType")
    capacity, efa = request.get("StorageCapacity", 0), bool(given.get("EfaEnabled"))
    allowed = lustre.capacities(deployment, storage, throughput, efa)
    if allowed is not None and not allowed.hold(capacity):
        starts = f"{_listed(allowed.first)} and " if allowed.first else ""
        raise refusal(
            f"StorageCapacity {capacity} GiB of a {deployment} {storage} file system{' with EFA' if efa else ''}"
            f" at {throughput} MB/s/TiB: allowed are {starts}multiples of {allowed.step}"
        )


def _check_tiering(request: Request, given: Request) -> None:
    if "StorageCapacity" in request or "PerUnitStorageThroughput" in given:
        raise refusal("StorageType INTELLIGENT_TIERING takes ThroughputCapacity, not StorageCapacity and PerUnitStorageThroughput")
    throughput = given.get("ThroughputCapacity", 0)
    if lustre.tiering_throughput_mistake("ThroughputCapacity", throughput) is not None:
        most = lustre.MEMBERS["ThroughputCapacity"].most
        raise refusal(f"ThroughputCapacity {throughput}: allowed are multiples of {lustre.TIERING_STEP} MB/s up to {most}")
    cache = given.get("DataReadCacheConfiguration")
    if cache is None:
        raise refusal("StorageType INTELLIGENT_TIERING needs DataReadCacheConfiguration")
    smallest, largest = lustre.cache_limits(throughput)
    provisioned = cache.get("SizingMode") == "USER_PROVISIONED"
    if provisioned != ("SizeGiB" in cache):
        raise refusal("DataReadCacheConfiguration needs SizeGiB with SizingMode USER_PROVISIONED, and only then")
    if provisioned and not smallest <= cache["SizeGiB"] <= largest:
        raise refusal(
            f"SizeGiB {cache['SizeGiB']} of DataReadCacheConfiguration: allowed are {smallest} to {largest} at {throughput} MB/s"
        )


def _check_metadata(deployment: str, storage: str, given: Request) -> None:
    metadata = given.get("MetadataConfiguration")
    if metadata is None:
        return
    if deployment != "PERSISTENT_2":
        raise refusal(f"MetadataConfiguration needs DeploymentType PERSISTENT_2; found {deployment}")
    iops, tiering = metadata.get("Iops"), storage == "INTELLIGENT_TIERING"
    if metadata.get("Mode") == "AUTOMATIC":
        if tiering or iops is not None:
            raise refusal("MetadataConfiguration Mode AUTOMATIC takes no Iops, and is for StorageType SSD only")
        return
    figures = lustre.metadata_figures(tiering=tiering)
    if iops is not None and iops not in figures:
        raise refusal(f"Iops {iops} of MetadataConfiguration: allowed are {_listed(figures)}")


def _check_openzfs(request: Request, given: Request) -> None:
    deployment = given["DeploymentType"]
    subnets = openzfs.subnets(deployment)
    if len(request["SubnetIds"]) != subnets:
        raise refusal(f"{deployment} needs {subnets} subnets; found {len(request['SubnetIds'])}")
    if subnets == 2 and given.get("PreferredSubnetId") not in request["SubnetIds"]:
        raise refusal("MULTI_AZ_1 needs PreferredSubnetId, one of SubnetIds")
    smallest, largest = openzfs.CAPACITY_GIB
    if request.get("StorageType", "SSD") == "SSD" and not smallest <= request.get("StorageCapacity", 0) <= largest:
        found = request.get("StorageCapacity")
        raise refusal(f"StorageCapacity {found} of an OPENZFS file system: allowed are {smallest} to {largest} GiB")
    allowed = openzfs.THROUGHPUTS[deployment]
    if given["ThroughputCapacity"] not in allowed:
        raise refusal(f"ThroughputCapacity {given['ThroughputCapacity']} of {deployment}: allowed are {_listed(allowed)} MB/s")
    least, iops = openzfs.IOPS_PER_GIB * request.get("StorageCapacity", 0), given.get("DiskIopsConfiguration", {}).get("Iops")
    if iops is not None and iops < least:
        raise refusal(f"Iops {iops} of DiskIopsConfiguration: at least {least} come with the capacity")
    check_volume(given.get("RootVolumeConfiguration", {}))


def check_volume(given: Request) -> None:
    """Refuse a configuration of an OpenZFS volume that breaks a rule.

    :raises AwsError: with the cause of the refusal.
    """
    size = given.get("RecordSizeKiB")
    if size is not None and size not in openzfs.RECORD_SIZES_KIB:
        raise refusal(f"RecordSizeKiB {size}: allowed are {_listed(openzfs.RECORD_SIZES_KIB)}")
    quotas = [(quota["Type"], quota["Id"]) for quota in given.get("UserAndGroupQuotas", ())]
    twice = next((quota for quota in quotas if quotas.count(quota) > 1), None)
    if twice is not None:
        raise refusal(f"UserAndGroupQuotas has two quotas of {twice[0]} {twice[1]}")


def _listed(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))
