"""Nodes come and go here: capacity, network, lifecycle script, and the retry of failed nodes.

With continuous provisioning every failed node is provisioned again: one without capacity at the next call that finds some, the
others after a pause. Each attempt is another instance, which AWS bills from the start of its script. An unhealthy instance is
replaced at once, in both modes. AWS does not publish the pause, nor the states in between: a node without capacity is Pending
without an instance id; a node with a failed script is in Failure until its next attempt. An interface is deleted when its node
begins to shut down, so that nothing depends on polling. Calls to other services are tasks: they run outside the lock, and the
timeline awaits them.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.hyperpod.background import Task
from hyperpod_constructs.local.hyperpod.fleet import Fleet
from hyperpod_constructs.local.hyperpod.side_effects import SideEffects
from hyperpod_constructs.local.hyperpod.state import Cluster, Node, Outcome, Placement, Spec, instance_types, new_instance_id

BOOT_POLL_SECONDS = 1.0
TASK_POLL_SECONDS = 0.1
RETRY_SECONDS = 30.0

Then = Callable[[float], None]
Waits = Callable[[Spec, float], str | None]
Examine = Callable[[Cluster, Sequence[Node], float], None]


class Provisioner:
    """Launches, restarts and removes nodes; each transition takes `Faults.slow_creation` seconds, plus the time of the fleet."""

    def __init__(self, faults: Faults, side_effects: SideEffects, fleet: Fleet, waits: Waits, examine: Examine) -> None:
        """`waits` tells why the nodes of a group must wait at some time; None if they need not. `examine` begins the deep health
        checks of nodes that have started.
        """
        self._faults = faults
        self._waits = waits
        self._examine = examine
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
            said = f"InstanceGroup {group.name} scaling started successfully in Cluster {cluster.name}"
            cluster.record(now, "InstanceGroup", said, group=group.name, metadata=metadata)
        return nodes

    def provision(self, cluster: Cluster, nodes: Sequence[Node], now: float, then: Then) -> None:
        """Launch the nodes, run their scripts, and go on with `then`, whatever became of them, after every attempt."""
        for node in nodes:
            node.waiting, node.status = False, "Pending"

        refused: dict[Node, str] = {}

        def launch(second: float) -> None:
            if self._unhealthy(cluster, nodes, second):
                cluster.timeline.at(second + self.step, launch)
                return
            ready = [node for node in nodes if self._launch(cluster, node, second)]
            self.after(cluster, self._side_effects.enter_network(cluster, ready, refused), second, entered)

        def entered(second: float) -> None:
            for node, cause in refused.items():
                node.status, node.message = "Failure", f"Customer network interface creation failed: {cause}"
                self._failed(cluster, node, second, f"Failed to create Customer ENI for instance in {_place(cluster, node)}")
            self.boot(cluster, [node for node in nodes if _boots(node)], second, booted)

        def booted(second: float) -> None:
            started = [node for node in nodes if node.status == "Pending" and node.instance_id]
            self.run_scripts(cluster, started, second, finish)

        def finish(second: float, failures: Mapping[Node, str]) -> None:
            for node in nodes:
                self._start(cluster, node, failures.get(node), second)
            self._examine(cluster, [node for node in nodes if node.status == "Running"], second)
            then(second)
            if cluster.continuous and any(node.status == "Failure" for node in nodes):
                cluster.timeline.at(second + RETRY_SECONDS, again)

        def again(second: float) -> None:
            failed = [node for node in nodes if node.status == "Failure"]
            if failed:
                self._anew(cluster, failed, second, then)

        cluster.timeline.at(now + self.step, launch if nodes else then)

    def boot(self, cluster: Cluster, nodes: Sequence[Node], second: float, then: Then) -> None:
        """Boot nodes that have an instance id, with new root volumes, and go on with `then` when every boot has ended.

        A node whose scripts cannot be had does not boot; its outcome says why.
        """
        for node in nodes:
            node.outcome = None
            node.boots += 1

        def fetched(later: float) -> None:
            self._fleet.launch(cluster, [node for node in nodes if node.outcome is None])
            cluster.timeline.at(later + self.step, lambda latest: self._when_booted(cluster, nodes, latest, then))

        self.after(cluster, self._side_effects.fetch_scripts(cluster, nodes), second, fetched)

    def after(self, cluster: Cluster, task: Task, second: float, then: Then) -> None:
        """Go on with `then` as soon as the task has ended."""
        if task.done:
            then(second)
        else:
            cluster.timeline.at(second + TASK_POLL_SECONDS, lambda later: self.after(cluster, task, later, then))

    def retry(self, cluster: Cluster, now: float, then: Then) -> None:
        """Try the nodes again that waited for capacity, if there is some now."""
        nodes = [node for node in cluster.nodes() if node.waiting and self._ready(cluster, node, now)]
        if nodes:
            self._anew(cluster, nodes, now, then)

    def replace(self, cluster: Cluster, nodes: Sequence[Node], now: float, then: Then) -> None:
        """New hardware for the nodes: other instance ids, the same logical ids and addresses, the group's present
        scripts.
        """
        for node in nodes:
            node.spec = cluster.groups[node.group].spec
        self._anew(cluster, nodes, now, then)

    def restart(self, cluster: Cluster, nodes: Sequence[Node], status: str, now: float, then: Then) -> None:
        """Take the nodes through a status and back to Running: the lifecycle script does not run."""
        self._fleet.reboot(nodes)
        for node in nodes:
            node.status = status
            node.boots += 1

        def finish(second: float) -> None:
            for node in nodes:
                if node.status == status:
                    node.status = "Running"
            then(second)

        cluster.timeline.at(now + self.step, lambda later: self._when_booted(cluster, nodes, later, finish))

    def remove(self, cluster: Cluster, nodes: Sequence[Node], now: float, then: Then | None = None) -> None:
        """Shut the nodes down; they are gone one transition later, and their interfaces too. Goes on with `then`."""
        for node in nodes:
            node.status, node.waiting = "ShuttingDown", False
            said = f"Termination of EC2 Instance {node.instance_id} is currently in progress in {_place(cluster, node)}"
            cluster.record(now, "Instance", said, node=node)
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
        outcomes = {node: self._judged(cluster, node) for node in nodes}
        failures = {node: failure for node, (failure, _) in outcomes.items() if failure is not None}
        writing = self._side_effects.log_scripts(cluster, {node: lines for node, (_, lines) in outcomes.items()})
        self.after(cluster, writing, second, lambda later: then(later, failures))

    def _anew(self, cluster: Cluster, nodes: Sequence[Node], now: float, then: Then) -> None:
        for node in nodes:
            node.instance_id, node.message, node.checked = "", "", None
        self.provision(cluster, nodes, now, then)

    def _outcome(self, node: Node) -> Outcome | None:
        return self._fleet.outcome(node) if node.outcome is None else node.outcome

    def _when_booted(self, cluster: Cluster, nodes: Sequence[Node], second: float, then: Then) -> None:
        if any(_boots(node) and self._outcome(node) is None for node in nodes):
            cluster.timeline.at(second + BOOT_POLL_SECONDS, lambda later: self._when_booted(cluster, nodes, later, then))
        else:
            then(second)

    def _judged(self, cluster: Cluster, node: Node) -> tuple[str | None, Sequence[str]]:
        outcome = self._outcome(node)
        failure, lines = (None, ()) if outcome is None else (outcome.failure, outcome.log)
        asked = self._faults.failing_scripts.get(node.group) if "LifeCycleConfig" in node.spec else None
        if asked is not None:
            failure, lines = asked, (*lines, "A test asked for the failure of this script:", asked, "exit status 1")
        if failure is None:
            return None, lines
        stream = f"LifecycleConfig/{node.group}/{node.instance_id}"
        message = (
            f"Instance {node.instance_id} failed to provision with the following error: "
            '"Lifecycle scripts did not run successfully. To view lifecycle script logs,'
            f" visit log group '{cluster.log_group}' and log stream '{stream}'.\" Note that multiple instances may be impacted."
            f" The end of the log of instance group {node.group}: {failure}"
        )
        return message, lines

    def _capacity(self, node: Node) -> str | None:
        if node.group in self._faults.no_capacity:
            return None
        return next((name for name in instance_types(node.spec) if name not in self._faults.no_capacity), None)

    def _awaited(self, cluster: Cluster, node: Node, second: float) -> str | None:
        """The plan that the node waits for. Without continuous provisioning it does not wait: that would end the operation."""
        return self._waits(node.spec, second) if cluster.continuous else None

    def _ready(self, cluster: Cluster, node: Node, second: float) -> bool:
        return self._capacity(node) is not None and self._awaited(cluster, node, second) is None

    def _unhealthy(self, cluster: Cluster, nodes: Sequence[Node], second: float) -> bool:
        """Whether an instance came up unhealthy, which is a reason to launch again."""
        for node in nodes:
            if node.status == "Pending" and self._ready(cluster, node, second) and self._faults.take_unhealthy(node.group):
                node.message = f"An instance for group {node.group} is unhealthy; it is replaced"
                self._failed(cluster, node, second, f"Failed to provision EC2 Instance in {_place(cluster, node)}")
                return True
        return False

    def _launch(self, cluster: Cluster, node: Node, second: float) -> bool:
        """Find hardware for the node; whether there is some."""
        if node.status != "Pending":
            return False
        name = self._capacity(node)
        if name is None or not self._ready(cluster, node, second):
            node.waiting = True
            node.message = self._awaited(cluster, node, second) or _no_capacity(cluster, node)
            self._failed(
                cluster, node, second, f"Instance creation in Cluster {cluster.name} and InstanceGroup {node.group} failed"
            )
            return False
        node.instance_id, node.instance_type, node.message = new_instance_id(), name, ""
        node.launched, node.software = second, cluster.groups[node.group].wanted
        return True

    def _start(self, cluster: Cluster, node: Node, failure: str | None, second: float) -> None:
        if node.status != "Pending" or not node.instance_id:
            return
        if failure is not None:
            node.status, node.message = "Failure", failure
            said = f"Instance lifecycle script execution for EC2 Instance {node.instance_id} has Failed."
            self._failed(cluster, node, second, f"{said} To view lifecycle script logs, visit log group {cluster.log_group}")
            return
        node.status = "Running"
        metadata = {"Instance": _facts(node) | {"LcsExecutionState": "Succeeded"}}
        said = f"EC2 Instance {node.instance_id} successfully provisioned in {_place(cluster, node)}"
        cluster.record(second, "Instance", said, node=node, metadata=metadata)

    @staticmethod
    def _failed(cluster: Cluster, node: Node, second: float, description: str) -> None:
        metadata = {"Instance": _facts(node) | {"FailureMessage": node.message}}
        cluster.record(second, "Instance", description, level="Error", node=node, metadata=metadata)


def first_failure(nodes: Iterable[Node]) -> str | None:
    """The message of the first node that has not come to run, if one has not."""
    return next((node.message for node in nodes if node.waiting or node.status == "Failure"), None)


def _boots(node: Node) -> bool:
    return bool(node.instance_id) and node.status in ("Pending", "SystemUpdating")


def _place(cluster: Cluster, node: Node) -> str:
    return f"Cluster {cluster.name} and IG {node.group}"


def _no_capacity(cluster: Cluster, node: Node) -> str:
    """The documented message of an event, or that of DescribeCluster, which is known from reports."""
    wanted = ", ".join(instance_types(node.spec))
    if cluster.continuous:
        return f"We currently do not have sufficient capacity to launch new {wanted} instances. Please try again."
    return f"Insufficient capacity for the requested instance type(s) {wanted} of instance group {node.group}"


def _facts(node: Node) -> dict[str, str]:
    facts = {"NodeLogicalId": node.logical_id}
    return facts | ({"CustomerEni": node.interface.interface_id} if node.interface is not None else {})
