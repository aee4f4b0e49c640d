"""Properties of one file system, beyond the schema of its resource."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.clusters import given, labels
from hyperpod_constructs.analysis.file_systems import OPENZFS, TIERING, Lustre, file_systems_of, lustre_file_systems
from hyperpod_constructs.analysis.placement import FILE_SYSTEM, users_of_file_systems
from hyperpod_constructs.facts import lustre, openzfs
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_int, as_items, as_str

_API = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html"
_LUSTRE_API = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html"
_OPENZFS_API = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html"
_REFUSED = "CreateFileSystem refuses it, and the stack rolls back"
_LUSTRE = "LustreConfiguration"
_THROUGHPUT = (_LUSTRE, "PerUnitStorageThroughput")
_OPENZFS_TIERS = grouped((figures, name) for name, figures in openzfs.THROUGHPUTS.items())
_OPENZFS_THROUGHPUT = ("OpenZFSConfiguration", "ThroughputCapacity")
_OPENZFS_IOPS = ("OpenZFSConfiguration", "DiskIopsConfiguration", "Iops")
_OPENZFS_RECORD = ("OpenZFSConfiguration", "RootVolumeConfiguration", "RecordSizeKiB")


def _tiers(deployment: str, storage: str = "SSD") -> str:
    return ", ".join(map(str, lustre.tiers(deployment, storage)))


_lustre_error = partial(error, on=lustre_file_systems, why=_REFUSED, source=_LUSTRE_API)


@_lustre_error(
    "HP-FSX-001",
    title="persistent Lustre file systems have a supported throughput",
    fix=lustre.TAKE_TIER,
    allowed=f"MB/s per TiB: {_tiers('PERSISTENT_2')} for PERSISTENT_2; {_tiers('PERSISTENT_1')} (SSD) or "
    f"{_tiers('PERSISTENT_1', 'HDD')} (HDD) for PERSISTENT_1",
    silences=("HP-FSX-002",),
)
def throughput_is_supported(system: Lustre) -> Hit | None:
    deployment, storage = system.deployment, system.storage
    allowed = lustre.tiers(deployment, storage, system.region) if deployment and storage else ()
    listed = ", ".join(map(str, allowed))
    if allowed and system.has("PerUnitStorageThroughput") is False and system.from_backup is False:
        return hit(system, f"a {deployment} file system has no PerUnitStorageThroughput", *_THROUGHPUT, allowed=listed)
    if not allowed or system.throughput is None:
        return None
    mistake = lustre.tier_mistake("PerUnitStorageThroughput", system.throughput, deployment or "", allowed)
    return None if mistake is None else hit(system, mistake, *_THROUGHPUT, allowed=listed)


@_lustre_error(
    "HP-FSX-002",
    title="Lustre file systems have a supported capacity",
    fix=lustre.TAKE_CAPACITY,
    allowed=f"StorageCapacity in GiB: {lustre.capacities('PERSISTENT_2', 'SSD', None, False)}; "
    "larger steps for EFA, HDD and SCRATCH_1",
    source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/getting-started.html#getting-started-step1",
)
def capacity_is_supported(system: Lustre) -> Hit | None:
    if system.storage in (None, TIERING) or system.deployment is None or system.efa is None:
        return None
    capacity = system.resource.get("StorageCapacity")
    if given(capacity) is False and system.from_backup is False:
        return hit(system, "the file system has no StorageCapacity", "StorageCapacity")
    number = as_int(capacity)
    choices = lustre.capacities(system.deployment, system.storage or "", system.throughput, system.efa)
    mistake = None if choices is None or number is None else choices.mistake("StorageCapacity", number)
    return None if mistake is None else hit(system, mistake, "StorageCapacity", allowed=str(choices))


@_lustre_error(
    "HP-FSX-003",
    title="EFA is on file systems that support it",
    fix="take DeploymentType PERSISTENT_2 with a MetadataConfiguration, in a region with EFA for FSx; or leave EfaEnabled out",
    allowed="PERSISTENT_2 with MetadataConfiguration: {Mode: AUTOMATIC}",
    source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html",
    silences=("HP-FSX-002", "HP-FSX-004", "HP-FSX-005"),
)
def efa_is_possible(system: Lustre) -> Hit | None:
    path = (_LUSTRE, "EfaEnabled")
    if not system.efa:
        return None
    if system.deployment not in (None, "PERSISTENT_2"):
        return hit(system, f"EfaEnabled on a {system.deployment} file system", *path)
    if system.has("MetadataConfiguration") is False:
        allowed = (
            f"MetadataConfiguration: {{Mode: USER_PROVISIONED, Iops: {lustre.metadata_figures(tiering=True)[0]}}}"
            if system.storage == TIERING
            else None
        )
        return hit(system, "EfaEnabled without a MetadataConfiguration", *path, allowed=allowed)
    lacking = system.region in lustre.REGIONS_WITHOUT_EFA
    return hit(system, f"EfaEnabled in {system.region}, which has no file systems with EFA", *path) if lacking else None


@_lustre_error(
    "HP-FSX-004",
    title="Lustre file systems have a supported metadata configuration",
    fix=lustre.TAKE_METADATA,
    allowed=f"Mode AUTOMATIC without Iops, or USER_PROVISIONED with {lustre.metadata_in_words(tiering=False)}",
)
def metadata_is_supported(system: Lustre) -> Hit | None:
    if not system.has("MetadataConfiguration"):
        return None
    path, tiering = (_LUSTRE, "MetadataConfiguration"), system.storage == TIERING
    mode, iops = as_str(system.get("MetadataConfiguration", "Mode")), as_int(system.get("MetadataConfiguration", "Iops"))
    if system.deployment not in (None, "PERSISTENT_2"):
        return hit(system, f"MetadataConfiguration on a {system.deployment} file system", *path)
    if mode == "AUTOMATIC" and tiering:
        text = f"Mode AUTOMATIC with Intelligent-Tiering, which takes {lustre.metadata_in_words(tiering=True)} Iops"
        return hit(system, text, *path, "Mode")
    if mode == "AUTOMATIC" and iops is not None:
        return hit(system, "Iops beside Mode AUTOMATIC", *path, "Iops")
    if iops is None or system.storage is None:
        return None
    mistake = lustre.metadata_mistake("Iops", iops, tiering=tiering)
    return None if mistake is None else hit(system, mistake, *path, "Iops")


@_lustre_error(
    "HP-FSX-005",
    title="scratch file systems have no property of persistent ones",
    fix="take DeploymentType PERSISTENT_2, or leave the property out",
    allowed="no throughput, backups or key on SCRATCH_1 and SCRATCH_2",
    silences=("HP-FSX-002", "HP-FSX-004", "HP-FSX-009"),
)
def scratch_is_plain(system: Lustre) -> Hit | None:
    """One hit, for the first such property."""
    backups = (as_int(system.get("AutomaticBackupRetentionDays")) or 0) > 0
    wrong = [
        *([("KmsKeyId",)] if given(system.resource.get("KmsKeyId")) else []),
        *([_THROUGHPUT] if system.has("PerUnitStorageThroughput") else []),
        *([(_LUSTRE, "AutomaticBackupRetentionDays")] if backups else []),
    ]
    if not wrong or not (system.deployment or "").startswith("SCRATCH"):
        return None
    text = f"{wrong[0][-1]} on a {system.deployment} file system, the type by DeploymentType SCRATCH_* or without one"
    return hit(system, text, *wrong[0])


@_lustre_error(
    "HP-FSX-006",
    title="Intelligent-Tiering has its own figures",
    fix=lustre.TAKE_TIERING,
    allowed=f"ThroughputCapacity in multiples of {lustre.TIERING_STEP}, "
    "a DataReadCacheConfiguration with SizeGiB for USER_PROVISIONED only",
    silences=("HP-FSX-002", "HP-FSX-004"),
)
def tiering_is_complete(system: Lustre) -> Hit | Iterator[Hit] | None:
    """With Intelligent-Tiering one hit, for the first missing, wrong or superfluous property."""
    if system.storage == TIERING:
        return next(_tiering(system), None)
    named = () if system.storage is None else ("ThroughputCapacity", "DataReadCacheConfiguration")
    return (hit(system, f"{name} without Intelligent-Tiering", _LUSTRE, name) for name in named if system.has(name))


def _tiering(system: Lustre) -> Iterator[Hit]:
    if system.deployment not in (None, "PERSISTENT_2"):
        yield hit(system, f"Intelligent-Tiering on a {system.deployment} file system", _LUSTRE, "DeploymentType")
    if given(system.resource.get("StorageCapacity")):
        doubts = [(system.resource, ("StorageType",))]
        yield hit(system, "StorageCapacity with Intelligent-Tiering", "StorageCapacity", doubts=doubts)
    if system.has("PerUnitStorageThroughput"):
        yield hit(system, "PerUnitStorageThroughput with Intelligent-Tiering", *_THROUGHPUT)
    for name in ("ThroughputCapacity", "DataReadCacheConfiguration"):
        if system.has(name) is False:
            yield hit(system, f"Intelligent-Tiering without {name}", _LUSTRE, name)
    throughput = as_int(system.get("ThroughputCapacity"))
    if throughput is None:
        return
    mistake = lustre.tiering_throughput_mistake("ThroughputCapacity", throughput)
    if mistake is not None:
        yield hit(system, mistake, _LUSTRE, "ThroughputCapacity")
    wrong = _cache_mistake(system, throughput)
    if wrong is not None:
        yield hit(system, wrong, _LUSTRE, "DataReadCacheConfiguration", "SizeGiB")


def _cache_mistake(system: Lustre, throughput: int) -> Mistake | str | None:
    mode = as_str(system.get("DataReadCacheConfiguration", "SizingMode"))
    size = as_int(system.get("DataReadCacheConfiguration", "SizeGiB"))
    if mode == "USER_PROVISIONED":
        if system.has("DataReadCacheConfiguration", "SizeGiB") is False:
            return "SizingMode USER_PROVISIONED without SizeGiB"
        return None if size is None else lustre.cache_mistake("SizeGiB", size, throughput)
    superfluous = size is not None and mode in ("NO_CACHE", "PROPORTIONAL_TO_THROUGHPUT_CAPACITY")
    return f"SizeGiB beside SizingMode {mode}" if superfluous else None


@_lustre_error(
    "HP-FSX-007",
    at=("FileSystemTypeVersion",),
    title="the version of Lustre supports the other properties",
    fix=f'write FileSystemTypeVersion: "{lustre.VERSIONS[2]}"',
    allowed=f"{lustre.VERSIONS[2]}, or {lustre.VERSIONS[1]} without MetadataConfiguration",
    source=_API,
)
def version_fits(system: Lustre) -> str | None:
    version = as_str(system.resource.get("FileSystemTypeVersion"))
    if version is None or system.deployment is None:
        return None
    lacks = lustre.version_lacks(version, system.deployment, metadata=bool(system.has("MetadataConfiguration")))
    return f"Lustre {version} has no {lacks}" if lacks else None


@error(
    "HP-FSX-008",
    on=FILE_SYSTEM,
    at=("SubnetIds",),
    title="file systems are in as many subnets as their kind takes",
    why=_REFUSED,
    fix="name one subnet, the nodes' own; for MULTI_AZ_1 name two of different zones, and one of them in PreferredSubnetId",
    allowed="one subnet; two for MULTI_AZ_1 of OpenZFS",
    source=_API,
)
def subnets_are_as_many(file_system: Resource) -> str | None:
    kind, subnets = as_str(file_system.get("FileSystemType")), as_items(file_system.get("SubnetIds"))
    deployment = as_str(file_system.get("OpenZFSConfiguration", "DeploymentType"))
    if kind != "LUSTRE" and (kind != OPENZFS or deployment not in openzfs.THROUGHPUTS):
        return None
    wanted = openzfs.subnets(deployment) if kind == OPENZFS and deployment is not None else 1
    if not subnets or len(subnets) == wanted or not all(given(subnet) for subnet in subnets):
        return None
    what = "a Lustre file system" if kind == "LUSTRE" else f"a file system of type {deployment}"
    return f"{what} takes {wanted} {'subnet' if wanted == 1 else 'subnets'}, found {len(subnets)}"


@warning(
    "HP-FSX-009",
    on=lustre_file_systems,
    at=(_LUSTRE, "DeploymentType"),
    title="nodes keep their files on a persistent file system",
    why="a scratch file system loses the files of a server that fails, and checkpoints with them",
    fix="take DeploymentType PERSISTENT_2 with PerUnitStorageThroughput; both are fixed at creation",
    allowed="PERSISTENT_1 or PERSISTENT_2",
    source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html",
)
def nodes_use_persistent_storage(system: Lustre) -> str | None:
    if not (system.deployment or "").startswith("SCRATCH"):
        return None
    users = users_of_file_systems(system.resource.template.model).get(system.resource)
    return f"the nodes of {labels(users)} keep their files on a {system.deployment} file system" if users else None


@_lustre_error(
    "HP-FSX-010",
    title="hard disks are in a kind of file system that supports them",
    fix="take DeploymentType PERSISTENT_1 with DriveCacheType READ or NONE, or StorageType SSD",
    allowed="PERSISTENT_1 with DriveCacheType READ or NONE",
    silences=("HP-FSX-001", "HP-FSX-002"),
)
def disks_are_possible(system: Lustre) -> Hit | None:
    if system.storage != "HDD" or system.deployment is None:
        return None
    if system.deployment != "PERSISTENT_1":
        return hit(system, f"StorageType HDD on a {system.deployment} file system", "StorageType")
    lacking = system.has("DriveCacheType") is False
    return hit(system, "StorageType HDD without DriveCacheType", _LUSTRE, "DriveCacheType") if lacking else None


@_lustre_error(
    "HP-FSX-011",
    title="links to S3 are associations where the file system takes no others",
    fix="leave it out, and write an AWS::FSx::DataRepositoryAssociation; or before PERSISTENT_2 write it with ImportPath",
    allowed="ImportPath and its companions on SCRATCH_1, SCRATCH_2 and PERSISTENT_1",
)
def links_are_of_their_kind(system: Lustre) -> Hit | None:
    """One hit, for the first property of the old kind of link."""
    named = [name for name in ("ImportPath", "ExportPath", "AutoImportPolicy", "ImportedFileChunkSize") if system.has(name)]
    if named and system.deployment == "PERSISTENT_2":
        return hit(system, f"{named[0]} on a PERSISTENT_2 file system", _LUSTRE, named[0])
    alone = named and system.has("ImportPath") is False
    return hit(system, f"{named[0]} without ImportPath", _LUSTRE, named[0]) if alone else None


_openzfs_error = partial(error, on=lambda model: file_systems_of(model, OPENZFS), why=_REFUSED, source=_OPENZFS_API)


@_openzfs_error(
    "HP-FSX-012",
    at=_OPENZFS_THROUGHPUT,
    title="OpenZFS file systems have a supported throughput",
    fix=lustre.TAKE_TIER,
    allowed="; ".join(f"{', '.join(names)}: {', '.join(map(str, figures))}" for figures, names in _OPENZFS_TIERS.items()),
)
def openzfs_throughput_is_supported(file_system: Resource) -> Mistake | None:
    deployment = as_str(file_system.get("OpenZFSConfiguration", "DeploymentType")) or ""
    throughput = as_int(file_system.get(*_OPENZFS_THROUGHPUT))
    return None if throughput is None else openzfs.throughput_mistake("ThroughputCapacity", throughput, deployment)


@_openzfs_error(
    "HP-FSX-015",
    title="OpenZFS file systems have supported disks and records",
    fix=openzfs.TAKE_FIGURES,
    allowed=f"{openzfs.IOPS_PER_GIB} Iops or more for each GiB; records of {', '.join(map(str, openzfs.RECORD_SIZES_KIB))} KiB",
)
def openzfs_figures_are_supported(file_system: Resource) -> Iterator[Hit]:
    capacity, iops = as_int(file_system.get("StorageCapacity")), as_int(file_system.get(*_OPENZFS_IOPS))
    few = None if capacity is None or iops is None else openzfs.iops_mistake("Iops", iops, capacity)
    if few is not None:
        yield hit(file_system, few, *_OPENZFS_IOPS)
    record = as_int(file_system.get(*_OPENZFS_RECORD))
    odd = None if record is None else openzfs.record_size_mistake("RecordSizeKiB", record)
    if odd is not None:
        yield hit(file_system, odd, *_OPENZFS_RECORD)
    deployment = as_str(file_system.get("OpenZFSConfiguration", "DeploymentType"))
    if deployment is not None and as_str(file_system.get("StorageType")) == TIERING:
        alone = openzfs.tiering_mistake("DeploymentType", deployment)
        if alone is not None:
            yield hit(file_system, alone, "StorageType", allowed="SSD, or INTELLIGENT_TIERING with MULTI_AZ_1")
