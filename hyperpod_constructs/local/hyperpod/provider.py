"""The CloudFormation type AWS::SageMaker::Cluster, over the SageMaker API."""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.conversion import parameters
from hyperpod_constructs.local.provider import Provisioned
from hyperpod_constructs.local.service import AwsError, Caller
from hyperpod_constructs.local.tagging import tag_changes
from hyperpod_constructs.local.waiting import wait

HANDLER_SECONDS = 12 * 3600.0
"""How long CloudFormation waits for a cluster."""

BUSY = ("Creating", "Updating", "RollingBack", "SystemUpdating")


class ClusterProvider:
    """Creates, updates and deletes clusters. `Ref` is the ARN, as on AWS.

    A cluster without ClusterName is named after the stack and the logical id. Members that only the API has are not read, so that
    the engine refuses them, as CloudFormation does.
    """

    type_name = "AWS::SageMaker::Cluster"
    create_only = frozenset({"ClusterName", "VpcConfig", "Orchestrator.Eks"})

    def __init__(self, clients: Clients, timeout: float = HANDLER_SECONDS) -> None:
        self._clients = clients
        self._timeout = timeout

    def create(self, properties: Mapping[str, Any], logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create a cluster and wait until it is InService; one that fails is deleted, and the error tells its FailureMessage."""
        sagemaker = self._clients("sagemaker", caller)
        request = _request(sagemaker, "CreateCluster", properties)
        request.setdefault("ClusterName", _generated_name(stack, logical_id))
        arn = str(sagemaker.create_cluster(**request)["ClusterArn"])
        cluster = self._stable(sagemaker, arn)
        if cluster["ClusterStatus"] != "InService":
            self.delete(arn, properties, caller)
            raise _failure(cluster)
        return _provisioned(cluster)

    def update(self, physical_id: str, old: Mapping[str, Any], new: Mapping[str, Any], stack: str, caller: Caller) -> Provisioned:
        """Update in place. Groups that are gone from the template are deleted; tags change by tag operations.

        Raises AwsError if NodeProvisioningMode is taken away: UpdateCluster would say nothing and keep it.
        """
        sagemaker = self._clients("sagemaker", caller)
        self._stable(sagemaker, physical_id)
        before, after = _settings(sagemaker, old), _settings(sagemaker, new)
        if "NodeProvisioningMode" in before and "NodeProvisioningMode" not in after:
            raise AwsError(
                "ValidationException",
                f"NodeProvisioningMode {before['NodeProvisioningMode']} of {physical_id} cannot be taken away; keep it,"
                " or create a new cluster",
            )
        if before != after:
            unchanged = (
                {"NodeProvisioningMode"} if before.get("NodeProvisioningMode") == after.get("NodeProvisioningMode") else set()
            )
            request = {key: value for key, value in after.items() if key not in unchanged}
            gone = sorted(_groups(before) - _groups(after))
            if gone:
                request["InstanceGroupsToDelete"] = gone
            sagemaker.update_cluster(ClusterName=physical_id, **request)
            self._check_updated(sagemaker, physical_id)
        changed, removed = tag_changes(_tags(sagemaker, old), _tags(sagemaker, new))
        if changed:
            sagemaker.add_tags(ResourceArn=physical_id, Tags=changed)
        if removed:
            sagemaker.delete_tags(ResourceArn=physical_id, TagKeys=removed)
        return _provisioned(self._stable(sagemaker, physical_id))

    def delete(self, physical_id: str, properties: Mapping[str, Any], caller: Caller) -> None:
        """Delete the cluster and wait until it is gone."""
        sagemaker = self._clients("sagemaker", caller)

        def gone() -> bool | None:
            try:
                status = sagemaker.describe_cluster(ClusterName=physical_id)["ClusterStatus"]
                if status not in ("Deleting", *BUSY):
                    sagemaker.delete_cluster(ClusterName=physical_id)
            except ClientError as error:
                code = error.response["Error"]["Code"]
                if code == "ResourceNotFound":
                    return True
                if code != "ConflictException":
                    raise
            return None

        wait(gone, self._timeout, f"the deletion of {physical_id}")

    def _check_updated(self, sagemaker: Any, arn: str) -> None:
        cluster = self._stable(sagemaker, arn)
        if cluster["ClusterStatus"] != "InService" or cluster.get("FailureMessage"):
            raise _failure(cluster)

    def _stable(self, sagemaker: Any, arn: str) -> Mapping[str, Any]:
        def described() -> Mapping[str, Any] | None:
            cluster: Mapping[str, Any] = sagemaker.describe_cluster(ClusterName=arn)
            return None if cluster["ClusterStatus"] in BUSY else cluster

        return wait(described, self._timeout, arn)


def _request(sagemaker: Any, operation: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return parameters(sagemaker.meta.service_model.operation_model(operation).input_shape, properties)


def _settings(sagemaker: Any, properties: Mapping[str, Any]) -> dict[str, Any]:
    """What UpdateCluster can be told of the properties."""
    return {key: value for key, value in _request(sagemaker, "UpdateCluster", properties).items() if key != "ClusterName"}


def _tags(sagemaker: Any, properties: Mapping[str, Any]) -> list[dict[str, str]]:
    return list(_request(sagemaker, "CreateCluster", properties).get("Tags", ()))


def _groups(request: Mapping[str, Any]) -> set[str]:
    return {spec["InstanceGroupName"] for spec in request.get("InstanceGroups", ())}


def _generated_name(stack: str, logical_id: str) -> str:
    words = [re.sub("[^a-zA-Z0-9]+", "-", word).strip("-")[:24].strip("-") for word in (stack, logical_id)]
    suffix = "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(12))
    return "-".join([*filter(None, words), suffix])


def _failure(cluster: Mapping[str, Any]) -> AwsError:
    cause = cluster.get("FailureMessage", f"it is {cluster['ClusterStatus']}")
    return AwsError(
        "NotStabilized", f"Resource of type 'AWS::SageMaker::Cluster' with name {cluster['ClusterName']} failed: {cause}"
    )


def _provisioned(cluster: Mapping[str, Any]) -> Provisioned:
    attributes = {
        "ClusterArn": cluster["ClusterArn"],
        "ClusterStatus": cluster["ClusterStatus"],
        "CreationTime": cluster["CreationTime"].isoformat(),
        "FailureMessage": cluster.get("FailureMessage", ""),
    }
    return Provisioned(cluster["ClusterArn"], attributes)
