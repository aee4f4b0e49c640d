"""Causes of missing nodes: the service's events, the failed nodes, the last lines of a lifecycle log."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

from . import answers
from .errors import describe
from .redaction import one_line, redact

# After this time without an event, a group with a failed node and no starting node is not under repair. The service replaces a
# node in 20 to 30 minutes and writes events meanwhile.
STALL_SECONDS = 900.0

LOG_GROUPS = "/aws/sagemaker/Clusters"
"""The path of the clusters' log groups, as in the library's facts, which a function cannot import."""

logger = logging.getLogger("custom_resource")

_ON_ITS_WAY = ("Pending", "SystemUpdating", "DeepHealthCheckInProgress", "ShuttingDown")
_EVENTS_SHOWN = 3
_NODES_SHOWN = 3
_LOG_LINES = 15
_STATUSES_SHOWN = 8
_LINE_CHARACTERS = 160
_MESSAGE_CHARACTERS = 1000
_HARMLESS = ("Info", "Warn", "Warning")
_YOUNGER_THAN = 86400.0


class Caller(Protocol):
    """A client of one service."""

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """The answer of one operation."""
        ...


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster by its ARN (which ends with its id) and its name."""

    arn: str
    name: str


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of one group.

    :param statuses: the number of nodes by status.
    :param failures: instance id and message of each node in Failure.
    :param complete: whether the listing reached its end.
    """

    statuses: Mapping[str, int]
    failures: tuple[tuple[str, str], ...] = ()
    complete: bool = True

    @property
    def running(self) -> int:
        """The number of Running nodes."""
        return self.statuses.get("Running", 0)


@dataclass(frozen=True, slots=True)
class Shortage:
    """A group with fewer Running nodes than needed."""

    group: str
    minimum: int
    nodes: Nodes

    def __str__(self) -> str:
        """Such as `workers: 3 of 4 Running, 1 Failure`."""
        others = Counter({status: n for status, n in sorted(self.nodes.statuses.items()) if n > 0 and status != "Running"})
        known = others.most_common(_STATUSES_SHOWN)
        rest = others.total() - sum(n for _, n in known)
        parts = [f"{n} {status}" for status, n in sorted(known)] + [f"{rest} of other statuses"] * (rest > 0)
        parts += [] if self.nodes.complete else ["the service's list of nodes does not end"]
        return ", ".join([f"{self.group}: {self.nodes.running} of {self.minimum} Running", *parts])


class Explanation:
    """Looks for causes. An unreadable source is named in the text and never raises: the shortage itself is the news."""

    def __init__(self, sagemaker: Caller, logs: Caller, cluster: Cluster) -> None:
        self._sagemaker, self._logs, self._cluster = sagemaker, logs, cluster

    def stalled(self, shortage: Shortage, now: float) -> bool:
        """Whether waiting for a group is useless: a node failed, no node is starting, and the last event is long ago.

        A failed node alone proves nothing, because the service may replace it soon. A group without events proves nothing either:
        only continuous provisioning writes events.
        """
        nodes = shortage.nodes
        if not nodes.failures or any(nodes.statuses.get(status) for status in _ON_ITS_WAY):
            return False
        try:
            newest = self._events(shortage.group, now, 1)
        except Exception as error:
            logger.warning("the events of %s cannot be read: %s", shortage.group, describe(error))
            return False
        time = answers.moment(newest[0], "EventTime") if newest else None
        return time is not None and now - time.timestamp() >= STALL_SECONDS

    def text(self, shortages: Iterable[Shortage], now: float) -> str:
        """The causes, the most helpful first: failure messages of events, failed nodes, the end of one log."""
        lines: list[str] = []
        suspects: list[tuple[str, str]] = []
        for shortage in shortages:
            instances: list[str] = []
            lines += _told(f"the events of {shortage.group}", partial(self._failures, shortage.group, now, instances))
            for instance, message in shortage.nodes.failures[:_NODES_SHOWN]:
                shown = one_line(message, _MESSAGE_CHARACTERS) or "Failure"
                node = one_line(instance, _LINE_CHARACTERS) or "without an instance"
                lines.append(f"node {node} of {shortage.group}: {shown}")
            failed = [instance for instance, _ in shortage.nodes.failures]
            suspects += [(shortage.group, instance) for instance in (*failed, *instances) if instance]
        lines += self._log_tail(*suspects[0]) if suspects else []
        return redact("\n".join(dict.fromkeys(lines)) or "the service reports no cause: capacity may be missing")

    def _events(self, group: str, now: float, limit: int) -> list[Mapping[str, Any]]:
        answer = self._sagemaker.call(
            "list_cluster_events",
            ClusterName=self._cluster.arn,
            InstanceGroupName=group,
            EventTimeAfter=datetime.fromtimestamp(now - _YOUNGER_THAN, UTC),
            SortBy="EventTime",
            SortOrder="Descending",
            MaxResults=limit,
        )
        return answers.structures(answer, "Events")

    def _failures(self, group: str, now: float, instances: list[str]) -> list[str]:
        """Lines for the newest suspicious events of a group; the nodes in them are added to `instances`."""
        errors = [event for event in self._events(group, now, 100) if answers.text(event, "EventLevel") not in _HARMLESS]
        instances += [answers.text(event, "InstanceId") for event in errors]
        messages: dict[str, str] = {}
        for event in errors[:_EVENTS_SHOWN]:
            time = answers.moment(event, "EventTime")
            head = f"{'--:--' if time is None else f'{time:%H:%M}'} {group} {answers.shown(event, 'InstanceId', otherwise='')}"
            messages.setdefault(self._message(event), head.rstrip())
        return [f"{head}: {message}" for message, head in messages.items()]

    def _message(self, event: Mapping[str, Any]) -> str:
        """The failure message of an event, from a call of its own: the list of events leaves it out."""
        described = answers.shown(event, "Description", otherwise="no message", limit=_MESSAGE_CHARACTERS)
        identity = answers.text(event, "EventId")
        if not identity:
            return described
        try:
            answer = self._sagemaker.call("describe_cluster_event", ClusterName=self._cluster.arn, EventId=identity)
        except Exception as error:
            return f"{described} (details cannot be read: {describe(error)})"
        metadata = answers.structure(answer, "EventDetails", "EventDetails", "EventMetadata")
        found = [answers.text(part, "FailureMessage") for part in metadata.values()]
        return next((one_line(message, _MESSAGE_CHARACTERS) for message in found if message.strip()), described)

    def _log_tail(self, group: str, instance: str) -> list[str]:
        """The end of a node's lifecycle log. Every line gets a bar in front, because a program wrote it: it may imitate our own
        messages, or a command to the reader."""
        if not self._cluster.name:
            return [
                f"the log of {one_line(instance, _LINE_CHARACTERS)} cannot be found: the service does not tell the cluster's name"
            ]
        cluster_id = self._cluster.arn.rpartition("/")[2]
        log_group = f"{LOG_GROUPS}/{self._cluster.name}/{cluster_id}"
        stream = f"LifecycleConfig/{group}/{instance}"
        place = one_line(f"{log_group} {stream}", _MESSAGE_CHARACTERS)
        return _told(place, partial(self._tail, log_group, stream, place))

    def _tail(self, log_group: str, stream: str, place: str) -> list[str]:
        answer = self._logs.call(
            "get_log_events", logGroupName=log_group, logStreamName=stream, limit=_LOG_LINES, startFromHead=False
        )
        events = answers.structures(answer, "events")[-_LOG_LINES:]
        # Redact the whole text first: a private key has many lines.
        lines = redact("\n".join(redact(answers.text(event, "message")) for event in events)).split("\n")
        tail = [f"| {one_line(line, _LINE_CHARACTERS)}" for line in lines if line.strip()][-_LOG_LINES:]
        return [f"end of {place}:", *tail] if tail else []


def _told(what: str, look: Callable[[], list[str]]) -> list[str]:
    """The lines that a look finds, or one line with its failure."""
    try:
        return look()
    except Exception as error:
        return [f"{what} cannot be read: {describe(error)}"]
