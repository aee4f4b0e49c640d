"""Updates of the other types, where the resource schemas do not tell the whole, and of the library's custom resources."""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.rules.effects.effect import Change, Effect, Row, shrinks
from hyperpod_constructs.rules.template.values import ABSENT, Value, as_int, as_items, as_str, at, shown

LOG_GROUP: tuple[Row, ...] = (
    Row(
        path="RetentionInDays",
        effect=Effect.DATA_LOSS,
        why="events older than the new number of days are deleted",
        when=lambda change: shrinks(change) or change.old is ABSENT,
        avoid="export them first (aws logs create-export-task), or keep the retention",
        source="https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/logs/Working-with-log-groups-and-streams.html",
    ),
    Row(path="RetentionInDays", effect=Effect.NO_INTERRUPTION, why="events are kept so long from then on"),
)

_DAYS = ("ExpirationInDays", "NoncurrentVersionExpirationInDays")
_NONCURRENT = ("NoncurrentVersionExpiration", "NoncurrentDays")
_EXPIRING = (*_DAYS, "ExpirationDate", "NoncurrentVersionExpiration")


def _expires_sooner(change: Change) -> bool:
    """A rule deletes objects, and none of the old rules deleted the same ones as early."""
    old, new = (as_items(at(value, "Rules")) or () for value in (change.old, change.new))
    return any(_expires(rule) and not any(_covers(before, rule) for before in old) for rule in new)


def _expires(rule: Value) -> bool:
    return at(rule, "Status") != "Disabled" and any(at(rule, name) is not ABSENT for name in _EXPIRING)


def _covers(before: Value, after: Value) -> bool:
    """Whether a rule is the same but for later days, and was in force."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping) or at(before, "Status") == "Disabled":
        return False
    later = [_no_earlier(at(before, *path), at(after, *path)) for path in (*((name,) for name in _DAYS), _NONCURRENT)]
    rest = {name for name in (*before, *after) if name not in (*_DAYS, _NONCURRENT[0], "Id")}
    return all(later) and all(shown(at(before, name)) == shown(at(after, name)) for name in rest)


def _no_earlier(before: Value, after: Value) -> bool:
    old, new = as_int(before), as_int(after)
    return after is ABSENT or (old is not None and new is not None and new >= old)


BUCKET: tuple[Row, ...] = (
    Row(
        path="LifecycleConfiguration",
        effect=Effect.DATA_LOSS,
        why="the rules count for objects that exist too: those that are older than the new expiration are deleted",
        when=_expires_sooner,
        avoid="leave checkpoints out by the rule's Filter, or copy what has to stay first",
        source="https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-expire-general-considerations.html",
    ),
    Row(
        path="LifecycleConfiguration",
        effect=Effect.NO_INTERRUPTION,
        why="the rules count for objects that exist too; none of them deletes more than before",
    ),
    Row(path="VersioningConfiguration", effect=Effect.NO_INTERRUPTION, why="counts for objects that are written from then on"),
    Row(path="BucketEncryption", effect=Effect.NO_INTERRUPTION, why="counts for objects that are written from then on"),
)

FUNCTION: tuple[Row, ...] = (Row(path="Code", effect=Effect.NO_INTERRUPTION, why="new code is used by the next invocation"),)

KEY: tuple[Row, ...] = (
    Row(
        path="Enabled",
        effect=Effect.NO_INTERRUPTION,
        why="while a key is disabled, nothing that it encrypts can be read; nothing is lost",
    ),
    *(
        Row(path=name, effect=Effect.REFUSED, why="is fixed at creation", avoid="make another key")
        for name in ("KeySpec", "KeyUsage", "MultiRegion", "Origin")
    ),
)


def _minor(value: Value) -> int | None:
    """The second number of a version of Kubernetes."""
    parts = (as_str(value) or "").split(".")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() else None


def _versions_apart(change: Change) -> int | None:
    """How many minor versions a change goes up; negative for down."""
    old, new = _minor(change.old), _minor(change.new)
    return None if old is None or new is None else new - old


KUBERNETES: tuple[Row, ...] = (
    Row(
        path="Version",
        effect=Effect.REFUSED,
        why="EKS changes the version of a cluster by one minor version at a time",
        when=lambda change: abs(_versions_apart(change) or 0) > 1,
        avoid="deploy each version between, one after the other",
        source="https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html",
    ),
    Row(
        path="Version",
        effect=Effect.NO_INTERRUPTION,
        why="EKS goes back to the version before within 7 days of the upgrade from it; otherwise it refuses the update",
        when=lambda change: _versions_apart(change) == -1,
        source="https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html",
    ),
    Row(path="Version", effect=Effect.NO_INTERRUPTION, why="the control plane is updated in place; nodes are updated on their own"),
)

_SERVICE_TOKEN = Row(
    path="ServiceToken",
    effect=Effect.REFUSED,
    why="CloudFormation does not update a custom resource to another function",
    avoid="keep the function, or give the custom resource another logical id",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html",
)
_SERVICE_TIMEOUT = Row(path="ServiceTimeout", effect=Effect.NO_INTERRUPTION, why="how long CloudFormation waits for the function")

_SCRIPTS = "a new prefix is uploaded and the old one stays; running nodes keep their scripts until they are replaced or updated"

SCRIPTS_UPLOAD: tuple[Row, ...] = (
    _SERVICE_TOKEN,
    _SERVICE_TIMEOUT,
    *(
        Row(path=name, effect=Effect.REPLACE, why="the scripts are uploaded to the new place, and those in the old one are deleted")
        for name in ("Bucket", "Root")
    ),
    *(
        Row(path=name, effect=Effect.NO_INTERRUPTION, why=_SCRIPTS)
        for name in ("Configuration", "ConfigurationFile", "Prefix", "SourceBucket", "SourceKey")
    ),
    Row(path="TimeoutSeconds", effect=Effect.NO_INTERRUPTION, why="how long the upload may take"),
)

READINESS_GATE: tuple[Row, ...] = (
    _SERVICE_TOKEN,
    _SERVICE_TIMEOUT,
    Row(path="ClusterArn", effect=Effect.REPLACE, why="another cluster is waited for; nothing is deleted"),
    Row(path="Groups", effect=Effect.NO_INTERRUPTION, why="the update waits again until the nodes run"),
    Row(path="TimeoutSeconds", effect=Effect.NO_INTERRUPTION, why="how long the update waits for the nodes"),
)

CUSTOM_RESOURCE: tuple[Row, ...] = (_SERVICE_TOKEN, _SERVICE_TIMEOUT)
