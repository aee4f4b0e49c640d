"""What a destroyed stack has left behind, and a stack that has a cluster: the part of the fleet that CloudFormation remembers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.cli.operate.conftest import ARN

FOUNDATION = "arn:aws:cloudformation:us-west-2:111122223333:stack/HyperPod-Foundation/0a1b2c3d"
LUSTRE, BUCKET, LOG_GROUP, KEY, GROUP = "fs-0123456789", "data-bucket", "/rejected", "1234abcd-12ab-34cd-56ef-1234567890ab", "sg-9"
NODE_LOGS = "/aws/sagemaker/Clusters/old/abc123def456"

_GONE = datetime.now(UTC) - timedelta(days=3)
_TYPES = {
    LUSTRE: ("Lustre", "AWS::FSx::FileSystem"),
    BUCKET: ("Data", "AWS::S3::Bucket"),
    LOG_GROUP: ("Traffic", "AWS::Logs::LogGroup"),
    KEY: ("Key", "AWS::KMS::Key"),
    GROUP: ("Group", "AWS::EC2::SecurityGroup"),
}
_TAG = "aws:cloudformation:stack-id"
_TAGS = [{"Key": _TAG, "Value": FOUNDATION}]
_NETWORK = "arn:aws:cloudformation:us-west-2:111122223333:stack/Network/4e5f6a7b"
_OWNED = {"VpcConfig": {"Fn::ImportValue": "Network:Subnet"}}


DENIED = "AccessDeniedException"


class RefusalError(Exception):
    """An answer with an error code."""


class Remembered:
    """The answers of CloudFormation and of the services that have what was left behind.

    :ivar owned: whether a stack has the cluster; it imports from another.
    :ivar there: ids of what is left behind, until it is deleted.
    """

    def __init__(self, *, owned: bool) -> None:
        self.owned = owned
        self.there = {*_TYPES, NODE_LOGS}
        self.objects = [{"Key": "step", "VersionId": "one"}]

    def _found(self, id: str, code: str) -> None:
        if id not in self.there:
            raise RefusalError(code, "it is gone")

    def _describe_stack_resources(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        id = asked["PhysicalResourceId"]
        if not self.owned or id != ARN:
            raise RefusalError("ValidationError", f"Stack for {id} does not exist")
        resource = {"StackName": "Trainer", "LogicalResourceId": "Cluster", "PhysicalResourceId": id}
        return {"StackResources": [{**resource, "ResourceStatus": "CREATE_COMPLETE"}]}

    def _get_template(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        resources: dict[str, Any] = {}
        if asked["StackName"] == FOUNDATION:
            resources = {name: {"Type": type, "DeletionPolicy": "Retain", "Properties": {}} for name, type in _TYPES.values()}
        elif asked["StackName"] == "Trainer":
            resources = {"Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": _OWNED}}
        return {"TemplateBody": json.dumps({"Resources": resources})}

    def _list_exports(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"Exports": [{"Name": "Network:Subnet", "ExportingStackId": _NETWORK, "Value": "subnet-1"}]}

    def _list_stacks(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        stack = {"StackId": FOUNDATION, "StackName": "HyperPod-Foundation", "StackStatus": "DELETE_COMPLETE"}
        return {"StackSummaries": [{**stack, "CreationTime": _GONE, "DeletionTime": _GONE}]}

    def _describe_stack_events(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        kept = [(*named, id, "DELETE_SKIPPED") for id, named in _TYPES.items()]
        old = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abc123def456"
        told = [*kept, ("Cluster", "AWS::SageMaker::Cluster", old, "DELETE_COMPLETE")]
        keys = ("LogicalResourceId", "ResourceType", "PhysicalResourceId", "ResourceStatus")
        return {"StackEvents": [dict(zip(keys, one, strict=True)) for one in told]}

    def _describe_file_systems(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        self._found(asked["FileSystemIds"][0], "FileSystemNotFound")
        return {"FileSystems": [{"FileSystemType": "LUSTRE", "StorageCapacity": 1200, "Tags": _TAGS}]}

    def _get_metric_statistics(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"Datapoints": [{"Timestamp": _GONE, "Sum": 312e9}]}

    def _head_bucket(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if asked["Bucket"] != BUCKET:
            raise RefusalError(DENIED, "User: x is not authorized to perform: s3:ListBucket on resource: *")
        self._found(BUCKET, "404")
        return {}

    def _get_bucket_tagging(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"TagSet": _TAGS}

    def _list_object_versions(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"Versions": list(self.objects)}

    def _delete_objects(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        self.objects.clear()
        return {}

    def _describe_log_groups(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        names = sorted(
            name for name in (LOG_GROUP, NODE_LOGS) if name in self.there and name.startswith(asked["logGroupNamePrefix"])
        )
        arn = "arn:aws:logs:us-west-2:111122223333:log-group"
        return {"logGroups": [{"logGroupName": name, "arn": f"{arn}:{name}:*", "storedBytes": 16_000} for name in names]}

    def _list_tags_for_resource(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"tags": {_TAG: FOUNDATION} if asked["resourceArn"].endswith(LOG_GROUP) else {}}

    def _describe_key(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"KeyMetadata": {"KeyId": KEY, "KeyState": "Enabled" if KEY in self.there else "PendingDeletion"}}

    def _list_resource_tags(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"Tags": [], "Truncated": False}

    def _describe_security_groups(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        self._found(asked["GroupIds"][0], "InvalidGroup.NotFound")
        return {"SecurityGroups": [{"GroupId": GROUP, "Tags": _TAGS}]}

    def _describe_network_interfaces(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"NetworkInterfaces": []}

    def _delete_thing(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        self.there -= {value for value in asked.values() if isinstance(value, str)}
        return {}

    _delete_file_system = _delete_bucket = _delete_log_group = _schedule_key_deletion = _delete_security_group = _delete_thing
