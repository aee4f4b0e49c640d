"""Deep health checks, on demand and of new instances. Nothing is measured: a check finds the faults that a test asks for, and its
log says so.

On demand, a node with a job waits ten minutes for the job's end and is left out then; its job goes on. A node that fails is
replaced where the cluster recovers nodes automatically. The documentation does not settle these, so they are decided here: a node
that waits is Running; a node that fails without automatic recovery is in Failure; a request of which no node can be checked is done
at once; a second request while one goes on is refused for Slurm, of which the guide says it, and taken for EKS, of which it does
not; a group that gets `OnStartDeepHealthChecks` by an update has its next instances checked, and the present ones not.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.facts import health_checks as facts
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.hyperpod.provisioner import Provisioner, Then
from hyperpod_constructs.local.hyperpod.rules import refusal
from hyperpod_constructs.local.hyperpod.side_effects import SideEffects
from hyperpod_constructs.local.hyperpod.state import Cluster, ClusterOperation, Node, instance_types
from hyperpod_constructs.local.hyperpod.watch import Watch

JOB_POLL_SECONDS = 60.0
KIND = "DeepHealthCheck"

Renew = Callable[[Cluster, Sequence[Node], float], None]


@dataclass(eq=False)
class _Check:
    """Checks that go on. `waiting` has the nodes that may have jobs, `open` counts those that are being checked."""

    cluster: Cluster
    operation: ClusterOperation
    waiting: list[Node]
    until: float
    open: int = 0


class HealthChecks:
    """Starts deep health checks; `renew` replaces the nodes that fail."""

    def __init__(self, faults: Faults, nodes: Provisioner, watch: Watch, side_effects: SideEffects, renew: Renew) -> None:
        self._faults = faults
        self._nodes = nodes
        self._watch = watch
        self._side_effects = side_effects
        self._renew = renew

    def start(self, cluster: Cluster, request: Mapping[str, Any], now: float) -> None:
        """Begin the checks of a request.

        :raises AwsError: with the cause of the refusal.
        """
        asked = request["DeepHealthCheckConfigurations"]
        slurm = "Eks" not in cluster.settings.get("Orchestrator", {})
        active = any(operation.kind == KIND and operation.status == "InProgress" for operation in cluster.operations)
        if slurm and active:
            raise AwsError("ConflictException", f"cluster {cluster.name} runs deep health checks already; wait until they end")
        chosen = dict.fromkeys(node for item in asked for node in _chosen(cluster, item))
        operation = ClusterOperation(KIND, now, checks=list(asked))
        cluster.operations.append(operation)
        for item in asked:
            said = f"Deep health checks of Instance Group {item['InstanceGroupName']} started"
            cluster.record(now, "InstanceGroup", said, group=item["InstanceGroupName"])
        self._look(_Check(cluster, operation, list(chosen), now + facts.JOB_WAIT_SECONDS), now)

    def on_start(self, cluster: Cluster, nodes: Sequence[Node], second: float) -> None:
        """Check new instances whose groups ask for it."""
        wanted = [node for node in nodes if node.spec.get("OnStartDeepHealthChecks") and _fits(node)]
        for name in dict.fromkeys(node.group for node in wanted):
            said = f"Deep health checks of Instance Group {name} started"
            cluster.record(second, "InstanceGroup", said, group=name)
        if wanted:
            self._examine(cluster, wanted, second, lambda _: None)

    def _look(self, check: _Check, second: float) -> None:
        """Check the nodes without jobs, and look again at the others."""
        busy: set[Node] = set()

        def looked(later: float) -> None:
            running = [node for node in check.waiting if node.status == "Running"]
            check.waiting = [node for node in running if node in busy]
            idle = [node for node in running if node not in busy]
            check.open += len(idle)
            self._examine(check.cluster, idle, later, lambda _: _end(check, len(idle)))
            if check.waiting and later + JOB_POLL_SECONDS <= check.until:
                check.cluster.timeline.at(later + JOB_POLL_SECONDS, lambda latest: self._look(check, latest))
                return
            for node in check.waiting:
                said = f"Deep health checks left EC2 Instance {node.instance_id} out, because a job runs on it"
                check.cluster.record(later, "Instance", said, level="Warn", node=node)
            check.waiting = []
            _close(check)

        self._nodes.after(check.cluster, self._watch.jobs(check.waiting, busy), second, looked)

    def _examine(self, cluster: Cluster, nodes: Sequence[Node], second: float, ended: Then) -> None:
        if not nodes:
            return
        for node in nodes:
            node.status = facts.IN_PROGRESS

        def judge(later: float) -> None:
            examined = [node for node in nodes if node.status == facts.IN_PROGRESS]
            failed = [node for node in examined if self._faults.take_faulty(node.group)]
            logs = {node.instance_id: _log(node, node in failed) for node in examined}
            for node in examined:
                node.status, node.checked = "Running", True
                if node not in failed:
                    said = f"Deep health checks of EC2 Instance {node.instance_id} passed"
                    cluster.record(later, "Instance", said, node=node)
            self._fail(cluster, failed, later)
            self._nodes.after(cluster, self._side_effects.log_checks(cluster, logs), later, ended)

        cluster.timeline.at(second + self._nodes.step, judge)

    def _fail(self, cluster: Cluster, nodes: Sequence[Node], second: float) -> None:
        for node in nodes:
            node.status, node.checked = "Failure", False
            node.message = f"Deep health checks found a fault in instance {node.instance_id}"
            cluster.record(second, "Instance", node.message, level="Error", node=node)
        if nodes and cluster.settings.get("NodeRecovery", "Automatic") == "Automatic":
            self._renew(cluster, nodes, second)


def _chosen(cluster: Cluster, item: Mapping[str, Any]) -> list[Node]:
    """The nodes of one configuration that can be checked."""
    group = cluster.groups.get(item["InstanceGroupName"])
    if group is None:
        raise refusal(f"InstanceGroupName is {item['InstanceGroupName']}; cluster {cluster.name} has {', '.join(cluster.groups)}")
    ids = item.get("InstanceIds")
    known = {node.instance_id for node in group.nodes}
    unknown = [name for name in ids or () if name not in known]
    if unknown:
        raise refusal(f"InstanceIds names {', '.join(unknown)}; instance group {group.name} has no such node")
    nodes = [node for node in group.nodes if node.status == "Running" and (ids is None or node.instance_id in ids)]
    fit = [node for node in nodes if _fits(node)]
    for check in item["DeepHealthChecks"]:
        mistake = facts.connectivity_mistake(check, len(fit)) if fit else None
        if mistake is not None:
            raise refusal(f"DeepHealthChecks of instance group {group.name}: {mistake}")
    return fit


def _fits(node: Node) -> bool:
    return facts.why_not(node.node_type, node.instance_type or instance_types(node.spec)[0]) is None


def _end(check: _Check, count: int) -> None:
    check.open -= count
    _close(check)


def _close(check: _Check) -> None:
    if not check.open and not check.waiting:
        check.operation.status = "Done"


def _log(node: Node, failed: bool) -> list[str]:
    said = "This is the embedded AWS: no deep health check ran."
    found = "A test asked for a fault, so this instance counts as faulty." if failed else "The instance counts as healthy."
    return [said, f"{node.instance_id} of instance group {node.group}: {found}"]
