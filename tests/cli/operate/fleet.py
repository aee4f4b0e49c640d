"""An account with clusters and nodes in memory: a double behind real boto3 clients, which check each request by the models.

It pages, filters and refuses as the service does, notes every call, and has the faults that a test wants.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import boto3
from botocore import xform_name

from tests.cli.operate.conftest import ARN, CLUSTER, SUBNETS, node
from tests.cli.operate.left_behind import DENIED, RefusalError, Remembered

__all__ = ["DENIED", "Call", "Fleet", "RefusalError"]

ROLE = "arn:aws:iam::111122223333:role/nodes"
_ACTIONS = {
    "monitoring:GetMetricStatistics": "cloudwatch:GetMetricStatistics",
    "s3:DeleteObjects": "s3:DeleteObjectVersion",
    "s3:HeadBucket": "s3:ListBucket",
    "s3:ListObjectVersions": "s3:ListBucketVersions",
}


class Call(NamedTuple):
    """A call: the prefix of its IAM action, its operation, and its parameters."""

    service: str
    operation: str
    parameters: Mapping[str, Any]

    @property
    def action(self) -> str:
        name = f"{self.service}:{self.operation}"
        return _ACTIONS.get(name, name)


class Fleet(Remembered):
    """The clusters of an account, one of them `trainer`, whose group `workers` has all nodes but the controller.

    :ivar calls: every call, in order.
    :ivar before: called before each answer, with the number of earlier calls; what it raises comes in the answer's place.
    """

    account = "111122223333"
    region = "us-west-2"
    nodes = False

    def __init__(
        self, *, clusters: int = 1, workers: int = 2, programs: Path | None = None, owned: bool = False, **members: Any
    ) -> None:
        super().__init__(owned=owned)
        self.calls: list[Call] = []
        self.before: Callable[[int, Call], None] = lambda number, call: None
        self.clusters = [f"cluster-{number}" for number in range(clusters - 1)] + ["trainer"][:clusters]
        self.listed = [*(self._named(number + 2) for number in range(workers)), self._named(1, "controller")] if clusters else []
        self.members, self._programs = members, programs
        self.lines: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self.created = datetime(2026, 11, 1, tzinfo=UTC)

    def fail(self) -> None:
        """Let a node fail, and record it as an event."""
        self.listed[1]["InstanceStatus"]["Status"] = "Failure"
        time = self.listed[0]["LaunchTime"]
        self.events = [{**_EVENT, "EventTime": time, "EventLevel": "Error", "Description": "failed"}]

    def client(self, service: str) -> Any:
        client, relay = _client(service)
        relay.fleet = self
        return client

    def environment(self) -> dict[str, str]:
        path = os.environ["PATH"] if self._programs is None else f"{self._programs}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "PATH": path}

    def counted(self) -> Counter[str]:
        """The calls by operation."""
        return Counter(call.operation for call in self.calls)

    def answer(self, call: Call) -> dict[str, Any]:
        """The answer to a call.

        :raises RefusalError: for what is not there, and for what this account does not know.
        """
        self.calls.append(call)
        self.before(len(self.calls) - 1, call)
        known: Callable[[Mapping[str, Any]], dict[str, Any]] | None = getattr(self, f"_{xform_name(call.operation)}", None)
        if known is None:
            raise RefusalError(DENIED, f"User: x is not authorized to perform: {call.action} on resource: *")
        return known(call.parameters)

    @staticmethod
    def _named(number: int, group: str = "workers") -> dict[str, Any]:
        address = f"ip-10-{1 + number // 65536}-{number // 256 % 256}-{number % 256}"
        return node(number, group, PrivateDnsHostname=f"{address}.us-west-2.compute.internal")

    def _list_clusters(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        names, common = sorted(self.clusters), {"CreationTime": self.created, "ClusterStatus": "InService"}
        return _paged(asked, "ClusterSummaries", [{**common, "ClusterName": name, "ClusterArn": _arn(name)} for name in names])

    def _describe_cluster(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if asked["ClusterName"] not in ("trainer", ARN) or "trainer" not in self.clusters:
            raise RefusalError("ResourceNotFound", "there is no such cluster")
        workers = sum(one["InstanceGroupName"] == "workers" for one in self.listed)
        controller, group = ({**found, "ExecutionRole": ROLE} for found in CLUSTER["InstanceGroups"])
        return {
            **CLUSTER,
            "InstanceGroups": [controller, {**group, "CurrentCount": workers, "TargetCount": workers}],
            **self.members,
        }

    def _list_cluster_nodes(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        part = asked.get("InstanceGroupNameContains")
        found = self.listed if part is None else [one for one in self.listed if part in one["InstanceGroupName"]]
        return _paged(asked, "ClusterNodeSummaries", found)

    def _describe_cluster_node(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        found = next((one for one in self.listed if one["InstanceId"] == asked["NodeId"]), None)
        if found is None:
            raise RefusalError("ResourceNotFound", "there is no such node")
        zone = SUBNETS["Subnets"][int(found["InstanceGroupName"] == "workers")]
        return {"NodeDetails": {**found, "Placement": {key: zone[key] for key in ("AvailabilityZone", "AvailabilityZoneId")}}}

    def _list_cluster_events(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return _paged(asked, "Events", self.events)

    def _describe_cluster_event(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"EventDetails": next(event for event in self.events if event["EventId"] == asked["EventId"])}

    def _batch_reboot_cluster_nodes(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"Successful": asked["NodeIds"]}

    _batch_replace_cluster_nodes = _batch_delete_cluster_nodes = _batch_reboot_cluster_nodes

    def _start_cluster_health_check(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"ClusterArn": ARN}

    _update_cluster_software = _update_cluster = _start_cluster_health_check

    def _describe_training_plan(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {**_PLAN, "AvailableInstanceCount": 6, "TotalInstanceCount": 8}

    def _list_training_plans(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"TrainingPlanSummaries": [_PLAN]}

    def _search_training_plan_offerings(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        block = {"InstanceType": asked["InstanceType"], "InstanceCount": asked["InstanceCount"], "AvailabilityZone": "us-west-2a"}
        offer = {"TrainingPlanOfferingId": "tpo-1", "TargetResources": ["hyperpod-cluster"], "UpfrontFee": "1000.00"}
        return {"TrainingPlanOfferings": [{**offer, "CurrencyCode": "USD", "ReservedCapacityOfferings": [block]}]}

    def _describe_availability_zones(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"AvailabilityZones": [{"ZoneName": "us-west-2a", "ZoneId": "usw2-az2"}]}

    def _describe_subnets(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"Subnets": [{**one, "AvailableIpAddressCount": 4000} for one in SUBNETS["Subnets"]]}

    def _filter_log_events(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"events": [line for line in self.lines if line["timestamp"] >= asked["startTime"]]}

    def _get_cost_and_usage(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        group = {"Keys": ["Amazon SageMaker"], "Metrics": {"UnblendedCost": {"Amount": "12.5", "Unit": "USD"}}}
        day = {"TimePeriod": {"Start": asked["TimePeriod"]["Start"], "End": asked["TimePeriod"]["Start"]}, "Groups": [group]}
        return {"ResultsByTime": [day]}

    def _get_caller_identity(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"Account": self.account}


_EVENT = {
    "EventId": "00000001-0000-4000-8000-000000000000",
    "ClusterArn": ARN,
    "ClusterName": "trainer",
    "ResourceType": "Instance",
}
_PLAN = {
    "TrainingPlanArn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/spring",
    "TrainingPlanName": "spring",
    "Status": "Active",
}


def _arn(name: str) -> str:
    return ARN if name == "trainer" else f"arn:aws:sagemaker:us-west-2:111122223333:cluster/{name.replace('-', '').ljust(12, '0')}"


def _paged(asked: Mapping[str, Any], key: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    first, most = int(asked.get("NextToken", "0")), min(asked.get("MaxResults", 10), 100)
    more = {"NextToken": str(first + most)} if first + most < len(found) else {}
    return {key: found[first : first + most], **more}


class _Relay:
    """Takes the calls of a client to the fleet of the running test: clients take long to make."""

    fleet: Fleet

    def keep(self, params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
        context["asked"] = params

    def take(self, model: Any, context: dict[str, Any], **_: object) -> tuple[Any, dict[str, Any]]:
        service = model.service_model.signing_name
        try:
            answer = self.fleet.answer(Call(service, model.name, context["asked"]))
        except RefusalError as refused:
            code, message = refused.args
            error = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": 400}}
            return SimpleNamespace(status_code=400), error
        return SimpleNamespace(status_code=200), answer


@cache
def _client(service: str) -> tuple[Any, _Relay]:
    session = boto3.session.Session(aws_access_key_id="none", aws_secret_access_key="none")
    client: Any = session.client(service, region_name=Fleet.region)  # type: ignore[call-overload]
    relay = _Relay()
    client.meta.events.register("before-parameter-build", relay.keep)
    client.meta.events.register("before-call", relay.take)
    return client, relay
