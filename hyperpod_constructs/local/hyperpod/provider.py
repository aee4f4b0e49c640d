"""The CloudFormation type AWS::SageMaker::Cluster, over the SageMaker API."""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.facts import clusters
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.changes import tag_changes
from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.hyperpod.restricted import specs_of
from hyperpod_constructs.local.hyperpod.rules import check_kept
from hyperpod_constructs.local.hyperpod.update_rules import deployments
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

        A changed image of a group is a software update, in the batches and with the alarms of its ScheduledUpdateConfig, or else of
        its AutoPatchConfig. AWS does not say which of them its own handler takes.

        :raises AwsError: if something is taken away that stays: UpdateCluster would say nothing and keep it.
        """
        sagemaker = self._client(caller)
        self._stable(sagemaker, physical_id)
        before, after = _settings(sagemaker, old), _settings(sagemaker, new)
        check_kept(before, after, physical_id)
        if before != after:
            unchanged = (
                {"NodeProvisioningMode"} if before.get("NodeProvisioningMode") == after.get("NodeProvisioningMode") else set()
            )
            change = {key: value for key, value in after.items() if key not in unchanged}
            gone = sorted(_by_name(before).keys() - _by_name(after).keys())
            if gone:
                change["InstanceGroupsToDelete"] = gone
            sagemaker.update_cluster(ClusterName=physical_id, **change)
            self._check_updated(sagemaker, physical_id)
            self._update_software(sagemaker, physical_id, _by_name(before), _by_name(after))
        changed, removed = tag_changes(_tags(sagemaker, old), _tags(sagemaker, new))
        if changed:
            sagemaker.add_tags(ResourceArn=physical_id, Tags=changed)
        if removed:
            sagemaker.delete_tags(ResourceArn=physical_id, TagKeys=removed)
        return self._provisioned(self._stable(sagemaker, physical_id))

    def _update_software(self, sagemaker: Any, arn: str, old: Mapping[str, Properties], new: Mapping[str, Properties]) -> None:
        """Bring running nodes to the images that the update has changed: one request for each way to deploy."""
        images = {item["InstanceGroupName"]: _image(item, "Current") for item in self._describe(sagemaker, arn)["InstanceGroups"]}
        requests: dict[str, dict[str, Any]] = {}
        for name in new:
            if name in old and _image(old[name]) != _image(new[name]) != images[name]:
                how = _deployment(old[name], new[name])
                version = {key: value for key, value in new[name].items() if key == "ImageReleaseVersion"}
                requests.setdefault(repr(how), {**how, "InstanceGroups": []})["InstanceGroups"].append(
                    {"InstanceGroupName": name, **version}
                )
        for wanted in requests.values():
            sagemaker.update_cluster_software(ClusterName=arn, **wanted)
            self._check_updated(sagemaker, arn)

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


def _by_name(settings: Mapping[str, Any]) -> dict[str, Properties]:
    return {spec["InstanceGroupName"]: spec for spec in specs_of(settings)}


def _image(group: Properties, prefix: str = "") -> tuple[str | None, str | None]:
    return group.get(f"{prefix}ImageId"), group.get(f"{prefix}ImageReleaseVersion")


def _deployment(old: Properties, new: Properties) -> dict[str, Any]:
    """The members of UpdateClusterSoftware that are the same for all of its groups. A group that names an image no more gets the
    default one.
    """
    how = {"ImageId": new.get("ImageId", "default")} if "ImageId" in old or "ImageId" in new else {}
    configs = [config for _, config in deployments(new)]
    return {**how, "DeploymentConfig": configs[0]} if configs else how


def _generated_name(stack: str, logical_id: str) -> str:
    words = [re.sub("[^a-zA-Z0-9]+", "-", word).strip("-")[:24].strip("-") for word in (stack, logical_id)]
    suffix = "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(12))
    return "-".join([*filter(None, words), suffix])
