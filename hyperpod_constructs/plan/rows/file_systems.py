"""Updates of FSx file systems and of their links to S3.

The resource schema lists only some of the fixed properties. For the others, the update types of the CloudFormation resource
specification count (Immutable: a change replaces the file system), and the members of UpdateFileSystem.

Sources: https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystemLustreConfiguration.html and
https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystemOpenZFSConfiguration.html
"""

from __future__ import annotations

from functools import partial

from hyperpod_constructs.facts import openzfs, updates
from hyperpod_constructs.plan.change import Change, fixed_by_another, grows, shrinks
from hyperpod_constructs.plan.row import Row, in_place, refused, replaced, rolling
from hyperpod_constructs.templates.values import as_int

_EFA_DOCS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html"
_CAPACITY_DOCS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-storage-capacity.html"
_THROUGHPUT_DOCS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-throughput-capacity.html"
_UPDATE_DOCS = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystemLustreConfiguration.html"
_OPENZFS_DOCS = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystemOpenZFSConfiguration.html"
_SPECIFICATION = "the CloudFormation resource specification (UpdateType Immutable)"
_NEW_AND_EMPTY = "a new, empty file system is created"

_replaced = partial(replaced, why=_NEW_AND_EMPTY, avoid="keep the value; create a second file system and copy the files")
_changed = partial(in_place, source=_UPDATE_DOCS)


def _shrinks_for_good(change: Change) -> bool:
    return shrinks(change) and "/".join(change.path) in updates.growing(change.type)


_only_grows = partial(refused, when=_shrinks_for_good, avoid="keep the value", source=_UPDATE_DOCS)


def _grows_too_little(change: Change) -> bool:
    old, new = as_int(change.old), as_int(change.new)
    is_openzfs = change.after.get("FileSystemType") == "OPENZFS"
    return is_openzfs and old is not None and new is not None and old < new and not openzfs.grows_enough(old, new)


def _grown(change: Change) -> str:
    old, new = as_int(change.old), as_int(change.new)
    size = "" if old is None or new is None else f" by {new - old} GiB"
    return f"grows in place{size}; it cannot shrink again, and the next growth is possible after six hours"


_LUSTRE = (
    _replaced(
        "LustreConfiguration/CopyTagsToBackups",
        avoid="keep the value, and tag each backup when you create it",
        why=f"the copying of tags to backups is fixed at creation: {_NEW_AND_EMPTY}",
        source=_SPECIFICATION,
    ),
    _replaced(
        "LustreConfiguration/EfaEnabled",
        why=f"EFA is set at creation only: {_NEW_AND_EMPTY}",
        source=_EFA_DOCS,
    ),
    refused(
        "LustreConfiguration/PerUnitStorageThroughput",
        "the throughput of a file system with EFA is fixed",
        when=fixed_by_another,
        avoid="keep the value; create a second file system with the other throughput",
        source=_EFA_DOCS,
    ),
    rolling(
        "LustreConfiguration/PerUnitStorageThroughput",
        (
            "the file servers change in place: the file system does not answer for up to an hour, and clients wait; the capacity "
            "must also fit the new throughput. older CloudFormation documentation calls it a replacement"
        ),
        avoid="to be independent of CloudFormation's version: aws fsx update-file-system, then write the new value here",
        source=_THROUGHPUT_DOCS,
    ),
    _only_grows("LustreConfiguration/MetadataConfiguration/Iops", "metadata performance can only grow"),
    _only_grows("LustreConfiguration/ThroughputCapacity", "the throughput of an Intelligent-Tiering file system can only grow"),
    _changed(
        "LustreConfiguration/AutomaticBackupRetentionDays",
        "automatic backups older than the new number of days are deleted",
        when=shrinks,
        avoid="first copy the automatic backups that you need: aws fsx copy-backup",
    ),
    *(
        _changed(f"LustreConfiguration/{name}", why)
        for name, why in (
            ("AutoImportPolicy", "applies to later imports from S3"),
            ("AutomaticBackupRetentionDays", "sets how long backups are kept"),
            ("DailyAutomaticBackupStartTime", "applies to the next backups"),
            ("DataCompressionType", "applies to new files; existing files stay as they are"),
            ("DataReadCacheConfiguration", "the read cache changes in place"),
            ("LogConfiguration", "applies to later events of data repositories"),
            ("MetadataConfiguration", "metadata servers are added in place; the file system does not answer for some minutes"),
            ("ThroughputCapacity", "grows in place"),
            ("WeeklyMaintenanceStartTime", "applies to the next maintenance"),
        )
    ),
)

_OPENZFS = (
    in_place(
        "OpenZFSConfiguration/AutomaticBackupRetentionDays",
        "automatic backups older than the new number of days are deleted",
        when=shrinks,
        avoid="first copy the automatic backups that you need: aws fsx copy-backup",
        source=_OPENZFS_DOCS,
    ),
    _replaced(
        "OpenZFSConfiguration/RootVolumeConfiguration",
        avoid="keep the value: aws fsx update-volume changes the root volume in place, and OpenZfsQuotas sets its quotas",
        why=f"CloudFormation does not update the root volume: {_NEW_AND_EMPTY}",
        source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/"
        "aws-properties-fsx-filesystem-openzfsconfiguration.html",
    ),
    *(
        in_place(f"OpenZFSConfiguration/{name}", why, source=_OPENZFS_DOCS)
        for name, why in (
            ("AutomaticBackupRetentionDays", "sets how long backups are kept"),
            ("CopyTagsToBackups", "applies to later backups"),
            ("CopyTagsToVolumes", "applies to later volumes"),
            ("DailyAutomaticBackupStartTime", "applies to the next backups"),
            ("DiskIopsConfiguration", "the disks change in place, and the file system answers meanwhile"),
            ("EndpointIpv6AddressRange", "changes in place"),
            ("Options", "applies when the file system is deleted"),
            ("ReadCacheConfiguration", "the read cache changes in place"),
            ("RouteTableIds", "changes in place"),
            ("ThroughputCapacity", "the file servers are exchanged in place, and clients may wait for some minutes"),
            ("WeeklyMaintenanceStartTime", "applies to the next maintenance"),
        )
    ),
)

FILE_SYSTEM: tuple[Row, ...] = (
    refused(
        "StorageCapacity",
        f"an OpenZFS file system grows by {openzfs.SMALLEST_GROWTH_PERCENT} percent or more in one update",
        when=_grows_too_little,
        avoid="keep the capacity, or grow further",
        source="https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html",
    ),
    in_place("StorageCapacity", _grown, when=grows, source=_CAPACITY_DOCS),
    refused(
        "StorageCapacity",
        "a file system can grow, never shrink",
        when=_shrinks_for_good,
        avoid="keep the capacity; create a smaller file system beside it, copy the files, then remove this one",
        source=_CAPACITY_DOCS,
    ),
    in_place("StorageCapacity", "the numbers are unknown here: the file system grows in place, or the update is refused"),
    *(_replaced(name) for name in ("BackupId", "FileSystemType", "KmsKeyId")),
    _replaced("SubnetIds", avoid="keep the subnet: it is fixed with the file system"),
    _replaced(
        "SecurityGroupIds",
        avoid="keep the groups, and change their rules instead",
        why=f"the security groups of a file system are fixed: {_NEW_AND_EMPTY}",
    ),
    _replaced(
        "FileSystemTypeVersion",
        avoid="keep the value here: aws fsx update-file-system --file-system-type-version raises the version in place",
        source=_SPECIFICATION,
    ),
    in_place("Tags", "tags change in place"),
    *_LUSTRE,
    *_OPENZFS,
    *(_replaced(path, source=_SPECIFICATION) for path in sorted(updates.BEYOND_SCHEMA["AWS::FSx::FileSystem"])),
    in_place("OpenZFSConfiguration", "changes in place"),
    in_place("LustreConfiguration", "changes in place"),
)


def _overlaps(change: Change) -> bool:
    """Whether the new association takes a path of the old one, which still exists when the new one is created."""
    return "FileSystemId" in change.unchanged and bool({"FileSystemPath", "DataRepositoryPath"} & change.unchanged)


_ASSOCIATION_FIXED = tuple(
    row
    for name in ("BatchImportMetaDataOnCreate", "DataRepositoryPath", "FileSystemPath")
    for row in (
        refused(
            name,
            (
                "it is fixed at creation, and the replacement overlaps this association while both exist "
                "(AWS documents the overlap rule; the failure is inferred from the order)"
            ),
            when=_overlaps,
            avoid="remove the association in one update and add the new one in the next; the files stay",
            source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html",
        ),
        replaced(name, "the link is created again; the files on both sides stay"),
    )
)

ASSOCIATION: tuple[Row, ...] = (
    *_ASSOCIATION_FIXED,
    replaced("FileSystemId", "the link moves to the other file system; the files of both stay"),
    in_place("ImportedFileChunkSize", "applies to later imports"),
    in_place("S3", "applies to later imports and exports"),
    in_place("Tags", "tags change in place"),
)
