"""Updates of FSx file systems and of their links to S3.

The resource schema names only some of what is fixed at creation. Where it is silent, the update types of the CloudFormation
resource specification count (Immutable: a change replaces the file system), and what UpdateFileSystem takes:
https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystemLustreConfiguration.html.
"""

from __future__ import annotations

from hyperpod_constructs.rules.effects.effect import Change, Effect, Row, grows, shrinks
from hyperpod_constructs.rules.template.values import ABSENT, as_bool, as_int, at

_CAPACITY_DOCS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-storage-capacity.html"
_THROUGHPUT_DOCS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-throughput-capacity.html"
_UPDATE_DOCS = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystemLustreConfiguration.html"
_SPECIFICATION = "the CloudFormation resource specification (UpdateType Immutable)"
_NEW_AND_EMPTY = "a new, empty file system is made"


def _efa(change: Change) -> bool:
    return as_bool(at(change.before.get("LustreConfiguration", ABSENT), "EfaEnabled")) is True


def _replaced(
    path: str, avoid: str = "keep the value; make a second file system and copy", why: str = _NEW_AND_EMPTY, source: str = ""
) -> Row:
    return Row(path=path, effect=Effect.REPLACE, why=why, avoid=avoid, source=source)


def _grown(change: Change) -> str:
    old, new = as_int(change.old), as_int(change.new)
    size = "" if old is None or new is None else f" by {new - old} GiB"
    return f"grows in place{size}; the next growth is possible after six hours, and this one can never be taken back"


_LUSTRE = (
    *(
        _replaced(f"LustreConfiguration/{name}", source=_SPECIFICATION)
        for name in ("DeploymentType", "DriveCacheType", "ExportPath", "ImportPath", "ImportedFileChunkSize")
    ),
    _replaced(
        "LustreConfiguration/CopyTagsToBackups",
        avoid="keep the value, and tag backups when they are made",
        why=f"whether backups get the tags is fixed at creation: {_NEW_AND_EMPTY}",
        source=_SPECIFICATION,
    ),
    _replaced(
        "LustreConfiguration/EfaEnabled",
        why=f"EFA is set at creation only: {_NEW_AND_EMPTY}",
        source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html",
    ),
    Row(
        path="LustreConfiguration/PerUnitStorageThroughput",
        effect=Effect.REFUSED,
        why="the throughput of a file system with EFA is fixed",
        when=_efa,
        avoid="keep the value; make a second file system with the other throughput",
        source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html",
    ),
    Row(
        path="LustreConfiguration/PerUnitStorageThroughput",
        effect=Effect.NO_INTERRUPTION,
        why="the file servers are exchanged in place: the file system does not answer for some minutes, during which clients wait; "
        "the capacity must be one of the new throughput too. older documentation of CloudFormation calls it a replacement",
        avoid="to be independent of CloudFormation's version: aws fsx update-file-system, then write the new value here",
        source=_THROUGHPUT_DOCS,
    ),
    Row(
        path="LustreConfiguration/MetadataConfiguration/Iops",
        effect=Effect.REFUSED,
        why="metadata performance can grow only",
        when=shrinks,
        avoid="keep the value",
        source=_UPDATE_DOCS,
    ),
    Row(
        path="LustreConfiguration/MetadataConfiguration",
        effect=Effect.NO_INTERRUPTION,
        why="metadata servers are added in place; the file system does not answer for some minutes",
        source=_UPDATE_DOCS,
    ),
    Row(
        path="LustreConfiguration/ThroughputCapacity",
        effect=Effect.REFUSED,
        why="the throughput of an Intelligent-Tiering file system can grow only",
        when=shrinks,
        avoid="keep the value",
        source=_UPDATE_DOCS,
    ),
    Row(path="LustreConfiguration/ThroughputCapacity", effect=Effect.NO_INTERRUPTION, why="grows in place", source=_UPDATE_DOCS),
    Row(
        path="LustreConfiguration/DataCompressionType",
        effect=Effect.NO_INTERRUPTION,
        why="counts for files that are written from then on; others stay as they are",
        source=_UPDATE_DOCS,
    ),
    Row(
        path="LustreConfiguration/AutomaticBackupRetentionDays",
        effect=Effect.NO_INTERRUPTION,
        why="automatic backups older than the new number of days are deleted",
        when=shrinks,
        avoid="copy the automatic backups that you need first: aws fsx copy-backup",
        source=_UPDATE_DOCS,
    ),
    *(
        Row(path=f"LustreConfiguration/{name}", effect=Effect.NO_INTERRUPTION, why=why, source=_UPDATE_DOCS)
        for name, why in (
            ("AutoImportPolicy", "decides what is imported from S3 from then on"),
            ("AutomaticBackupRetentionDays", "backups are kept so long from then on"),
            ("DailyAutomaticBackupStartTime", "the time of the next backups"),
            ("DataReadCacheConfiguration", "the read cache is changed in place"),
            ("LogConfiguration", "where events of data repositories are logged from then on"),
            ("WeeklyMaintenanceStartTime", "the time of the next maintenance"),
        )
    ),
)

FILE_SYSTEM: tuple[Row, ...] = (
    Row(path="StorageCapacity", effect=Effect.NO_INTERRUPTION, why=_grown, when=grows, source=_CAPACITY_DOCS),
    Row(
        path="StorageCapacity",
        effect=Effect.REFUSED,
        why="a file system can grow, never shrink",
        when=shrinks,
        avoid="keep the capacity; make a smaller file system beside it, copy, then remove this one",
        source=_CAPACITY_DOCS,
    ),
    Row(path="StorageCapacity", effect=Effect.NO_INTERRUPTION, why="grows in place, or is refused: the numbers are not known"),
    *(_replaced(name) for name in ("BackupId", "FileSystemType", "KmsKeyId")),
    _replaced("SubnetIds", avoid="keep the subnet: it is fixed with the file system"),
    _replaced(
        "SecurityGroupIds",
        avoid="keep the groups, and change their rules instead",
        why=f"the security groups of a file system are fixed: {_NEW_AND_EMPTY}",
    ),
    _replaced("StorageType", source=_SPECIFICATION),
    _replaced(
        "FileSystemTypeVersion",
        avoid="keep the value here: aws fsx update-file-system --file-system-type-version raises the version in place",
        source=_SPECIFICATION,
    ),
    Row(path="Tags", effect=Effect.NO_INTERRUPTION, why="tags change in place"),
    *_LUSTRE,
    *(
        _replaced(f"OpenZFSConfiguration/{name}", source=_SPECIFICATION)
        for name in ("DeploymentType", "EndpointIpAddressRange", "PreferredSubnetId", "RootVolumeConfiguration")
    ),
    Row(path="OpenZFSConfiguration", effect=Effect.NO_INTERRUPTION, why="is changed in place"),
    Row(path="LustreConfiguration", effect=Effect.NO_INTERRUPTION, why="is changed in place"),
)


def _overlaps(change: Change) -> bool:
    """The new association is made before the old one goes: on the same file system, one of the paths is still taken."""
    return "FileSystemId" in change.unchanged and bool({"FileSystemPath", "DataRepositoryPath"} & change.unchanged)


_ASSOCIATION_FIXED = tuple(
    row
    for name in ("BatchImportMetaDataOnCreate", "DataRepositoryPath", "FileSystemPath")
    for row in (
        Row(
            path=name,
            effect=Effect.REFUSED,
            why="it is fixed at creation, and the association that is to replace this one overlaps it while both exist "
            "(AWS documents the overlap rule; that the order makes it fail is inferred)",
            when=_overlaps,
            avoid="remove the association in one update and add the new one in the next; the files stay",
            source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html",
        ),
        Row(path=name, effect=Effect.REPLACE, why="the link is made anew; the files of both sides stay"),
    )
)

ASSOCIATION: tuple[Row, ...] = (
    *_ASSOCIATION_FIXED,
    Row(path="FileSystemId", effect=Effect.REPLACE, why="the link is made on the other file system; the files of both stay"),
    Row(path="ImportedFileChunkSize", effect=Effect.NO_INTERRUPTION, why="counts for files that are imported from then on"),
    Row(path="S3", effect=Effect.NO_INTERRUPTION, why="decides what is imported and exported from then on"),
    Row(path="Tags", effect=Effect.NO_INTERRUPTION, why="tags change in place"),
)
