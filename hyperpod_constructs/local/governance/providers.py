"""The CloudFormation types AWS::SageMaker::ClusterSchedulerConfig and AWS::SageMaker::ComputeQuota, over the SageMaker API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from botocore import xform_name

from hyperpod_constructs.facts import updates
from hyperpod_constructs.facts.governance import COMPUTE_QUOTA, SCHEDULER_CONFIG
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.changes import changed, tag_changes
from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.provider import Provisioned
from hyperpod_constructs.local.stable import Properties, StableProvider, request

HANDLER_SECONDS = 7200.0


class _PolicyProvider(StableProvider):
    service = "sagemaker"
    noun: ClassVar[str]
    status, ready, busy, undeletable = "Status", "Created", ("Creating", "Updating"), ("Creating", "Updating", "Deleting")
    undeleted, missing = "DeleteFailed", "ResourceNotFound"

    def __init__(self, clients: Clients, timeout: float = HANDLER_SECONDS) -> None:
        super().__init__(clients, timeout)

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Update the newest version in place, and the tags. A change of a property that only a creation sets deletes the old
        resource first; CloudFormation asks for that only where the type says so.
        """
        client = self._client(caller)
        if any(changed(old, new, path.split("/")) for path in updates.replacing(self.type_name)):
            self.delete(physical_id, old, caller)
            return self.create(new, "", stack, caller)
        described = self._stable(client, physical_id)
        before, after = (self._settings(client, each) for each in (old, new))
        if before != after:
            gone = {"Description": ""} if "Description" in before.keys() - after.keys() else {}
            version = {"TargetVersion": described[f"{self.noun}Version"]}
            getattr(client, xform_name(f"Update{self.noun}"))(**self._identified(physical_id), **version, **after, **gone)
            described = self._stable(client, physical_id)
            if described["Status"] != "Updated":
                raise self._failure(described)
        changes, removed = tag_changes(self._tags(client, old), self._tags(client, new))
        if changes:
            client.add_tags(ResourceArn=physical_id, Tags=changes)
        if removed:
            client.delete_tags(ResourceArn=physical_id, TagKeys=removed)
        return self._provisioned(described)

    def _create(self, client: Any, properties: Properties, logical_id: str, stack: str) -> str:
        operation = f"Create{self.noun}"
        return str(getattr(client, xform_name(operation))(**request(client, operation, properties))[f"{self.noun}Arn"])

    def _describe(self, client: Any, identifier: str) -> Any:
        return getattr(client, xform_name(f"Describe{self.noun}"))(**self._identified(identifier))

    def _delete(self, client: Any, identifier: str) -> None:
        getattr(client, xform_name(f"Delete{self.noun}"))(**self._identified(identifier))

    def _identified(self, arn: str) -> dict[str, str]:
        return {f"{self.noun}Id": arn.rpartition("/")[2]}

    def _settings(self, client: Any, properties: Properties) -> dict[str, Any]:
        return request(client, f"Update{self.noun}", properties)

    def _tags(self, client: Any, properties: Properties) -> list[dict[str, str]]:
        return list(request(client, f"Create{self.noun}", properties).get("Tags", ()))

    def _failure(self, described: Mapping[str, Any]) -> AwsError:
        cause = described.get("FailureReason", f"it is {described['Status']}")
        return AwsError("NotStabilized", f"Resource of type '{self.type_name}' with name {described['Name']} failed: {cause}")

    def _provisioned(self, described: Mapping[str, Any]) -> Provisioned:
        names = ("Arn", "Id", "Version")
        attributes = {f"{self.noun}{name}": str(described[f"{self.noun}{name}"]) for name in names}
        times = {name: described[name].isoformat() for name in self.times}
        return Provisioned(described[f"{self.noun}Arn"], {**attributes, **times, "Status": described["Status"]})

    times: ClassVar[tuple[str, ...]]


class SchedulerConfigProvider(_PolicyProvider):
    """Creates, updates and deletes scheduling policies. `Ref` is the ARN."""

    type_name, noun, times = SCHEDULER_CONFIG, "ClusterSchedulerConfig", ("CreationTime",)


class ComputeQuotaProvider(_PolicyProvider):
    """Creates, updates and deletes quotas. `Ref` is the ARN. A replacement deletes the old quota first, as on AWS."""

    type_name, noun, times = COMPUTE_QUOTA, "ComputeQuota", ("CreationTime", "LastModifiedTime")
