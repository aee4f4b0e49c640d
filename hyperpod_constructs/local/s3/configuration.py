"""The configurations of a bucket, from the names that CloudFormation gives their fields to those of the S3 API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from hyperpod_constructs.local.ec2.provider import boolean, given, tag_list

Properties = Mapping[str, Any]


def _encryption(properties: Properties) -> dict[str, Any]:
    rules = []
    for rule in properties["ServerSideEncryptionConfiguration"]:
        wanted: dict[str, Any] = {}
        default = rule.get("ServerSideEncryptionByDefault")
        if default is not None:
            wanted["ApplyServerSideEncryptionByDefault"] = given(default, "SSEAlgorithm", "KMSMasterKeyID")
        if (bucket_key := rule.get("BucketKeyEnabled")) is not None:
            wanted["BucketKeyEnabled"] = boolean(bucket_key)
        rules.append(wanted)
    return {"Rules": rules}


def _lifecycle(properties: Properties) -> dict[str, Any]:
    return {"Rules": [_lifecycle_rule(rule) for rule in properties["Rules"]]}


def _lifecycle_rule(rule: Properties) -> dict[str, Any]:
    wanted: dict[str, Any] = {"Status": rule["Status"], "Filter": _lifecycle_filter(rule)}
    wanted |= given(rule, ID="Id")
    expiration = given(rule, Days="ExpirationInDays", Date="ExpirationDate")
    if (marker := rule.get("ExpiredObjectDeleteMarker")) is not None:
        expiration["ExpiredObjectDeleteMarker"] = boolean(marker)
    if expiration:
        wanted["Expiration"] = expiration
    noncurrent = given(rule, NoncurrentDays="NoncurrentVersionExpirationInDays")
    if (detailed := rule.get("NoncurrentVersionExpiration")) is not None:
        noncurrent = given(detailed, "NoncurrentDays", "NewerNoncurrentVersions")
    if noncurrent:
        wanted["NoncurrentVersionExpiration"] = noncurrent
    if (abort := rule.get("AbortIncompleteMultipartUpload")) is not None:
        wanted["AbortIncompleteMultipartUpload"] = given(abort, "DaysAfterInitiation")
    if (transitions := rule.get("Transitions")) is not None:
        wanted["Transitions"] = [given(one, "StorageClass", Days="TransitionInDays", Date="TransitionDate") for one in transitions]
    if (transitions := rule.get("NoncurrentVersionTransitions")) is not None:
        wanted["NoncurrentVersionTransitions"] = [
            given(one, "StorageClass", "NewerNoncurrentVersions", NoncurrentDays="TransitionInDays") for one in transitions
        ]
    return wanted


def _lifecycle_filter(rule: Properties) -> dict[str, Any]:
    prefix = given(rule, "Prefix")
    tags = [{"Key": tag["Key"], "Value": tag["Value"]} for tag in rule.get("TagFilters") or ()]
    if not tags:
        return prefix or {"Prefix": ""}
    if len(tags) == 1 and not prefix:
        return {"Tag": tags[0]}
    return {"And": {**prefix, "Tags": tags}}


def _notification(properties: Properties) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    for theirs, kind, target, ours in (
        ("LambdaConfigurations", "LambdaFunctionConfigurations", "LambdaFunctionArn", "Function"),
        ("QueueConfigurations", "QueueConfigurations", "QueueArn", "Queue"),
        ("TopicConfigurations", "TopicConfigurations", "TopicArn", "Topic"),
    ):
        if (entries := properties.get(theirs)) is not None:
            wanted[kind] = [_notification_entry(entry, target, ours) for entry in entries]
    bridge = properties.get("EventBridgeConfiguration")
    if bridge is not None and boolean(bridge.get("EventBridgeEnabled", True)):
        wanted["EventBridgeConfiguration"] = {}
    return wanted


def _notification_entry(entry: Properties, target: str, ours: str) -> dict[str, Any]:
    wanted: dict[str, Any] = {target: entry[ours], "Events": [entry["Event"]]}
    if (condition := entry.get("Filter")) is not None:
        rules: Iterable[Properties] = condition["S3Key"]["Rules"]
        wanted["Filter"] = {"Key": {"FilterRules": [{"Name": rule["Name"], "Value": rule["Value"]} for rule in rules]}}
    return wanted


def _ownership(properties: Properties) -> dict[str, Any]:
    return {"Rules": [{"ObjectOwnership": rule["ObjectOwnership"]} for rule in properties["Rules"]]}


class Setting(NamedTuple):
    """A property of a bucket with the calls that set and remove it."""

    name: str
    put: str
    argument: str
    converted: Callable[[Any], dict[str, Any]]
    remove: str | dict[str, Any]
    """The call that removes it, or the value that stands for none."""

    def apply(self, s3: Any, bucket: str, old: Properties, new: Properties) -> None:
        """Set it to the new properties; remove it if only the old ones have it."""
        wanted = new.get(self.name)
        if wanted is not None:
            getattr(s3, self.put)(Bucket=bucket, **{self.argument: self.converted(wanted)})
        elif self.name in old and isinstance(self.remove, str):
            getattr(s3, self.remove)(Bucket=bucket)
        elif self.name in old:
            getattr(s3, self.put)(Bucket=bucket, **{self.argument: self.remove})


_LIFECYCLE, _OWNERSHIP, _VERSIONING = "LifecycleConfiguration", "OwnershipControls", "VersioningConfiguration"
_NOTIFICATION = "NotificationConfiguration"
_ENCRYPTION = "ServerSideEncryptionConfiguration"

SETTINGS = (
    Setting("Tags", "put_bucket_tagging", "Tagging", lambda tags: {"TagSet": tag_list(tags)}, "delete_bucket_tagging"),
    Setting(_VERSIONING, "put_bucket_versioning", _VERSIONING, lambda wanted: given(wanted, "Status"), {"Status": "Suspended"}),
    Setting("BucketEncryption", "put_bucket_encryption", _ENCRYPTION, _encryption, "delete_bucket_encryption"),
    Setting(_LIFECYCLE, "put_bucket_lifecycle_configuration", _LIFECYCLE, _lifecycle, "delete_bucket_lifecycle"),
    Setting(_OWNERSHIP, "put_bucket_ownership_controls", _OWNERSHIP, _ownership, "delete_bucket_ownership_controls"),
    Setting(_NOTIFICATION, "put_bucket_notification_configuration", _NOTIFICATION, _notification, {}),
)
