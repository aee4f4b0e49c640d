"""The operations on a cluster's events; only clusters that provision continuously have some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.hyperpod.rules import refusal
from hyperpod_constructs.local.hyperpod.state import Cluster, Event
from hyperpod_constructs.local.hyperpod.views import describe_event, summarize_event
from hyperpod_constructs.local.paging import page
from hyperpod_constructs.local.times import between, second_of


def list_events(cluster: Cluster, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of ListClusterEvents, the newest first unless asked otherwise."""
    _require_events(cluster)
    after, before = second_of(asked.get("EventTimeAfter")), second_of(asked.get("EventTimeBefore"))
    kind, group, node = (asked.get(key) for key in ("ResourceType", "InstanceGroupName", "NodeId"))
    found = [
        event
        for event in cluster.events
        if between(event.time, after, before)
        and kind in (None, event.resource_type)
        and group in (None, event.group)
        and node in (None, event.instance_id)
    ]
    if asked.get("SortOrder", "Descending") == "Descending":
        found.reverse()
    events, following = page(found, asked, 100, "ValidationException")
    return {"Events": [summarize_event(cluster, event) for event in events], **following}


def describe(cluster: Cluster, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of DescribeClusterEvent.

    :raises AwsError: if the cluster has no such event.
    """
    _require_events(cluster)
    wanted = asked["EventId"]
    event: Event | None = next((event for event in cluster.events if event.event_id == wanted), None)
    if event is None:
        raise AwsError("ResourceNotFound", f"Event {wanted} not found in cluster {cluster.name}.")
    return describe_event(cluster, event)


def _require_events(cluster: Cluster) -> None:
    if not cluster.continuous:
        raise refusal(
            f"This functionality is only supported when the NodeProvisioningMode is set to Continuous: {cluster.name} is not"
        )
