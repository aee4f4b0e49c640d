"""Updates of other types, where the resource schemas tell too little, and of the library's custom resources."""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.facts import updates
from hyperpod_constructs.plan.change import Change, shrinks
from hyperpod_constructs.plan.row import Row, in_place, loses_data, refused, replaced
from hyperpod_constructs.templates.values import ABSENT, Value, as_int, as_items, as_str, at, shown

LOG_GROUP: tuple[Row, ...] = (
    loses_data(
        "RetentionInDays",
        "events older than the new number of days are deleted",
        when=lambda change: shrinks(change) or change.old is ABSENT,
        avoid="export them first (aws logs create-export-task), or keep the retention",
        source="https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/logs/Working-with-log-groups-and-streams.html",
    ),
    in_place("RetentionInDays", "sets how long events are kept"),
)

_DAYS = ("ExpirationInDays", "NoncurrentVersionExpirationInDays")
_NONCURRENT = ("NoncurrentVersionExpiration", "NoncurrentDays")
_EXPIRING = (*_DAYS, "ExpirationDate", "NoncurrentVersionExpiration")


def _expires_sooner(change: Change) -> bool:
    """Whether a rule deletes objects earlier than all old rules."""
    old, new = (as_items(at(value, "Rules")) or () for value in (change.old, change.new))
    return any(_expires(rule) and not any(_covers(before, rule) for before in old) for rule in new)


def _expires(rule: Value) -> bool:
    return at(rule, "Status") != "Disabled" and any(at(rule, name) is not ABSENT for name in _EXPIRING)


def _covers(before: Value, after: Value) -> bool:
    """Whether the old rule was enabled and deletes the same objects, no later than the new one."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping) or at(before, "Status") == "Disabled":
        return False
    later = [_no_earlier(at(before, *path), at(after, *path)) for path in (*((name,) for name in _DAYS), _NONCURRENT)]
    rest = {name for name in (*before, *after) if name not in (*_DAYS, _NONCURRENT[0], "Id")}
    return all(later) and all(shown(at(before, name)) == shown(at(after, name)) for name in rest)


def _no_earlier(before: Value, after: Value) -> bool:
    old, new = as_int(before), as_int(after)
    return after is ABSENT or (old is not None and new is not None and new >= old)


BUCKET: tuple[Row, ...] = (
    loses_data(
        "LifecycleConfiguration",
        "the rules also apply to existing objects: those older than the new expiration are deleted",
        when=_expires_sooner,
        avoid="exclude checkpoints by the rule's Filter, or copy the objects first",
        source="https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-expire-general-considerations.html",
    ),
    in_place("LifecycleConfiguration", "the rules also apply to existing objects; they delete no more than before"),
    in_place("VersioningConfiguration", "applies to new objects only"),
    in_place("BucketEncryption", "applies to new objects only"),
)

FUNCTION: tuple[Row, ...] = (in_place("Code", "the next invocation runs the new code"),)

KEY: tuple[Row, ...] = (
    in_place("Enabled", "while the key is disabled, its data cannot be read; nothing is lost"),
    *(refused(name, "is fixed at creation", avoid="create another key") for name in sorted(updates.fixed("AWS::KMS::Key"))),
)


def _minor(value: Value) -> int | None:
    """The minor version of a Kubernetes version."""
    parts = (as_str(value) or "").split(".")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() else None


def _versions_apart(change: Change) -> int | None:
    """The number of minor versions that a change goes up; negative for down."""
    old, new = _minor(change.old), _minor(change.new)
    return None if old is None or new is None else new - old


KUBERNETES: tuple[Row, ...] = (
    refused(
        "Version",
        "EKS changes the version of a cluster by one minor version at a time",
        when=lambda change: abs(_versions_apart(change) or 0) > 1,
        avoid="deploy each version in between, one after the other",
        source="https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html",
    ),
    in_place(
        "Version",
        "EKS rolls back to the previous version within 7 days of the upgrade; after that it refuses the update",
        when=lambda change: _versions_apart(change) == -1,
        source="https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html",
    ),
    in_place("Version", "the control plane is updated in place; nodes are updated separately"),
)

_SERVICE_TOKEN = refused(
    "ServiceToken",
    "CloudFormation does not update a custom resource to another function",
    avoid="keep the function, or give the custom resource another logical id",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html",
)
_SERVICE_TIMEOUT = in_place("ServiceTimeout", "sets how long CloudFormation waits for the function")

_SCRIPTS = "a new prefix is uploaded and the old one stays; running nodes keep their scripts until they are replaced or updated"

SCRIPTS_UPLOAD: tuple[Row, ...] = (
    _SERVICE_TOKEN,
    _SERVICE_TIMEOUT,
    *(replaced(name, "the scripts are uploaded to the new place and deleted from the old one") for name in ("Bucket", "Root")),
    *(in_place(name, _SCRIPTS) for name in ("Configuration", "ConfigurationFile", "Prefix", "SourceBucket", "SourceKey")),
    in_place("TimeoutSeconds", "sets how long the upload may take"),
)

READINESS_GATE: tuple[Row, ...] = (
    _SERVICE_TOKEN,
    _SERVICE_TIMEOUT,
    replaced("ClusterArn", "the update waits for another cluster; nothing is deleted"),
    in_place("Groups", "the update waits again until the nodes run"),
    in_place("TimeoutSeconds", "sets how long the update waits for the nodes"),
)

CUSTOM_RESOURCE: tuple[Row, ...] = (_SERVICE_TOKEN, _SERVICE_TIMEOUT)
