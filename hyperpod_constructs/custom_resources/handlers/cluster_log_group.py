"""Makes sure that a cluster's log group exists, and sets its retention and its key.

Nodes make the group when they first write to it, so it may be there before or after. It is never deleted: its events outlive the
cluster, as with the service alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from . import answers, resource
from .aws import LOOK_SECONDS, Patient, code, transient
from .errors import OperationError
from .resource import Done, Request, Resource, Undo

_PREFIX = "cluster-log-group|"
_GROUPS = "/aws/sagemaker/Clusters"


@dataclass(frozen=True, kw_only=True, slots=True)
class Properties:
    """The cluster, the days that events are kept (0: as they are), and the key (empty: as it is)."""

    cluster_arn: str
    retention_in_days: int = 0
    kms_key_arn: str = ""


class ClusterLogGroup(Resource[Properties]):
    """The log group of one cluster, by the cluster's ARN. A deletion leaves it as it is."""

    properties = Properties
    at_once = True

    def create(self, request: Request[Properties], undo: Undo) -> str:
        """The physical id, from the cluster's ARN. The work is done by `created`, so that it may be repeated."""
        return f"{_PREFIX}{request.properties.cluster_arn}"

    def update(self, physical_id: str, request: Request[Properties]) -> str:
        """The physical id; for another cluster it is another one."""
        return f"{_PREFIX}{request.properties.cluster_arn}"

    def delete(self, physical_id: str) -> None:
        """Nothing: the events stay."""

    def created(self, physical_id: str, request: Request[Properties]) -> Done:
        """Make the group unless it exists, and set what is wanted.

        :raises OperationError: if the cluster has no name, or the key cannot be used.
        """
        wanted, until = request.properties, request.started + LOOK_SECONDS
        sagemaker, logs = (Patient(self._clients(name), until, self._clock, self._sleep, _passes) for name in ("sagemaker", "logs"))
        group = f"{_GROUPS}/{_name(sagemaker, wanted.cluster_arn)}/{wanted.cluster_arn.rpartition('/')[2]}"
        try:
            logs.call("create_log_group", logGroupName=group)
        except ClientError as error:
            if code(error) != "ResourceAlreadyExistsException":
                raise
        if wanted.kms_key_arn:
            _encrypt(logs, group, wanted.kms_key_arn)
        if wanted.retention_in_days:
            logs.call("put_retention_policy", logGroupName=group, retentionInDays=wanted.retention_in_days)
        return Done({"Name": group})


def _encrypt(logs: Patient, group: str, key: str) -> None:
    """Encrypt new events. The operation's own name before a colon would read like a key with its value, which is redacted."""
    try:
        logs.call("associate_kms_key", logGroupName=group, kmsKeyId=key)
    except ClientError as error:
        raise OperationError(f"{group} was not encrypted: {error}") from error


def _passes(error: Exception) -> bool:
    """Whether the same call may succeed soon: the service is busy, or does not know the function's new policy yet."""
    return transient(error) or code(error) in ("AccessDenied", "AccessDeniedException")


def _name(sagemaker: Patient, arn: str) -> str:
    """The name of a cluster, which its ARN lacks."""
    answer: Mapping[str, Any] = sagemaker.call("describe_cluster", ClusterName=arn)
    name = answers.text(answer, "ClusterName")
    if not name:
        raise OperationError(f"DescribeCluster shows no name of {arn}")
    return name


LOG_GROUP = ClusterLogGroup()


def on_event(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Lambda entry: the whole operation."""
    return resource.on_event(LOG_GROUP, event, context=context)
