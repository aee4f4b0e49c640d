"""Waits until the necessary nodes of a cluster are Running.

`InService` comes earlier: with continuous provisioning, a cluster is InService while its nodes still start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from . import answers, resource
from .aws import LOOK_SECONDS, Patient
from .causes import Cluster, Explanation, Nodes, Shortage
from .errors import OperationError, fit
from .redaction import redact
from .resource import Done, Request, Resource, Undo, Waiting

# Most bytes of the attribute `Message`: all attributes share CloudFormation's 4096 bytes with the rest of the response.
_MESSAGE_BYTES = 1500

# Most characters of a reason from the service.
_REASON_CHARACTERS = 1000

_LOST = frozenset({"Failed", "Deleting"})

_Lister = Callable[..., Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """An instance group: of its `count` nodes, `minimum` must be Running."""

    name: str
    minimum: int
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class GateProperties:
    """The cluster and the groups that the gate waits for."""

    cluster_arn: str
    groups: tuple[Group, ...]


class ReadinessGate(Resource[GateProperties]):
    """The gate. A creation fails with the leaf cause; an update only reports, because a rollback would take nodes away.

    A deletion does nothing.
    """

    properties = GateProperties

    def create(self, request: Request[GateProperties], undo: Undo) -> str:
        """The physical id, from the cluster's ARN; there is nothing to create."""
        return f"readiness|{request.properties.cluster_arn}"

    def update(self, physical_id: str, request: Request[GateProperties]) -> str:
        """The physical id; for another cluster it is another gate, and the deletion of the old one does nothing."""
        return f"readiness|{request.properties.cluster_arn}"

    def delete(self, physical_id: str) -> None:
        """Nothing to delete."""

    def report(self, message: str) -> Mapping[str, str]:
        """The attributes of an update that succeeds without all its nodes."""
        resource.logger.warning("not ready: %s", message)
        return _attributes(ready=False, message=message)

    def created(self, physical_id: str, request: Request[GateProperties]) -> Waiting | Done:
        """Whether enough nodes are Running.

        :raises OperationError: with the leaf cause, if the time is over or waiting is useless: the cluster itself is lost, or a
            group has stalled (see `Explanation.stalled`).
        """
        now = self._clock()
        return self._look(request, now)

    def _look(self, request: Request[GateProperties], now: float) -> Waiting | Done:
        wanted = request.properties
        sagemaker = Patient(self._clients("sagemaker"), now + LOOK_SECONDS, self._clock, self._sleep)
        cluster = sagemaker.call("describe_cluster", ClusterName=wanted.cluster_arn)
        lister = _lister(sagemaker, wanted.cluster_arn, cluster)
        shortages = [
            Shortage(group.name, group.minimum, nodes)
            for group in wanted.groups
            if group.minimum > 0
            for nodes in [_nodes(lister, group)]
            if nodes.running < group.minimum
        ]
        summary = _summary(wanted, cluster, shortages)
        if answers.text(cluster, "ClusterStatus") in _LOST:
            why = answers.shown(cluster, "FailureMessage", otherwise="the service gives no reason", limit=_REASON_CHARACTERS)
            raise OperationError(f"{summary}; {why}")
        if not shortages:
            return Done(_attributes(ready=True, message=summary))
        explanation = self._explanation(request.properties.cluster_arn, answers.text(cluster, "ClusterName"))
        stalled = any(explanation.stalled(shortage, now) for shortage in shortages)
        if now < request.deadline and not stalled:
            return Waiting(summary)
        minutes = round((now - request.started) / 60)
        reason = f"nothing has happened for long, after {minutes} min" if stalled else f"after {minutes} min"
        raise OperationError(f"{summary} ({reason})\n{explanation.text(shortages, now)}")

    def _explanation(self, arn: str, name: str) -> Explanation:
        """An explanation with time of its own, which a slow listing cannot use up."""
        until = self._clock() + LOOK_SECONDS
        sagemaker, logs = (Patient(self._clients(service), until, self._clock, self._sleep) for service in ("sagemaker", "logs"))
        return Explanation(sagemaker, logs, Cluster(arn, name))


def _lister(sagemaker: Patient, arn: str, cluster: Mapping[str, Any]) -> _Lister:
    """The call that lists nodes. With continuous provisioning it lists nodes that wait for capacity too: they have no instance id,
    and the service leaves them out unless asked. Without them, a group that waits looks as if nothing were on its way.
    """
    continuous = answers.text(cluster, "NodeProvisioningMode") == "Continuous"
    waiting = {"IncludeNodeLogicalIds": True} if continuous else {}
    return partial(sagemaker.call, "list_cluster_nodes", ClusterName=arn, MaxResults=100, **waiting)


def _nodes(lister: _Lister, group: Group) -> Nodes:
    """The group's nodes. The listing stops once enough of them are Running, because a group may have thousands."""
    statuses: Counter[str] = Counter()
    failures: list[tuple[str, str]] = []
    complete = True
    # The filter matches parts of names: `workers` also lists `workers-spot`.
    for page, certain in answers.pages(lambda more: lister(InstanceGroupNameContains=group.name, **more)):
        complete = certain
        for node in answers.structures(page, "ClusterNodeSummaries"):
            if answers.text(node, "InstanceGroupName") != group.name:
                continue
            status = answers.shown(node, "InstanceStatus", "Status", otherwise="of unknown status")
            statuses[status] += 1
            if status == "Failure":
                failures.append((answers.text(node, "InstanceId"), answers.text(node, "InstanceStatus", "Message")))
        if statuses["Running"] >= group.minimum:
            break
    return Nodes(dict(statuses), tuple(failures), complete)


def _summary(wanted: GateProperties, cluster: Mapping[str, Any], shortages: list[Shortage]) -> str:
    short = {shortage.group: shortage for shortage in shortages}
    present = {answers.text(group, "InstanceGroupName"): group for group in answers.structures(cluster, "InstanceGroups")}
    parts = []
    for group in wanted.groups:
        if group.name in short:
            parts.append(str(short[group.name]))
        elif group.minimum > 0:
            parts.append(f"{group.name}: {group.minimum} or more of {group.count} Running")
        else:
            count = answers.number(present.get(group.name), "CurrentCount")
            parts.append(f"{group.name}: {'?' if count is None else count} of {group.count} present, not waited for")
    state = "is not ready" if shortages else "is ready"
    name = answers.shown(cluster, "ClusterName", otherwise=wanted.cluster_arn)
    status = answers.shown(cluster, "ClusterStatus", otherwise="of unknown status")
    return f"cluster {name} ({status}) {state}: {'; '.join(parts) or 'no groups'}"


def _attributes(*, ready: bool, message: str) -> dict[str, str]:
    return {"Ready": "true" if ready else "false", "Message": fit(redact(message), _MESSAGE_BYTES)}


GATE = ReadinessGate()


def on_event(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Lambda entry: start an operation."""
    return resource.on_event(GATE, event, context=context)


def is_complete(event: dict[str, Any], _: object) -> dict[str, Any]:
    """Lambda entry: look whether an operation is complete."""
    return resource.is_complete(GATE, event)
