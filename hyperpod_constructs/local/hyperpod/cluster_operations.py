"""Operations of a cluster, as ListClusterOperations has them: requests that scale groups or check nodes.

Scaling is noted with continuous provisioning, where a request answers before its work is done. The documentation does not settle
these, so they are decided here: a group is done when it has its count and no node leaves, and superseded when another request has
changed its count; an operation is superseded when all of its groups are, and done when none is under way. Operations are kept as
long as their cluster, not 14 days.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-cluster-operations.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.hyperpod.state import Cluster, ClusterOperation, LiveGroup, Scaling
from hyperpod_constructs.local.paging import page
from hyperpod_constructs.local.times import between, moment, second_of

Counts = dict[str, int]

_UNDER_WAY, _SUPERSEDED, _DONE = "InProgress", "Superseded", "Done"


def counts(cluster: Cluster) -> dict[str, Counts]:
    """The counts of the groups that stay, by their names."""
    return {name: _counts(group) for name, group in cluster.groups.items() if group.status != "Deleting"}


def note_scaling(cluster: Cluster, before: Mapping[str, Counts], now: float) -> None:
    """Note an operation for the groups whose counts a request has changed."""
    after = counts(cluster)
    nothing = {"CurrentCount": 0, "TargetCount": 0}
    changed = []
    for name in {**before, **after}:
        old, new = before.get(name, nothing), after.get(name, nothing)
        if old["TargetCount"] != new["TargetCount"]:
            changed.append(Scaling(name, old, {key: value for key, value in new.items() if key != "CurrentCount"}))
    if changed and cluster.continuous:
        cluster.operations.append(ClusterOperation("Scaling", now, scaling=changed))


def advance(cluster: Cluster) -> None:
    """Note which scaling operations have ended."""
    for operation in cluster.operations:
        if operation.kind == "Scaling" and operation.status == _UNDER_WAY:
            for scaling in operation.scaling:
                if scaling.status == _UNDER_WAY:
                    scaling.status = _state(cluster.groups.get(scaling.group), scaling.desired["TargetCount"])
            states = {scaling.status for scaling in operation.scaling}
            if _UNDER_WAY not in states:
                operation.status = _DONE if _DONE in states else _SUPERSEDED


def list_operations(cluster: Cluster, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of ListClusterOperations, the newest first unless asked otherwise."""
    after, before = second_of(asked.get("CreationTimeAfter")), second_of(asked.get("CreationTimeBefore"))
    found = [
        operation
        for operation in cluster.operations
        if asked.get("Type") in (None, operation.kind)
        and asked.get("Status") in (None, operation.status)
        and between(operation.created, after, before)
    ]
    if asked.get("SortOrder", "Descending") == "Descending":
        found.reverse()
    chosen, following = page(found, asked, 100, "ValidationException")
    return {"ClusterOperationSummaries": [_summary(cluster, operation) for operation in chosen], **following}


def describe_operation(cluster: Cluster, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of DescribeClusterOperation.

    :raises AwsError: if the cluster has no such operation.
    """
    wanted = asked["OperationId"]
    operation = next((operation for operation in cluster.operations if operation.operation_id == wanted), None)
    if operation is None:
        raise AwsError("ResourceNotFound", f"Operation {wanted} not found in cluster {cluster.name}.")
    details = [
        {"InstanceGroupName": one.group, "Status": one.status, "Original": one.original, "Desired": one.desired}
        for one in operation.scaling
    ]
    scaling = {"ScalingDetails": details} if details else {}
    checks = {"DeepHealthCheckDetails": operation.checks} if operation.checks else {}
    return {**_summary(cluster, operation), **scaling, **checks}


def _counts(group: LiveGroup) -> Counts:
    found = {"CurrentCount": group.running, "TargetCount": group.target}
    return found | ({"MinCount": group.spec["MinInstanceCount"]} if "MinInstanceCount" in group.spec else {})


def _state(group: LiveGroup | None, wanted: int) -> str:
    if group is None or group.status == "Deleting":
        return _DONE if wanted == 0 and group is None else _UNDER_WAY if wanted == 0 else _SUPERSEDED
    if group.target != wanted:
        return _SUPERSEDED
    return _DONE if group.running == wanted == len(group.nodes) else _UNDER_WAY


def _summary(cluster: Cluster, operation: ClusterOperation) -> dict[str, Any]:
    return {
        "OperationId": operation.operation_id,
        "ClusterArn": cluster.arn,
        "Type": operation.kind,
        "Status": operation.status,
        "CreationTime": moment(operation.created),
    }
