"""Updates of other types, where the resource schemas tell too little, and of the library's custom resources."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hyperpod_constructs.facts import eks, extensions, updates
from hyperpod_constructs.facts.kubernetes import MOST_MINOR_VERSIONS_UP
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


def _modes(change: Change) -> tuple[str | None, str | None]:
    """The authentication modes before and after; a cluster without one has the default."""
    return eks.DEFAULT_MODE if change.old is ABSENT else as_str(change.old), as_str(change.new)


def _mode_is_no_next(change: Change) -> bool:
    old, new = _modes(change)
    return old is not None and new is not None and new not in (old, eks.NEXT_MODE.get(old))


def _why_no_next(change: Change) -> str:
    old, _ = _modes(change)
    following = eks.NEXT_MODE.get(old or "")
    return f"EKS changes the mode {old} to {following} only" if following else f"a cluster with the mode {old} keeps it"


KUBERNETES: tuple[Row, ...] = (
    refused(
        "AccessConfig/AuthenticationMode",
        _why_no_next,
        when=_mode_is_no_next,
        avoid=f"go forward, one step in each deployment: {', '.join((eks.DEFAULT_MODE, *eks.NEXT_MODE.values()))}",
        source="https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html",
    ),
    in_place("AccessConfig/AuthenticationMode", "access entries count from then on; there is no way back to an earlier mode"),
    refused(
        "Version",
        "EKS changes the version of a cluster by one minor version at a time",
        when=lambda change: abs(_versions_apart(change) or 0) > MOST_MINOR_VERSIONS_UP,
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

FILE_SYSTEM_FIELDS: tuple[Row, ...] = (
    _SERVICE_TOKEN,
    _SERVICE_TIMEOUT,
    replaced("FileSystemId", "root squash is set on the other file system and switched off on this one"),
    *(in_place(name, "root of the clients has the new rights once FSx has changed it") for name in ("NoSquashNids", "RootSquash")),
    in_place("TimeoutSeconds", "sets how long the update waits for the file system"),
)

DATA_REPOSITORY_TASK: tuple[Row, ...] = (
    _SERVICE_TOKEN,
    _SERVICE_TIMEOUT,
    *(
        replaced(name, "a new task starts, and the old one is canceled if it still runs; the files stay as they are")
        for name in ("DurationSinceLastAccessDays", "FileSystemId", "Paths", "ReportPath", "Type")
    ),
    in_place("TimeoutSeconds", "sets how long the update waits for the task"),
)


def _version_falls(change: Change) -> bool:
    """Whether an extension's version is to go down; the service only raises it."""
    old, new = as_str(change.old), as_str(change.new)
    return old is not None and new is not None and extensions.is_lower(new, old)


EXTENSION: tuple[Row, ...] = (
    _SERVICE_TOKEN,
    _SERVICE_TIMEOUT,
    *(replaced(name, "another extension is installed, and the old one is deleted") for name in ("ClusterArn", "Name")),
    refused("Version", extensions.ONLY_RISES, when=_version_falls, avoid=extensions.INSTEAD, source=extensions.UPDATE_PAGE),
    in_place("Version", "the nodes receive the version, one after another"),
    in_place("Configuration", "the nodes receive the settings; those that are gone go back to their defaults"),
    in_place("Tags", "sets the tags of the extension"),
    in_place("TimeoutSeconds", "sets how long the update waits for the nodes"),
)

CLUSTER_FIELDS: tuple[Row, ...] = (
    _SERVICE_TOKEN,
    _SERVICE_TIMEOUT,
    replaced("ClusterArn", "the fields are set on the other cluster, and the old one goes back to the service's defaults"),
    in_place("Groups", "sets the fields; those that are gone go back to the service's defaults"),
    in_place("Stated", "the fields are set again after the change of the cluster"),
    in_place("Follows", "the fields are set again after the change of the cluster"),
    in_place("TimeoutSeconds", "sets how long the update waits for the cluster"),
)


def _bound_again(change: Change) -> bool:
    """Whether a volume of Kubernetes gets another source, or a claim another volume, under the same name."""
    old, new = (_bindings(value) for value in (change.old, change.new))
    return any(name in new and new[name] != source for name, source in old.items())


_BINDING = {"PersistentVolume": "csi", "PersistentVolumeClaim": "volumeName"}


def _bindings(manifest: Value) -> dict[tuple[str, str, str], str]:
    """What a volume or claim is bound to, by kind, namespace and name; the rest of its specification can change."""
    try:
        objects = json.loads(str(shown(manifest)))
    except (ValueError, RecursionError):
        return {}
    found = {}
    for one in objects if isinstance(objects, list) else ():
        kind, metadata, spec = (one.get(key) for key in ("kind", "metadata", "spec")) if isinstance(one, dict) else (None,) * 3
        if isinstance(metadata, dict) and isinstance(spec, dict) and isinstance(kind, str) and kind in _BINDING:
            where = (kind, str(metadata.get("namespace")), str(metadata.get("name")))
            found[where] = json.dumps(spec.get(_BINDING[kind]), sort_keys=True)
    return found


KUBERNETES_OBJECTS: tuple[Row, ...] = (
    _SERVICE_TOKEN,
    _SERVICE_TIMEOUT,
    refused(
        "Manifest",
        "Kubernetes refuses another source of a volume, and another volume of a claim, under the same name",
        when=_bound_again,
        avoid="give the LustreVolume another claim_name; pods that run keep the old claim until they end",
        source="https://kubernetes.io/docs/concepts/storage/persistent-volumes/",
    ),
    in_place("ClusterName", "the objects are applied to the other cluster too; the old one keeps them"),
    in_place("Manifest", "the objects are applied; those that are gone are deleted if they carry the label of this resource"),
    in_place("PruneLabel", "the objects get the label by which later updates find those that are gone"),
)

KUBERNETES_OBJECT_VALUE: tuple[Row, ...] = (
    _SERVICE_TOKEN,
    _SERVICE_TIMEOUT,
    *(
        in_place(name, "the update waits for this value of an object, and changes nothing")
        for name in ("ClusterName", "JsonPath", "ObjectName", "ObjectNamespace", "ObjectType", "TimeoutSeconds")
    ),
)

_OF_ANOTHER_RELEASE = "the first release stays, and Helm refuses to take over its objects"
HELM_CHART: tuple[Row, ...] = (
    _SERVICE_TOKEN,
    _SERVICE_TIMEOUT,
    *(
        refused(name, _OF_ANOTHER_RELEASE, avoid="keep it, or take the chart away in one deployment and add it in the next")
        for name in ("Namespace", "Release")
    ),
    in_place("ClusterName", "the chart is installed in the other cluster too; the old one keeps it"),
    *(
        in_place(name, "the release is upgraded; objects that the chart no longer has are deleted")
        for name in ("Chart", "ChartAssetURL", "Repository", "Values", "Version")
    ),
    *(in_place(name, "sets how the next upgrade is done") for name in ("Atomic", "CreateNamespace", "SkipCrds", "Timeout", "Wait")),
)

PREFLIGHT: tuple[Row, ...] = (
    _SERVICE_TOKEN,
    _SERVICE_TIMEOUT,
    *(
        in_place(name, "the update looks at the account again, and stops at a proven mistake")
        for name in ("Bucket", "ClusterLogicalId", "ClusterName", "FileSystems", "Groups", "Region", "Roles")
    ),
    in_place("TimeoutSeconds", "sets how long the update waits for the look"),
)

NODE_INVENTORY: tuple[Row, ...] = (
    _SERVICE_TOKEN,
    _SERVICE_TIMEOUT,
    replaced("Prefix", "the nodes are written to parameters at the other path, and the old parameters are deleted"),
    *(in_place(name, "the update lists the nodes again") for name in ("ClusterArn", "Follows", "Groups")),
    in_place("TimeoutSeconds", "sets how long the update waits for the list"),
)

TRAINING_PLAN: tuple[Row, ...] = (
    _SERVICE_TOKEN,
    _SERVICE_TIMEOUT,
    replaced("Plan", "the update looks at the other plan; both plans stay as they are"),
    *(
        in_place(name, "the update looks at the plan again")
        for name in ("AlarmDays", "AlarmTopic", "InstanceCount", "InstanceType", "MinimumLeftSeconds", "SubnetIds")
    ),
    in_place("TimeoutSeconds", "sets how long the update waits for the plan"),
)

CUSTOM_RESOURCE: tuple[Row, ...] = (_SERVICE_TOKEN, _SERVICE_TIMEOUT)
