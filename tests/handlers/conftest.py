from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import boto3
import botocore.session
import pytest
from botocore.stub import Stubber

from hyperpod_constructs.custom_resources.handlers.readiness_gate import ReadinessGate
from hyperpod_constructs.custom_resources.handlers.wire.models import MODELS

ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefabcdef"
START = 1_800_000_000.0


@dataclass
class Clock:
    """A clock that advances only by a sleep or by a test."""

    now: float = START
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Aws:
    """Stubbed clients: each test lists its expected calls, in order."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        session = botocore.session.get_session()
        session.set_config_variable("data_path", str(MODELS))
        session.set_credentials("AKIDEXAMPLE", "secret")
        boto = boto3.Session(botocore_session=session, region_name="us-west-2")
        self.clients: dict[str, Any] = {name: boto.client(name) for name in ("sagemaker", "logs")}
        self.stubs = {name: Stubber(client) for name, client in self.clients.items()}
        for stub in self.stubs.values():
            stub.activate()
        self.continuous = True

    @property
    def gate(self) -> ReadinessGate:
        return ReadinessGate(self.clients.__getitem__, self.clock, self.clock.sleep)

    def cluster(self, status: str = "InService", **more: Any) -> None:
        groups = [
            {"InstanceGroupName": "controller", "CurrentCount": 1},
            {"InstanceGroupName": "workers", "CurrentCount": 2},
        ]
        mode = {"NodeProvisioningMode": "Continuous"} if self.continuous else {}
        answer = {"ClusterArn": ARN, "ClusterName": "demo", "ClusterStatus": status, "InstanceGroups": groups, **mode, **more}
        self.stubs["sagemaker"].add_response("describe_cluster", answer, {"ClusterName": ARN})

    def nodes(
        self,
        group: str,
        *statuses: str,
        token: str | None = None,
        after: str | None = None,
        launched: int | None = None,
        **more: str,
    ) -> None:
        """One page of nodes; of them, `launched` have an instance (all unless given)."""
        summaries = [
            {
                "InstanceGroupName": more.get("listed", group),
                "InstanceId": f"i-{index:017x}" if launched is None or index < launched else "",
                "NodeLogicalId": f"node-{index}",
                "InstanceType": "ml.m5.xlarge",
                "LaunchTime": datetime.fromtimestamp(START, UTC),
                "InstanceStatus": {"Status": status, "Message": more.get("message", "")},
            }
            for index, status in enumerate(statuses)
        ]
        expected: dict[str, Any] = {"ClusterName": ARN, "InstanceGroupNameContains": group, "MaxResults": 100}
        if self.continuous:
            expected["IncludeNodeLogicalIds"] = True
        if after is not None:
            expected["NextToken"] = after
        answer: dict[str, Any] = {"ClusterNodeSummaries": summaries}
        if token is not None:
            answer["NextToken"] = token
        self.stubs["sagemaker"].add_response("list_cluster_nodes", answer, expected)

    def events(self, *ages: float, level: str = "Error", instance: str | None = None) -> None:
        """Events with these ages in seconds, the newest first."""
        events = [
            {
                "EventId": f"00000000-0000-0000-0000-{index:012d}",
                "ClusterArn": ARN,
                "ClusterName": "demo",
                "ResourceType": "Instance",
                "EventTime": datetime.fromtimestamp(self.clock.now - age, UTC),
                "EventLevel": level,
                "Description": "something happened",
                **({} if instance is None else {"InstanceId": instance}),
            }
            for index, age in enumerate(ages)
        ]
        self.stubs["sagemaker"].add_response("list_cluster_events", {"Events": events})

    def event(self, message: str, part: str = "Instance", index: int = 0) -> None:
        identity = f"00000000-0000-0000-0000-{index:012d}"
        details = {
            "EventId": identity,
            "ClusterArn": ARN,
            "ClusterName": "demo",
            "ResourceType": "Instance",
            "EventTime": datetime.fromtimestamp(self.clock.now, UTC),
            "EventDetails": {"EventMetadata": {part: {"FailureMessage": message}}},
        }
        expected = {"ClusterName": ARN, "EventId": identity}
        self.stubs["sagemaker"].add_response("describe_cluster_event", {"EventDetails": details}, expected)

    def log(self, stream: str, *lines: str) -> None:
        events = [{"timestamp": 1, "message": line, "ingestionTime": 1} for line in lines]
        expected = {
            "logGroupName": "/aws/sagemaker/Clusters/demo/abcdefabcdef",
            "logStreamName": stream,
            "limit": 15,
            "startFromHead": False,
        }
        self.stubs["logs"].add_response("get_log_events", {"events": events}, expected)

    def refuse(self, operation: str, code: str, status: int = 400, service: str = "sagemaker") -> None:
        self.stubs[service].add_client_error(operation, code, f"{code} it is", http_status_code=status)

    def expect_all_called(self) -> None:
        for stub in self.stubs.values():
            stub.assert_no_pending_responses()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def aws(clock: Clock) -> Iterator[Aws]:
    aws = Aws(clock)
    yield aws
    aws.expect_all_called()


@pytest.fixture
def event() -> Callable[..., dict[str, Any]]:
    """An event of CloudFormation, with all numbers as strings."""

    def make(kind: str = "Create", *, workers: str = "0", **more: Any) -> dict[str, Any]:
        return {
            "RequestType": kind,
            "ResponseURL": "https://bucket.example/answer?X-Amz-Signature=presigned",
            "StackId": "arn:aws:cloudformation:us-west-2:123456789012:stack/demo/1",
            "RequestId": "request-1",
            "LogicalResourceId": "Gate",
            "ResourceProperties": {
                "ServiceToken": "arn:aws:lambda:us-west-2:123456789012:function:f",
                "ClusterArn": ARN,
                "TimeoutSeconds": "3600",
                "Groups": [
                    {"Name": "controller", "Minimum": "1", "Count": "1"},
                    {"Name": "workers", "Minimum": workers, "Count": "4"},
                ],
            },
            **({} if kind == "Create" else {"PhysicalResourceId": "old"}),
            **more,
        }

    return make
