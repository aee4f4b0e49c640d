"""Nodes come and go here: capacity, network, lifecycle script, and the retry of failed nodes.

AWS does not publish these, so they are decided here: a node without capacity is Pending without an instance id; a node with a
failed script stays in Failure. Continuous mode retries both at the next call after the injected fault is gone. An interface is
deleted when its node begins to shut down, so that nothing depends on polling. Calls to other services are tasks: they run outside
the lock, and the timeline awaits them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.hyperpod.background import Task
from hyperpod_constructs.local.hyperpod.fleet import Fleet
from hyperpod_constructs.local.hyperpod.side_effects import SideEffects
from hyperpod_constructs.local.hyperpod.state import Cluster, Node, Placement, Spec, instance_types, new_instance_id

BOOT_POLL_SECONDS = 1.0
TASK_POLL_SECONDS = 0.1


class Provisioner:
    """Launches, restarts and removes nodes; each transition takes `Faults.slow_creation` seconds, plus the time of the fleet."""

    def __init__(self, faults: Faults, side_effects: SideEffects, fleet: Fleet) -> None:
        self._faults = faults
        self._side_effects = side_effects
        self._fleet = fleet

    @property
    def step(self) -> float:
        """Seconds of one transition."""
        return self._faults.slow_creation

    def add(self, cluster: Cluster, spec: Spec, placements: Iterable[Placement | None], now: float) -> list[Node]:
        """Note new nodes of a group; they are Pending."""
        group = cluster.groups[spec["InstanceGroupName"]]
        nodes = [Node(spec, placement, created=now) for placement in placements]
        group.nodes += nodes
        if nodes:
            scaling = {"InstanceCount": len(group.nodes), "TargetCount": group.target}
            metadata = {"InstanceGroupScaling": scaling}
            cluster.record(now, "InstanceGroup", f"Scaling up to {group.target} nodes", group=group.name, metadata=metadata)
        return nodes

    def provision(self, cluster: Cluster, nodes: Sequence[Node], now: float, then: Callable[[float], None]) -> None:
        """Launch the nodes, run their scripts, and go on with `then`, whatever became of them."""
        for node in nodes:
            node.waiting, node.status = False, "Pending"

        refused: dict[Node, str] = {}

        def launch(second: float) -> None:
            ready = [node for node in nodes if self._launch(cluster, node, second)]
            self.after(cluster, self._side_effects.enter_network(cluster, ready, refused), second, entered)

        def entered(second: float) -> None:
            for node, cause in refused.items():
                node.status, node.message = "Failure", f"Customer network interface creation failed: {cause}"
                self._failed(cluster, node, second, "Customer network interface creation failed")
            booting = [node for node in nodes if _boots(node)]
            self._fleet.launch(cluster, booting)
            cluster.timeline.at(second + self.step, lambda later: self.when_booted(cluster, booting, later, booted))

        def booted(second: float) -> None:
            started = [node for node in nodes if node.status == "Pending" and node.instance_id]
            self.run_scripts(cluster, started, second, finish)

        def finish(second: float, failures: Mapping[Node, str]) -> None:
            for node in nodes:
                self._start(cluster, node, failures.get(node), second)
            then(second)

        cluster.timeline.at(now + self.step, launch if nodes else then)

    def after(self, cluster: Cluster, task: Task, second: float, then: Callable[[float], None]) -> None:
        """Go on with `then` as soon as the task has ended."""
        if task.done:
            then(second)
        else:
            cluster.timeline.at(second + TASK_POLL_SECONDS, lambda later: self.after(cluster, task, later, then))

    def when_booted(self, cluster: Cluster, nodes: Sequence[Node], second: float, then: Callable[[float], None]) -> None:
        """Go on with `then` as soon as the boot of every node has ended."""
        if any(_boots(node) and self._fleet.outcome(node) is None for node in nodes):
            cluster.timeline.at(second + BOOT_POLL_SECONDS, lambda later: self.when_booted(cluster, nodes, later, then))
        else:
            then(second)

    def renew(self, cluster: Cluster, nodes: Sequence[Node], now: float, then: Callable[[float], None]) -> None:
        """Boot the nodes again under their instance ids with new root volumes, and go on with `then`."""
        self._fleet.launch(cluster, nodes)
        cluster.timeline.at(now + self.step, lambda later: self.when_booted(cluster, nodes, later, then))

    def retry(self, cluster: Cluster, now: float, then: Callable[[float], None]) -> None:
        """Try the nodes again that failed and would not fail now."""
        nodes = [node for node in cluster.nodes() if node.waiting and self._capacity(node) is not None]
        nodes += [node for node in cluster.nodes() if node.status == "Failure" and self._would_pass(node)]
        for node in nodes:
            node.instance_id = node.message = ""
        if nodes:
            self.provision(cluster, nodes, now, then)

    def replace(self, cluster: Cluster, nodes: Sequence[Node], now: float, then: Callable[[float], None]) -> None:
        """New hardware for the nodes: other instance ids, the same logical ids and addresses, the group's present
        scripts.
        """
        for node in nodes:
            node.spec = cluster.groups[node.group].spec
            node.instance_id = ""
        self.provision(cluster, nodes, now, then)

    def restart(self, cluster: Cluster, nodes: Sequence[Node], status: str, now: float, then: Callable[[float], None]) -> None:
        """Take the nodes through a status and back to Running: the lifecycle script does not run."""
        self._fleet.reboot(nodes)
        for node in nodes:
            node.status = status

        def finish(second: float) -> None:
            for node in nodes:
                if node.status == status:
                    node.status = "Running"
            then(second)

        cluster.timeline.at(now + self.step, lambda later: self.when_booted(cluster, nodes, later, finish))

    def remove(self, cluster: Cluster, nodes: Sequence[Node], now: float, then: Callable[[float], None] | None = None) -> None:
        """Shut the nodes down; they are gone one transition later, and their interfaces too. Goes on with `then`."""
        for node in nodes:
            node.status, node.waiting = "ShuttingDown", False
            cluster.record(now, "Instance", "Instance termination started", node=node)
        self._fleet.terminate(nodes)
        leaving, gone = self._side_effects.leave_network(cluster, nodes), frozenset(nodes)

        def drop(second: float) -> None:
            for group in cluster.groups.values():
                group.nodes = [node for node in group.nodes if node not in gone]
            if then is not None:
                then(second)

        cluster.timeline.at(now + self.step, lambda second: self.after(cluster, leaving, second, drop))

    def run_scripts(
        self, cluster: Cluster, nodes: Sequence[Node], second: float, then: Callable[[float, Mapping[Node, str]], None]
    ) -> None:
        """Write the nodes' lifecycle logs, and go on with the failures of their scripts, those that a test asked for too."""
        outcomes = {node: self._outcome(cluster, node) for node in nodes}
        failures = {node: failure for node, (failure, _) in outcomes.items() if failure is not None}
        writing = self._side_effects.log_scripts(cluster, {node: lines for node, (_, lines) in outcomes.items()})
        self.after(cluster, writing, second, lambda later: then(later, failures))

    def _outcome(self, cluster: Cluster, node: Node) -> tuple[str | None, Sequence[str]]:
        outcome = self._fleet.outcome(node)
        failure, lines = (None, ()) if outcome is None else (outcome.failure, outcome.log)
        asked = self._faults.failing_scripts.get(node.group) if "LifeCycleConfig" in node.spec else None
        if asked is not None:
            failure, lines = asked, (*lines, "A test asked for the failure of this script:", asked, "exit status 1")
        if failure is None:
            return None, lines
        stream = f"LifecycleConfig/{node.group}/{node.instance_id}"
        message = (
            f"Lifecycle scripts did not run successfully on instance {node.instance_id} of instance group {node.group}:"
            f" {failure} (CloudWatch log group {cluster.log_group}, stream {stream})"
        )
        return message, lines

    def _would_pass(self, node: Node) -> bool:
        """Whether a failure was asked for by a test that does not ask any more; scripts that failed by themselves do again."""
        outcome = self._fleet.outcome(node)
        return node.group not in self._faults.failing_scripts and (outcome is None or outcome.failure is None)

    def _capacity(self, node: Node) -> str | None:
        if node.group in self._faults.no_capacity:
            return None
        return next((name for name in instance_types(node.spec) if name not in self._faults.no_capacity), None)

    def _launch(self, cluster: Cluster, node: Node, second: float) -> bool:
        """Find hardware for the node; whether there is some."""
        if node.status != "Pending":
            return False
        name = self._capacity(node)
        if name is None:
            node.waiting = True
            wanted = ", ".join(instance_types(node.spec))
            node.message = f"Insufficient capacity for the requested instance type(s) {wanted} of instance group {node.group}"
            self._failed(cluster, node, second, "Instance provisioning failed")
            return False
        node.instance_id, node.instance_type, node.message = new_instance_id(), name, ""
        node.launched = second
        return True

    def _start(self, cluster: Cluster, node: Node, failure: str | None, second: float) -> None:
        if node.status != "Pending" or not node.instance_id:
            return
        if failure is not None:
            node.status, node.message = "Failure", failure
            self._failed(cluster, node, second, "Lifecycle script execution failed")
            return
        node.status = "Running"
        metadata = {"Instance": _facts(node) | {"LcsExecutionState": "Succeeded"}}
        cluster.record(second, "Instance", "Instance provisioned", node=node, metadata=metadata)

    @staticmethod
    def _failed(cluster: Cluster, node: Node, second: float, description: str) -> None:
        metadata = {"Instance": _facts(node) | {"FailureMessage": node.message}}
        cluster.record(second, "Instance", description, level="Error", node=node, metadata=metadata)


def _boots(node: Node) -> bool:
    return bool(node.instance_id) and node.status in ("Pending", "SystemUpdating")


def first_failure(nodes: Iterable[Node]) -> str | None:
    """The message of the first node that has not come to run, if one has not."""
    return next((node.message for node in nodes if node.waiting or node.status == "Failure"), None)


def _facts(node: Node) -> dict[str, str]:
    facts = {"NodeLogicalId": node.logical_id}
    return facts | ({"CustomerEni": node.interface.interface_id} if node.interface is not None else {})
