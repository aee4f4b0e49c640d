"""The CloudFormation type AWS::SageMaker::Cluster, over the SageMaker API."""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.facts import clusters, updates
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.changes import tag_changes
from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.provider import Provisioned
from hyperpod_constructs.local.stable import Properties, StableProvider, request

BUSY = ("Creating", "Updating", "RollingBack", "SystemUpdating")


class ClusterProvider(StableProvider):
    """Creates, updates and deletes clusters. `Ref` is the ARN, as on AWS.

    A cluster without ClusterName is named after the stack and the logical id. Members that only the API has are not read, so that
    the engine refuses them, as CloudFormation does.
    """

    type_name = "AWS::SageMaker::Cluster"
    service = "sagemaker"
    status, ready, busy, undeletable = "ClusterStatus", "InService", BUSY, ("Deleting", *BUSY)
    missing = "ResourceNotFound"

    def __init__(self, clients: Clients, timeout: float = clusters.HANDLER_HOURS * 3600.0) -> None:
        super().__init__(clients, timeout)

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Update in place. Groups that are gone from the template are deleted; tags change by tag operations.

        :raises AwsError: if NodeProvisioningMode is taken away: UpdateCluster would say nothing and keep it.
        """
        sagemaker = self._client(caller)
        self._stable(sagemaker, physical_id)
        before, after = _settings(sagemaker, old), _settings(sagemaker, new)
        fixed = "NodeProvisioningMode" in updates.fixed(self.type_name)
        if fixed and "NodeProvisioningMode" in before and "NodeProvisioningMode" not in after:
            raise AwsError(
                "ValidationException",
                f"NodeProvisioningMode {before['NodeProvisioningMode']} of {physical_id} cannot be taken away:"
                f" {clusters.MODE_TAKEN_AWAY}; keep it, or create a new cluster",
            )
        if before != after:
            unchanged = (
                {"NodeProvisioningMode"} if before.get("NodeProvisioningMode") == after.get("NodeProvisioningMode") else set()
            )
            change = {key: value for key, value in after.items() if key not in unchanged}
            gone = sorted(_groups(before) - _groups(after))
            if gone:
                change["InstanceGroupsToDelete"] = gone
            sagemaker.update_cluster(ClusterName=physical_id, **change)
            self._check_updated(sagemaker, physical_id)
        changed, removed = tag_changes(_tags(sagemaker, old), _tags(sagemaker, new))
        if changed:
            sagemaker.add_tags(ResourceArn=physical_id, Tags=changed)
        if removed:
            sagemaker.delete_tags(ResourceArn=physical_id, TagKeys=removed)
        return self._provisioned(self._stable(sagemaker, physical_id))

    def _check_updated(self, sagemaker: Any, arn: str) -> None:
        cluster = self._stable(sagemaker, arn)
        if cluster["ClusterStatus"] != "InService" or cluster.get("FailureMessage"):
            raise self._failure(cluster)

    def _create(self, client: Any, properties: Properties, logical_id: str, stack: str) -> str:
        wanted = request(client, "CreateCluster", properties)
        wanted.setdefault("ClusterName", _generated_name(stack, logical_id))
        return str(client.create_cluster(**wanted)["ClusterArn"])

    def _describe(self, client: Any, identifier: str) -> Any:
        return client.describe_cluster(ClusterName=identifier)

    def _delete(self, client: Any, identifier: str) -> None:
        client.delete_cluster(ClusterName=identifier)

    def _failure(self, described: Mapping[str, Any]) -> AwsError:
        cause = described.get("FailureMessage", f"it is {described['ClusterStatus']}")
        name = described["ClusterName"]
        return AwsError("NotStabilized", f"Resource of type '{self.type_name}' with name {name} failed: {cause}")

    def _provisioned(self, described: Mapping[str, Any]) -> Provisioned:
        attributes = {
            "ClusterArn": described["ClusterArn"],
            "ClusterStatus": described["ClusterStatus"],
            "CreationTime": described["CreationTime"].isoformat(),
            "FailureMessage": described.get("FailureMessage", ""),
        }
        return Provisioned(described["ClusterArn"], attributes)


def _settings(sagemaker: Any, properties: Mapping[str, Any]) -> dict[str, Any]:
    """What UpdateCluster can be told of the properties."""
    return {key: value for key, value in request(sagemaker, "UpdateCluster", properties).items() if key != "ClusterName"}


def _tags(sagemaker: Any, properties: Mapping[str, Any]) -> list[dict[str, str]]:
    return list(request(sagemaker, "CreateCluster", properties).get("Tags", ()))


def _groups(settings: Mapping[str, Any]) -> set[str]:
    return {spec["InstanceGroupName"] for spec in settings.get("InstanceGroups", ())}


def _generated_name(stack: str, logical_id: str) -> str:
    words = [re.sub("[^a-zA-Z0-9]+", "-", word).strip("-")[:24].strip("-") for word in (stack, logical_id)]
    suffix = "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(12))
    return "-".join([*filter(None, words), suffix])
