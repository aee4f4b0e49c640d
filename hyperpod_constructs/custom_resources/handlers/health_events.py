"""Sends an event for each fault that the health agent writes to a cluster's log group; on Slurm the agent sends none itself.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-health-monitoring-agent.html
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from . import answers
from .aws import LOOK_SECONDS, Patient, client
from .errors import OperationError

_DETAIL_TYPE = "SageMaker HyperPod Cluster Node Health Event"
_DETECTED = "HealthMonitoringAgentDetectionEvent"

#: PutEvents takes as many entries, each of at most 256 KB.
_MOST = 10
_MOST_CHARACTERS = 1000


def send(
    event: Mapping[str, Any],
    settings: Mapping[str, str],
    clients: Callable[[str], Any] = client,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, int]:
    """Send the events of one delivery of a subscription filter.

    :param settings: `SOURCE`, `CLUSTER_ARN`.
    :raises OperationError: if EventBridge refuses an event; Lambda then repeats the delivery.
    """
    records = json.loads(gzip.decompress(base64.b64decode(event["awslogs"]["data"])))
    entries = list(_entries(records, settings))
    events = Patient(clients("events"), clock() + LOOK_SECONDS, clock, sleep)
    for start in range(0, len(entries), _MOST):
        _put(events, entries[start : start + _MOST])
    return {"Sent": len(entries)}


def _put(events: Patient, entries: Sequence[Mapping[str, Any]]) -> None:
    answer = events.call("put_events", Entries=entries)
    refused = [each for each in answers.structures(answer, "Entries") if answers.text(each, "ErrorCode")]
    if refused:
        why = answers.shown(refused[0], "ErrorMessage", otherwise="no reason", limit=300)
        raise OperationError(f"PutEvents: {len(refused)} of {len(entries)} events were refused: {why}")


def _entries(records: Mapping[str, Any], settings: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """One entry for each fault; the log stream names the node."""
    if records.get("messageType") != "DATA_MESSAGE":
        return
    arn = settings["CLUSTER_ARN"]
    cluster, node = str(records["logGroup"]).split("/")[-2], str(records["logStream"]).rpartition("/")[2]
    for record in records["logEvents"]:
        fault = _fault(str(record["message"]))
        if fault is not None:
            detail = {"ClusterArn": arn, "ClusterName": cluster, "InstanceId": node, "HealthSummary": fault}
            yield {
                "Source": settings["SOURCE"],
                "DetailType": _DETAIL_TYPE,
                "Detail": json.dumps(detail),
                "Resources": [arn],
                "Time": record["timestamp"] // 1000,
            }


def _fault(message: str) -> dict[str, str] | None:
    """The fault in a line of the agent; `None` for a line of another kind.

    The agent does not say which action follows.
    """
    if _DETECTED not in message:
        return None
    try:
        found = json.loads(message[message.index("{") :])
        details: Any = next((value for name, value in found.items() if name.strip(" :") == "details"), {})
        reason, text = str(details["reason"]), str(details["message"])
    except (ValueError, AttributeError, KeyError, TypeError):
        reason, text = "Unknown", message
    return {
        "HealthStatus": "Unhealthy",
        "HealthStatusReason": reason[:_MOST_CHARACTERS],
        "RepairAction": "Unknown",
        "Recommendation": text[:_MOST_CHARACTERS],
    }


def on_logs(event: dict[str, Any], _: object) -> dict[str, int]:
    """Lambda entry: a delivery of a subscription filter."""
    return send(event, os.environ)
