"""Why nodes of a cluster are missing: the service's events, the failed nodes, the last lines of a lifecycle log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from .errors import describe
from .redaction import redact

#: A group without any event for so long, with a failed node and none on its way, is not being repaired. The service
#: replaces a node in 20 to 30 minutes and writes events while it does.
STALL_SECONDS = 900.0

_ON_ITS_WAY = ("Pending", "SystemUpdating", "DeepHealthCheckInProgress", "ShuttingDown")
_EVENTS_SHOWN = 3
_NODES_SHOWN = 3
_LOG_LINES = 15
_LINE_CHARACTERS = 160
_YOUNGER_THAN = 86400.0


class Caller(Protocol):
    """A client of one service."""

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """The answer of one operation."""
        ...


@dataclass(frozen=True, slots=True)
class Cluster:
    """Which cluster: its ARN, with its id at the end, and its name."""

    arn: str
    name: str


@dataclass(frozen=True, slots=True)
class Nodes:
    """Nodes of one group: how many have which status, and (instance id, message) of those in Failure."""

    statuses: Mapping[str, int]
    failures: tuple[tuple[str, str], ...] = ()

    @property
    def running(self) -> int:
        """How many nodes are Running."""
        return self.statuses.get("Running", 0)


@dataclass(frozen=True, slots=True)
class Shortage:
    """A group with fewer Running nodes than needed."""

    group: str
    minimum: int
    nodes: Nodes

    def __str__(self) -> str:
        """`workers: 3 of 4 Running, 1 Failure`."""
        others = "".join(f", {n} {status}" for status, n in sorted(self.nodes.statuses.items()) if n and status != "Running")
        return f"{self.group}: {self.nodes.running} of {self.minimum} Running{others}"


class Explanation:
    """Looks for causes. What cannot be read is said in the text and never raised: the shortage itself is the news."""

    def __init__(self, sagemaker: Caller, logs: Caller, cluster: Cluster) -> None:
        self._sagemaker, self._logs, self._cluster = sagemaker, logs, cluster

    def stalled(self, shortage: Shortage, now: float) -> bool:
        """Whether waiting for a group cannot help: a node failed, none is on its way, its last event is long ago.

        A failed node alone proves nothing, because the service may be about to replace it; nor does a group without
        events (they exist only with continuous provisioning).
        """
        nodes = shortage.nodes
        if not nodes.failures or any(nodes.statuses.get(status) for status in _ON_ITS_WAY):
            return False
        try:
            newest = self._events(shortage.group, now, 1)
        except (BotoCoreError, ClientError):
            return False
        return bool(newest) and now - newest[0]["EventTime"].timestamp() >= STALL_SECONDS

    def text(self, shortages: Iterable[Shortage], now: float) -> str:
        """The causes, the most telling first: failure messages of events, failed nodes, the end of one log."""
        lines: list[str] = []
        suspects: list[tuple[str, str]] = []
        for shortage in shortages:
            events, instances = self._failures(shortage.group, now)
            lines += events
            for instance, message in shortage.nodes.failures[:_NODES_SHOWN]:
                lines.append(f"node {instance} of {shortage.group}: {message or 'Failure'}")
            failed = [instance for instance, _ in shortage.nodes.failures]
            suspects += [(shortage.group, instance) for instance in (*failed, *instances) if instance]
        lines += self._log_tail(*suspects[0]) if suspects else []
        return redact("\n".join(dict.fromkeys(lines)) or "the service reports no cause: capacity may be missing")

    def _events(self, group: str, now: float, limit: int) -> list[dict[str, Any]]:
        answer = self._sagemaker.call(
            "list_cluster_events",
            ClusterName=self._cluster.arn,
            InstanceGroupName=group,
            EventTimeAfter=datetime.fromtimestamp(now - _YOUNGER_THAN, UTC),
            SortBy="EventTime",
            SortOrder="Descending",
            MaxResults=limit,
        )
        return list(answer.get("Events", []))

    def _failures(self, group: str, now: float) -> tuple[list[str], list[str]]:
        """Lines for the newest error events of a group, and the instances that they name."""
        try:
            errors = [event for event in self._events(group, now, 100) if event.get("EventLevel") == "Error"]
            messages: dict[str, str] = {}
            for event in errors[:_EVENTS_SHOWN]:
                message = self._message(event)
                messages.setdefault(message, f"{event['EventTime']:%H:%M} {group} {event.get('InstanceId', '')}".rstrip())
        except (BotoCoreError, ClientError) as error:
            return [f"the events of {group} cannot be read: {describe(error)}"], []
        lines = [f"{head}: {message}" for message, head in messages.items()]
        return lines, [event["InstanceId"] for event in errors if event.get("InstanceId")]

    def _message(self, event: Mapping[str, Any]) -> str:
        """The failure message of an event; the list does not have it."""
        answer = self._sagemaker.call("describe_cluster_event", ClusterName=self._cluster.arn, EventId=event["EventId"])
        metadata = answer.get("EventDetails", {}).get("EventDetails", {}).get("EventMetadata", {})
        found = [part["FailureMessage"] for part in metadata.values() if part.get("FailureMessage")]
        return str(found[0] if found else event.get("Description") or "no message")

    def _log_tail(self, group: str, instance: str) -> list[str]:
        """The end of the log that the lifecycle scripts of a node have written."""
        cluster_id = self._cluster.arn.rpartition("/")[2]
        log_group = f"/aws/sagemaker/Clusters/{self._cluster.name}/{cluster_id}"
        stream = f"LifecycleConfig/{group}/{instance}"
        try:
            answer = self._logs.call(
                "get_log_events", logGroupName=log_group, logStreamName=stream, limit=_LOG_LINES, startFromHead=False
            )
        except (BotoCoreError, ClientError) as error:
            return [f"{log_group} {stream} cannot be read: {describe(error)}"]
        tail = [event["message"].rstrip()[:_LINE_CHARACTERS] for event in answer["events"]]
        return [f"end of {log_group} {stream}:", *tail] if tail else []
