"""Events from the lines of the health agent."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from typing import Any

import pytest

from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.health_events import send

ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefgh1234"
SETTINGS = {"SOURCE": "hyperpod-constructs", "CLUSTER_ARN": ARN}
DETECTED = "HealthMonitoringAgentDetectionEvent"
DETAILS = {"severity": "warn", "reason": "XidHardwareFailure", "message": "Node condition NvidiaErrorReboot is now: True"}
FAULT = json.dumps({"level": "info", "msg": "NPD caught event: %v", "details: ": DETAILS, DETECTED: "HealthEvent"})


class Events:
    """A double of EventBridge."""

    def __init__(self, refused: str = "") -> None:
        self.calls: list[list[dict[str, Any]]] = []
        self._refused = refused

    def put_events(self, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        self.calls.append(Entries)
        answer = {"ErrorCode": "InternalFailure", "ErrorMessage": self._refused} if self._refused else {"EventId": "1"}
        return {"Entries": [answer for _ in Entries]}


def delivery(*messages: str, kind: str = "DATA_MESSAGE") -> dict[str, Any]:
    records = {
        "messageType": kind,
        "logGroup": "/aws/sagemaker/Clusters/demo/abcdefgh1234",
        "logStream": "SagemakerHealthMonitoringAgent/workers/i-0123456789abcdef0",
        "logEvents": [{"timestamp": 1_800_000_000_123, "message": message} for message in messages],
    }
    return {"awslogs": {"data": base64.b64encode(gzip.compress(json.dumps(records).encode())).decode()}}


def sent(*messages: str, kind: str = "DATA_MESSAGE") -> list[Mapping[str, Any]]:
    events = Events()
    send(delivery(*messages, kind=kind), SETTINGS, lambda _: events)
    return [entry for call in events.calls for entry in call]


def test_a_fault_is_an_event_of_its_node() -> None:
    (entry,) = sent(FAULT, "all is well")
    assert (entry["Source"], entry["DetailType"], entry["Resources"]) == (
        "hyperpod-constructs",
        "SageMaker HyperPod Cluster Node Health Event",
        [ARN],
    )
    assert entry["Time"] == 1_800_000_000
    assert json.loads(entry["Detail"]) == {
        "ClusterArn": ARN,
        "ClusterName": "demo",
        "InstanceId": "i-0123456789abcdef0",
        "HealthSummary": {
            "HealthStatus": "Unhealthy",
            "HealthStatusReason": "XidHardwareFailure",
            "RepairAction": "Unknown",
            "Recommendation": "Node condition NvidiaErrorReboot is now: True",
        },
    }


@pytest.mark.parametrize("message", [f"{DETECTED} and no JSON", f'{{"{DETECTED}": 1}}', f'{{"details": 5, "{DETECTED}": 1}}'])
def test_a_fault_in_an_unknown_form_is_an_event_with_its_text(message: str) -> None:
    (entry,) = sent(message)
    health = json.loads(entry["Detail"])["HealthSummary"]
    assert (health["HealthStatusReason"], health["Recommendation"]) == ("Unknown", message)


def test_a_long_text_is_cut() -> None:
    (entry,) = sent(f"{DETECTED} {'x' * 300_000}")
    assert len(entry["Detail"]) < 2000


def test_a_delivery_of_many_faults_is_sent_in_parts() -> None:
    events = Events()
    assert send(delivery(*[FAULT] * 23), SETTINGS, lambda _: events) == {"Sent": 23}
    assert [len(call) for call in events.calls] == [10, 10, 3]


def test_a_control_message_is_no_event() -> None:
    assert sent(FAULT, kind="CONTROL_MESSAGE") == []


def test_fails_if_an_event_is_refused_so_that_lambda_repeats_the_delivery() -> None:
    with pytest.raises(OperationError, match="1 of 1 events were refused: busy"):
        send(delivery(FAULT), SETTINGS, lambda _: Events(refused="busy"))
