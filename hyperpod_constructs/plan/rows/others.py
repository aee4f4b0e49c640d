"""Updates of other types, where the resource schemas tell too little, and of the library's custom resources."""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.facts import extensions, updates
from hyperpod_constructs.plan.change import Change, shrinks
from hyperpod_constructs.plan.row import Row, in_place, loses_data, refused, replaced, rolling
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

NOTEBOOK: tuple[Row, ...] = tuple(
    rolling(
        name,
        "the notebook is stopped, changed and started: what runs in it ends, and only files in /home/ec2-user/SageMaker stay",
        avoid="update when nobody works in it",
        source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-sagemaker-notebookinstance.html",
    )
    for name in sorted(updates.RESTARTING["AWS::SageMaker::NotebookInstance"])
)

KEY: tuple[Row, ...] = (
    in_place("Enabled", "while the key is disabled, its data cannot be read; nothing is lost"),
    *(refused(name, "is fixed at creation", avoid="create another key") for name in sorted(updates.fixed("AWS::KMS::Key"))),
)


SERVICE_TOKEN = refused(
    "ServiceToken",
    "CloudFormation does not update a custom resource to another function",
    avoid="keep the function, or give the custom resource another logical id",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html",
)
SERVICE_TIMEOUT = in_place("ServiceTimeout", "sets how long CloudFormation waits for the function")

_SCRIPTS = "a new prefix is uploaded and the old one stays; running nodes keep their scripts until they are replaced or updated"

SCRIPTS_UPLOAD: tuple[Row, ...] = (
    SERVICE_TOKEN,
    SERVICE_TIMEOUT,
    *(replaced(name, "the scripts are uploaded to the new place and deleted from the old one") for name in ("Bucket", "Root")),
    *(in_place(name, _SCRIPTS) for name in ("Configuration", "ConfigurationFile", "Prefix", "SourceBucket", "SourceKey")),
    in_place("TimeoutSeconds", "sets how long the upload may take"),
)

READINESS_GATE: tuple[Row, ...] = (
    SERVICE_TOKEN,
    SERVICE_TIMEOUT,
    replaced("ClusterArn", "the update waits for another cluster; nothing is deleted"),
    in_place("Groups", "the update waits again until the nodes run"),
    in_place("TimeoutSeconds", "sets how long the update waits for the nodes"),
)

FILE_SYSTEM_FIELDS: tuple[Row, ...] = (
    SERVICE_TOKEN,
    SERVICE_TIMEOUT,
    replaced("FileSystemId", "root squash is set on the other file system and switched off on this one"),
    *(in_place(name, "root of the clients has the new rights once FSx has changed it") for name in ("NoSquashNids", "RootSquash")),
    in_place("TimeoutSeconds", "sets how long the update waits for the file system"),
)

OPENZFS_QUOTAS: tuple[Row, ...] = (
    SERVICE_TOKEN,
    SERVICE_TIMEOUT,
    replaced("VolumeId", "the quotas are set on the other volume and taken away from this one; the files stay as they are"),
    in_place("Quotas", "users and groups have their new quotas once FSx has changed them; the files stay as they are"),
    in_place("TimeoutSeconds", "sets how long the update waits for the volume"),
)

DATA_REPOSITORY_TASK: tuple[Row, ...] = (
    SERVICE_TOKEN,
    SERVICE_TIMEOUT,
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
    SERVICE_TOKEN,
    SERVICE_TIMEOUT,
    *(replaced(name, "another extension is installed, and the old one is deleted") for name in ("ClusterArn", "Name")),
    refused("Version", extensions.ONLY_RISES, when=_version_falls, avoid=extensions.INSTEAD, source=extensions.UPDATE_PAGE),
    in_place("Version", "the nodes receive the version, one after another"),
    in_place("Configuration", "the nodes receive the settings; those that are gone go back to their defaults"),
    in_place("Tags", "sets the tags of the extension"),
    in_place("TimeoutSeconds", "sets how long the update waits for the nodes"),
)

CLUSTER_FIELDS: tuple[Row, ...] = (
    SERVICE_TOKEN,
    SERVICE_TIMEOUT,
    replaced("ClusterArn", "the fields are set on the other cluster, and the old one goes back to the service's defaults"),
    in_place("Groups", "sets the fields; those that are gone go back to the service's defaults"),
    in_place("Stated", "the fields are set again after the change of the cluster"),
    in_place("Follows", "the fields are set again after the change of the cluster"),
    in_place("TimeoutSeconds", "sets how long the update waits for the cluster"),
)

CLUSTER_LOG_GROUP: tuple[Row, ...] = (
    SERVICE_TOKEN,
    SERVICE_TIMEOUT,
    replaced("ClusterArn", "the other cluster's log group is used, and the old one stays with its events"),
    *LOG_GROUP,
    in_place("KmsKeyArn", "new events are encrypted with the key; older ones stay as they are"),
    in_place("TimeoutSeconds", "sets how long the update may take"),
)

METRIC_FILTER: tuple[Row, ...] = (
    *(replaced(name, "another filter counts the lines from then on; the metric stays") for name in ("FilterName", "LogGroupName")),
    in_place("FilterPattern", "counts the lines that arrive from then on"),
    in_place("MetricTransformations", "the values from then on go to the new metric; the old one keeps its own"),
)

SUBSCRIPTION_FILTER: tuple[Row, ...] = (
    *(replaced(name, "another filter sends the lines from then on") for name in ("FilterName", "LogGroupName")),
    *(in_place(name, "applies to the lines that arrive from then on") for name in ("DestinationArn", "FilterPattern")),
)

SUBSCRIPTION: tuple[Row, ...] = tuple(
    replaced(name, "the new receiver must confirm the subscription first") for name in ("Endpoint", "Protocol", "TopicArn")
)


def _is_versioned(change: Change) -> bool:
    return change.after.get("UpdateMethod", ABSENT) == "NewVersion"


DOCUMENT: tuple[Row, ...] = tuple(
    in_place(
        name,
        "a new version becomes the default; executions that run keep the old one",
        when=_is_versioned,
        source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ssm-document.html",
    )
    for name in ("Attachments", "Content", "DocumentFormat", "Requires", "TargetType", "VersionName")
)

SECRET: tuple[Row, ...] = (
    rolling(
        "GenerateSecretString",
        "a new secret is made; what has the old one must read it again",
        avoid="keep the value, and rotate the secret where it is used",
        source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-secretsmanager-secret.html",
    ),
)

BUDGET: tuple[Row, ...] = (
    in_place("Budget", "applies to the present month too"),
    replaced("NotificationsWithSubscribers", "another budget sends the messages; the costs stay as they are"),
)

PREFLIGHT: tuple[Row, ...] = (
    SERVICE_TOKEN,
    SERVICE_TIMEOUT,
    *(
        in_place(name, "the update looks at the account again, and stops at a proven mistake")
        for name in ("Bucket", "ClusterLogicalId", "ClusterName", "FileSystems", "Groups", "Region", "Roles")
    ),
    in_place("TimeoutSeconds", "sets how long the update waits for the look"),
)

NODE_INVENTORY: tuple[Row, ...] = (
    SERVICE_TOKEN,
    SERVICE_TIMEOUT,
    replaced("Prefix", "the nodes are written to parameters at the other path, and the old parameters are deleted"),
    *(in_place(name, "the update lists the nodes again") for name in ("ClusterArn", "Follows", "Groups")),
    in_place("TimeoutSeconds", "sets how long the update waits for the list"),
)

TRAINING_PLAN: tuple[Row, ...] = (
    SERVICE_TOKEN,
    SERVICE_TIMEOUT,
    replaced("Plan", "the update looks at the other plan; both plans stay as they are"),
    *(
        in_place(name, "the update looks at the plan again")
        for name in ("AlarmDays", "AlarmTopic", "InstanceCount", "InstanceType", "MinimumLeftSeconds", "SubnetIds")
    ),
    in_place("TimeoutSeconds", "sets how long the update waits for the plan"),
)

CUSTOM_RESOURCE: tuple[Row, ...] = (SERVICE_TOKEN, SERVICE_TIMEOUT)
