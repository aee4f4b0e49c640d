"""Updates of RDS databases: replaced, restarted, refused or in place.

The resource schema calls many properties conditional, and says not when they replace the instance.

Source: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_ModifyInstance.Settings.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-dbinstance.html
"""

from __future__ import annotations

import re
from functools import partial

from hyperpod_constructs.plan.change import Change, shrinks
from hyperpod_constructs.plan.row import Row, in_place, loses_data, refused, replaced, rolling
from hyperpod_constructs.templates.values import ABSENT, as_bool, as_int, as_str

_MODIFY = "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_ModifyInstance.Settings.html"
_UPGRADE = "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_UpgradeDBInstance.Upgrading.html"
_restarted = partial(rolling, source=_MODIFY)
_stays = partial(in_place, source=_MODIFY)

_DEFAULT_RETENTION = 1
"""Days without `BackupRetentionPeriod`."""


def _version(text: str | None) -> tuple[int, ...]:
    """The numbers of a version, up to the first part without one; empty if the version is not known."""
    found: list[int] = []
    for part in (text or "").split("."):
        if not part.isdecimal():
            break
        found.append(int(part))
    return tuple(found)


def _major(change: Change, version: tuple[int, ...]) -> tuple[int, ...]:
    """The major version: two numbers for MySQL, MariaDB and older PostgreSQL, one for the others."""
    engine = as_str(change.after.get("Engine", ABSENT)) or ""
    return version[:1] if "postgres" in engine and version[:1] >= (10,) else version[:2]


def _versions(change: Change) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    old, new = _version(as_str(change.old)), _version(as_str(change.new))
    return (old, new) if old and new else None


def _goes_down(change: Change) -> bool:
    found = _versions(change)
    return found is not None and found[1] < found[0][: len(found[1])]


def _is_major(change: Change) -> bool:
    found = _versions(change)
    allowed = as_bool(change.after.get("AllowMajorVersionUpgrade", False))
    return found is not None and _major(change, found[0]) != _major(change, found[1]) and allowed is False


def _days(change: Change) -> tuple[int | None, int | None]:
    before, after = (_DEFAULT_RETENTION if value is ABSENT else as_int(value) for value in (change.old, change.new))
    return before, after


def _ends_backups(change: Change) -> bool:
    return _days(change)[1] == 0


def _begins_backups(change: Change) -> bool:
    return _days(change)[0] == 0


INSTANCE: tuple[Row, ...] = (
    refused(
        "AllocatedStorage",
        "the storage of a database grows, and never shrinks",
        when=shrinks,
        avoid="keep the size; create a smaller database beside it, and copy the data",
        source="https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_PIOPS.StorageTypes.html",
    ),
    _stays("AllocatedStorage", "the storage grows in place; the next change is possible after six hours"),
    _restarted(
        "DBInstanceClass", "the database is restarted, and does not answer for some minutes", avoid="update when no job starts"
    ),
    replaced(
        "Engine",
        "another engine is another instance: a new, empty database is created",
        avoid="keep the engine; create a second database and copy the data",
    ),
    refused(
        "EngineVersion",
        "RDS takes no database to an earlier version",
        when=_goes_down,
        avoid="keep the version; restore a snapshot of the earlier one beside it",
        source=_UPGRADE,
    ),
    refused(
        "EngineVersion",
        "RDS takes a database to another major version only with AllowMajorVersionUpgrade",
        when=_is_major,
        avoid="write AllowMajorVersionUpgrade: true, and try the upgrade on a restored snapshot first",
        source=_UPGRADE,
    ),
    _restarted(
        "EngineVersion", "the database is restarted with the other version", avoid="update when no job starts", source=_UPGRADE
    ),
    loses_data(
        "BackupRetentionPeriod",
        "all automatic backups are deleted, and the database is restarted",
        when=_ends_backups,
        avoid="keep at least one day, or take a snapshot first",
        source=_MODIFY,
    ),
    _restarted("BackupRetentionPeriod", "automatic backups begin, and the database is restarted", when=_begins_backups),
    _stays("BackupRetentionPeriod", "older automatic backups are deleted", when=shrinks),
    _stays("BackupRetentionPeriod", "sets how long automatic backups are kept"),
    _restarted(
        "Port", "the database is restarted with the other port; everybody who connects needs it, and the security groups too"
    ),
    replaced("AvailabilityZone", "the zone is fixed: a new, empty database is created", avoid="keep the zone, or leave it to RDS"),
    replaced(
        "DBSnapshotIdentifier",
        "a new database is made from the other snapshot",
        when=lambda change: change.new is not ABSENT,
        avoid="keep the snapshot's name, even after it is gone",
    ),
    replaced("DBSnapshotIdentifier", "a new, empty database is created", avoid="keep the snapshot's name, even after it is gone"),
    _restarted("DBParameterGroupName", "parameters of the engine that are fixed at its start count after a restart"),
    _restarted("CACertificateIdentifier", "the database may be restarted with the other certificate"),
    _restarted("StorageType", "the storage is converted, and the database may be restarted"),
    _stays("MultiAZ", "a standby in another zone is added or removed"),
    *(
        _stays(name, "changes in place")
        for name in ("AutoMinorVersionUpgrade", "DeletionProtection", "PreferredBackupWindow", "PreferredMaintenanceWindow")
    ),
    _stays("MasterUserPassword", "the password changes; running connections stay"),
)


def _numbers(value: object) -> tuple[int, ...]:
    """All numbers of a version of Aurora; none if it is not known."""
    return tuple(map(int, re.findall(r"\d+", value))) if isinstance(value, str) else ()


def _cluster_goes_down(change: Change) -> bool:
    old, new = _numbers(as_str(change.old)), _numbers(as_str(change.new))
    return bool(old and new) and new < old[: len(new)]


_MODIFY_CLUSTER = "https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ModifyDBCluster.html"
CLUSTER: tuple[Row, ...] = (
    refused(
        "EngineVersion",
        "RDS takes no cluster to an earlier version",
        when=_cluster_goes_down,
        avoid="keep the version; restore a snapshot of the earlier one beside it",
        source=_MODIFY_CLUSTER,
    ),
    rolling(
        "EngineVersion",
        "all instances are restarted with the other version",
        avoid="update when no job starts",
        source=_MODIFY_CLUSTER,
    ),
    rolling(
        "Port",
        "the instances are restarted with the other port; everybody who connects needs it, and the security groups too",
        source=_MODIFY_CLUSTER,
    ),
)
