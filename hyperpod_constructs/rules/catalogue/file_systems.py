"""Rules on the properties of one file system, which the schema of its resource does not have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hyperpod_constructs.rules import lustre
from hyperpod_constructs.rules.facts.clusters import given, hit
from hyperpod_constructs.rules.facts.file_systems import OPENZFS, TIERING, Lustre, file_systems_of, lustre_file_systems
from hyperpod_constructs.rules.facts.placement import named, node_groups
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import as_int, as_items, as_str

_API = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html"
_LUSTRE_API = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html"
_OPENZFS_API = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html"
_REFUSED = "CreateFileSystem refuses it, and the stack rolls back"
_OPENZFS_FIRST = (64, 128, 256, 512, 1024, 2048, 3072, 4096)
_OPENZFS_SECOND = (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)
_OPENZFS_TIERS = {
    "SINGLE_AZ_1": _OPENZFS_FIRST,
    "SINGLE_AZ_HA_1": _OPENZFS_FIRST,
    "SINGLE_AZ_2": _OPENZFS_SECOND,
    "SINGLE_AZ_HA_2": _OPENZFS_SECOND,
    "MULTI_AZ_1": _OPENZFS_SECOND,
}
_LEGACY_LINK = ("ImportPath", "ExportPath", "AutoImportPolicy", "ImportedFileChunkSize")


@rule(
    "HP-FSX-001",
    Level.ERROR,
    title="persistent Lustre file systems have a throughput that is offered",
    why=_REFUSED,
    fix="write PerUnitStorageThroughput, in MB/s per TiB: 125, 250, 500 or 1000 for PERSISTENT_2",
    allowed="PERSISTENT_2: 125, 250, 500, 1000; PERSISTENT_1: 50, 100, 200 (SSD) or 12, 40 (HDD)",
    source=_LUSTRE_API,
    silences=("HP-FSX-002",),
)
def throughput_is_offered(model: Model) -> Iterator[Hit]:
    """The figure is missing, or of another kind of file system."""
    for system in lustre_file_systems(model):
        deployment, storage = system.deployment, system.storage
        allowed = lustre.tiers(deployment, storage, system.region) if deployment and storage else ()
        path = system.path("PerUnitStorageThroughput")
        if allowed and system.has("PerUnitStorageThroughput") is False and system.from_backup is False:
            listed = ", ".join(map(str, allowed))
            message = f"a {deployment} file system has no PerUnitStorageThroughput"
            yield Hit(system.resource, path, message, allowed=listed, fix=f"write one of {listed}")
        elif allowed and system.throughput is not None:
            mistake = lustre.tier_mistake("PerUnitStorageThroughput", system.throughput, deployment or "", allowed)
            if mistake:
                yield hit(system.resource, path, mistake, system.throughput)


@rule(
    "HP-FSX-002",
    Level.ERROR,
    title="Lustre file systems have a capacity that is offered",
    why=_REFUSED,
    fix="write StorageCapacity in GiB: 1200, 2400, or more by 2400",
    allowed="1200 or a multiple of 2400; larger steps for EFA, HDD and SCRATCH_1",
    source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/getting-started.html#getting-started-step1",
)
def capacity_is_offered(model: Model) -> Iterator[Hit]:
    """The figure is missing, or between the steps."""
    for system in lustre_file_systems(model):
        if system.storage in (None, TIERING) or system.deployment is None or system.efa is None:
            continue
        capacity = system.resource.get("StorageCapacity")
        known, number = given(capacity), as_int(capacity)
        choices = lustre.capacities(system.deployment, system.storage or "", system.throughput, system.efa)
        if known is False and system.from_backup is False:
            yield Hit(system.resource, ("StorageCapacity",), "the file system has no StorageCapacity")
        elif choices is not None and number is not None:
            mistake = choices.mistake("StorageCapacity", number)
            if mistake:
                yield replace(hit(system.resource, ("StorageCapacity",), mistake, capacity), allowed=str(choices))


@rule(
    "HP-FSX-003",
    Level.ERROR,
    title="EFA is on file systems that can have it",
    why=_REFUSED,
    fix="set DeploymentType to PERSISTENT_2 and write MetadataConfiguration: {Mode: AUTOMATIC}, or leave EfaEnabled out",
    allowed="PERSISTENT_2 with a MetadataConfiguration",
    source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html",
    silences=("HP-FSX-002", "HP-FSX-004", "HP-FSX-005"),
)
def efa_is_possible(model: Model) -> Iterator[Hit]:
    """EFA on another deployment type, without metadata configuration, or in a region that lacks it."""
    for system in lustre_file_systems(model):
        if not system.efa:
            continue
        path = system.path("EfaEnabled")
        if system.deployment not in (None, "PERSISTENT_2"):
            yield Hit(system.resource, path, f"EfaEnabled on a {system.deployment} file system", found=True)
        elif system.has("MetadataConfiguration") is False:
            fix = None if system.storage != TIERING else "write MetadataConfiguration: {Mode: USER_PROVISIONED, Iops: 6000}"
            yield Hit(system.resource, path, "EfaEnabled without a MetadataConfiguration", found=True, fix=fix)
        elif system.region in lustre.REGIONS_WITHOUT_EFA:
            message = f"EfaEnabled in {system.region}, which has no file systems with EFA"
            yield Hit(system.resource, path, message, found=True, fix="leave EfaEnabled out, or take another region")


@rule(
    "HP-FSX-004",
    Level.ERROR,
    title="the metadata configuration of Lustre is one that is offered",
    why=_REFUSED,
    fix="write MetadataConfiguration: {Mode: AUTOMATIC}",
    allowed="Mode AUTOMATIC without Iops, or USER_PROVISIONED with 1500, 3000, 6000 or a multiple of 12000 up to 192000",
    source=_LUSTRE_API,
)
def metadata_is_offered(model: Model) -> Iterator[Hit]:
    """A figure that is not offered, or a configuration where there is none."""
    for system in lustre_file_systems(model):
        if not system.has("MetadataConfiguration"):
            continue
        path = system.path("MetadataConfiguration")
        mode, iops = as_str(system.get("MetadataConfiguration", "Mode")), as_int(system.get("MetadataConfiguration", "Iops"))
        tiering = system.storage == TIERING
        if system.deployment not in (None, "PERSISTENT_2"):
            fix = "leave it out, or take DeploymentType PERSISTENT_2"
            yield Hit(system.resource, path, f"MetadataConfiguration on a {system.deployment} file system", fix=fix)
        elif mode == "AUTOMATIC" and tiering:
            fix = "write Mode USER_PROVISIONED with 6000 or 12000 Iops"
            yield Hit(system.resource, (*path, "Mode"), "Mode AUTOMATIC with Intelligent-Tiering", found=mode, fix=fix)
        elif mode == "AUTOMATIC" and iops is not None:
            fix = "leave Iops out, or write Mode USER_PROVISIONED"
            yield Hit(system.resource, (*path, "Iops"), "Iops beside Mode AUTOMATIC", found=iops, fix=fix)
        elif iops is not None and system.storage is not None:
            mistake = lustre.metadata_mistake("Iops", iops, tiering=tiering)
            if mistake:
                yield hit(system.resource, (*path, "Iops"), mistake, iops)


@rule(
    "HP-FSX-005",
    Level.ERROR,
    title="scratch file systems have nothing that only persistent ones have",
    why=_REFUSED,
    fix="take DeploymentType PERSISTENT_2, or leave the property out",
    allowed="no throughput, backups or key on SCRATCH_1 and SCRATCH_2",
    source=_LUSTRE_API,
    silences=("HP-FSX-002", "HP-FSX-004", "HP-FSX-009"),
)
def scratch_is_plain(model: Model) -> Iterator[Hit]:
    """One hit for the first such property."""
    for system in lustre_file_systems(model):
        if not (system.deployment or "").startswith("SCRATCH"):
            continue
        days = as_int(system.get("AutomaticBackupRetentionDays")) or 0
        wrong = [
            *([("KmsKeyId",)] if given(system.resource.get("KmsKeyId")) else []),
            *([system.path("PerUnitStorageThroughput")] if system.has("PerUnitStorageThroughput") else []),
            *([system.path("AutomaticBackupRetentionDays")] if days > 0 else []),
        ]
        if wrong:
            message = (
                f"{wrong[0][-1]} on a {system.deployment} file system, which is what none or SCRATCH_* in DeploymentType makes"
            )
            yield Hit(system.resource, wrong[0], message, found=system.resource.get(*wrong[0]))


@rule(
    "HP-FSX-006",
    Level.ERROR,
    title="Intelligent-Tiering has its own figures",
    why=_REFUSED,
    fix="write ThroughputCapacity and DataReadCacheConfiguration, and neither StorageCapacity nor PerUnitStorageThroughput",
    allowed="PERSISTENT_2, ThroughputCapacity in multiples of 4000, a DataReadCacheConfiguration",
    source=_LUSTRE_API,
    silences=("HP-FSX-002", "HP-FSX-004"),
)
def tiering_is_complete(model: Model) -> Iterator[Hit]:
    """The first thing that is missing, wrong or too much."""
    for system in lustre_file_systems(model):
        if system.storage == TIERING:
            yield from list(_tiering(system))[:1]
        elif system.storage is not None:
            for name in ("ThroughputCapacity", "DataReadCacheConfiguration"):
                if system.has(name):
                    fix = "leave it out, or take StorageType INTELLIGENT_TIERING"
                    yield Hit(system.resource, system.path(name), f"{name} without Intelligent-Tiering", fix=fix)


def _tiering(system: Lustre) -> Iterator[Hit]:
    resource, deployment = system.resource, system.deployment
    if deployment not in (None, "PERSISTENT_2"):
        message = f"Intelligent-Tiering on a {deployment} file system"
        yield Hit(resource, system.path("DeploymentType"), message, found=deployment, fix="take DeploymentType PERSISTENT_2")
    if given(resource.get("StorageCapacity")):
        yield Hit(resource, ("StorageCapacity",), "StorageCapacity with Intelligent-Tiering", found=resource.get("StorageCapacity"))
    if system.has("PerUnitStorageThroughput"):
        yield Hit(resource, system.path("PerUnitStorageThroughput"), "PerUnitStorageThroughput with Intelligent-Tiering")
    for name in ("ThroughputCapacity", "DataReadCacheConfiguration"):
        if system.has(name) is False:
            yield Hit(resource, system.path(name), f"Intelligent-Tiering without {name}")
    throughput, path = as_int(system.get("ThroughputCapacity")), system.path("ThroughputCapacity")
    if throughput is None:
        return
    mistake = lustre.tiering_throughput_mistake("ThroughputCapacity", throughput)
    if mistake:
        yield hit(resource, path, mistake, throughput)
    yield from _cache(system, throughput)


def _cache(system: Lustre, throughput: int) -> Iterator[Hit]:
    mode = as_str(system.get("DataReadCacheConfiguration", "SizingMode"))
    size = as_int(system.get("DataReadCacheConfiguration", "SizeGiB"))
    path = system.path("DataReadCacheConfiguration", "SizeGiB")
    if mode == "USER_PROVISIONED" and system.has("DataReadCacheConfiguration", "SizeGiB") is False:
        yield Hit(system.resource, path, "SizingMode USER_PROVISIONED without SizeGiB", fix="write SizeGiB")
    elif mode in ("NO_CACHE", "PROPORTIONAL_TO_THROUGHPUT_CAPACITY") and size is not None:
        fix = "leave SizeGiB out, or write SizingMode USER_PROVISIONED"
        yield Hit(system.resource, path, f"SizeGiB beside SizingMode {mode}", found=size, fix=fix)
    elif mode == "USER_PROVISIONED" and size is not None:
        mistake = lustre.cache_mistake("SizeGiB", size, throughput)
        if mistake:
            yield hit(system.resource, path, mistake, size)


@rule(
    "HP-FSX-007",
    Level.ERROR,
    title="the version of Lustre has what is asked of it",
    why=_REFUSED,
    fix='write FileSystemTypeVersion: "2.15"',
    allowed="2.15, or 2.12 without MetadataConfiguration",
    source=_API,
)
def version_fits(model: Model) -> Iterator[Hit]:
    """2.10 with PERSISTENT_2, or an older one with metadata configuration."""
    for system in lustre_file_systems(model):
        version = as_str(system.resource.get("FileSystemTypeVersion"))
        lacks = None
        if version == "2.10" and system.deployment == "PERSISTENT_2":
            lacks = "PERSISTENT_2"
        elif version in ("2.10", "2.12") and system.deployment == "PERSISTENT_2" and system.has("MetadataConfiguration"):
            lacks = "MetadataConfiguration"
        if lacks:
            message = f"Lustre {version} has no {lacks}"
            yield Hit(system.resource, ("FileSystemTypeVersion",), message, found=version)


@rule(
    "HP-FSX-008",
    Level.ERROR,
    title="file systems are in as many subnets as their kind takes",
    why=_REFUSED,
    fix="name one subnet, that of the nodes",
    allowed="one subnet; two for MULTI_AZ_1 of OpenZFS",
    source=_API,
)
def subnets_are_as_many(model: Model) -> Iterator[Hit]:
    """A Lustre file system has one subnet; one of OpenZFS too, unless it is in several zones."""
    for system in lustre_file_systems(model):
        yield from _subnets(system.resource, 1, "a Lustre file system")
    for resource in file_systems_of(model, OPENZFS):
        deployment = as_str(resource.get("OpenZFSConfiguration", "DeploymentType"))
        if deployment in _OPENZFS_TIERS:
            yield from _subnets(resource, 2 if deployment.startswith("MULTI_AZ") else 1, f"a file system of type {deployment}")


def _subnets(resource: Resource, wanted: int, what: str) -> Iterator[Hit]:
    subnets = as_items(resource.get("SubnetIds"))
    if subnets and len(subnets) != wanted and all(given(subnet) for subnet in subnets):
        message = f"{what} takes {wanted} {'subnet' if wanted == 1 else 'subnets'}, found {len(subnets)}"
        fix = None if wanted == 1 else "name two subnets of different zones, and one of them in PreferredSubnetId"
        yield Hit(resource, ("SubnetIds",), message, found=subnets, fix=fix)


@rule(
    "HP-FSX-009",
    Level.WARNING,
    title="nodes keep their files on a persistent file system",
    why="a scratch file system loses the files of a server that fails, and checkpoints with them",
    fix="take DeploymentType PERSISTENT_2 with PerUnitStorageThroughput; both are fixed at creation",
    allowed="PERSISTENT_1 or PERSISTENT_2",
    source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html",
)
def nodes_use_persistent_storage(model: Model) -> Iterator[Hit]:
    """A file system that nodes mount is of a scratch type."""
    for system in lustre_file_systems(model):
        users = [group for group in node_groups(model) if system.resource in group.mounts]
        if users and (system.deployment or "").startswith("SCRATCH"):
            message = f"the nodes of {named(users)} keep their files on a {system.deployment} file system"
            yield Hit(system.resource, system.path("DeploymentType"), message, found=system.deployment)


@rule(
    "HP-FSX-010",
    Level.ERROR,
    title="hard disks are in a kind of file system that has them",
    why=_REFUSED,
    fix="take DeploymentType PERSISTENT_1 with DriveCacheType, or StorageType SSD",
    allowed="PERSISTENT_1 with DriveCacheType READ or NONE",
    source=_LUSTRE_API,
    silences=("HP-FSX-001", "HP-FSX-002"),
)
def disks_are_possible(model: Model) -> Iterator[Hit]:
    """HDD elsewhere than on PERSISTENT_1, or without a decision about the cache."""
    for system in lustre_file_systems(model):
        if system.storage != "HDD" or system.deployment is None:
            continue
        if system.deployment != "PERSISTENT_1":
            yield Hit(system.resource, ("StorageType",), f"StorageType HDD on a {system.deployment} file system", found="HDD")
        elif system.has("DriveCacheType") is False:
            fix = "write DriveCacheType: READ or NONE"
            yield Hit(system.resource, system.path("DriveCacheType"), "StorageType HDD without DriveCacheType", fix=fix)


@rule(
    "HP-FSX-011",
    Level.ERROR,
    title="links to S3 are associations where the file system takes no others",
    why=_REFUSED,
    fix="leave it out, and write an AWS::FSx::DataRepositoryAssociation",
    allowed="ImportPath and what belongs to it on SCRATCH_1, SCRATCH_2 and PERSISTENT_1",
    source=_LUSTRE_API,
)
def links_are_of_their_kind(model: Model) -> Iterator[Hit]:
    """ImportPath on PERSISTENT_2, or what belongs to it without it; one hit for the first."""
    for system in lustre_file_systems(model):
        given_names = [name for name in _LEGACY_LINK if system.has(name)]
        if not given_names:
            continue
        path = system.path(given_names[0])
        if system.deployment == "PERSISTENT_2":
            yield Hit(system.resource, path, f"{given_names[0]} on a PERSISTENT_2 file system", found=system.resource.get(*path))
        elif system.has("ImportPath") is False:
            message = f"{given_names[0]} without ImportPath"
            yield Hit(system.resource, path, message, found=system.resource.get(*path), fix="write ImportPath, or leave it out")


@rule(
    "HP-FSX-012",
    Level.ERROR,
    title="OpenZFS file systems have a throughput that is offered",
    why=_REFUSED,
    fix="write a ThroughputCapacity that the deployment type offers",
    allowed="*_1: 64 and doubled to 2048, 3072, 4096; *_2 and MULTI_AZ_1: 160 and doubled to 2560, 3840, 5120, 7680, 10240",
    source=_OPENZFS_API,
)
def openzfs_throughput_is_offered(model: Model) -> Iterator[Hit]:
    """A figure of another deployment type."""
    for resource in file_systems_of(model, OPENZFS):
        deployment = as_str(resource.get("OpenZFSConfiguration", "DeploymentType")) or ""
        path = ("OpenZFSConfiguration", "ThroughputCapacity")
        throughput, allowed = as_int(resource.get(*path)), _OPENZFS_TIERS.get(deployment)
        if throughput is not None and allowed is not None:
            mistake = lustre.tier_mistake("ThroughputCapacity", throughput, deployment, allowed)
            if mistake:
                yield hit(resource, path, mistake, throughput)
