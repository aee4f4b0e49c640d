"""How a cluster moves from state to state: creation, updates, rollback and deletion. See `software` for its software.

Without continuous provisioning an operation gets all of its nodes or none: it rolls back, and FailureMessage tells why.
With it, the controller comes first. Once it runs, login nodes and workers start in parallel, and the cluster is InService as
soon as one login node runs, if it has a login group. A controller without capacity or with a failed script makes the cluster
Failed.

The documentation does not settle these, so they are decided here: the nodes of a failed creation go; login nodes that all fail
are like the controller; scaling in takes the newest nodes first.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence

from hyperpod_constructs.facts import clusters
from hyperpod_constructs.local.hyperpod.provisioner import Provisioner, first_failure
from hyperpod_constructs.local.hyperpod.restricted import settle_files
from hyperpod_constructs.local.hyperpod.state import Cluster, LiveGroup, Node, Placement, Spec

NewNodes = Mapping[str, Sequence[Placement | None]]
"""By instance group: the placements of the nodes to add."""


class Machine:
    """The transitions of clusters."""

    def __init__(self, provisioner: Provisioner) -> None:
        self._nodes = provisioner

    def create(self, cluster: Cluster, placements: NewNodes, now: float, fault: str | None = None) -> None:
        """Begin the creation; `fault` is a mistake that the service finds while it provisions."""
        cluster.record(now, "Cluster", f"Cluster {cluster.name} creation started successfully")
        self._settle_files(cluster, now)
        nodes = self._add(cluster, placements, now)
        if cluster.continuous:
            self._create_continuously(cluster, nodes, now, fault)
            self._watch_minimum(cluster, {}, now)
            return

        def finish(second: float) -> None:
            failure = fault or first_failure(nodes)
            if failure is None:
                self._in_service(cluster, second)
                return
            cluster.status, cluster.failure = "RollingBack", failure
            self._nodes.remove(cluster, list(cluster.nodes()), second)
            cluster.timeline.at(second + self._nodes.step, lambda _: _set_status(cluster, "Failed"))

        self._nodes.provision(cluster, nodes, now, finish)

    def _create_continuously(self, cluster: Cluster, nodes: Sequence[Node], now: float, fault: str | None) -> None:
        controllers = [node for node in nodes if node.node_type == "Controller"]
        logins = [node for node in nodes if node.node_type == "Login"]
        workers = [node for node in nodes if node.node_type not in ("Controller", "Login")]

        def controller_up(second: float) -> None:
            failure = fault or first_failure(controllers)
            if failure is not None:
                self._fail_creation(cluster, failure, second)
                return
            if logins:
                self._nodes.provision(cluster, logins, second, login_up)
            else:
                self._in_service(cluster, second)
            if workers:
                self._nodes.provision(cluster, workers, second, lambda later: self.settle(cluster, later))

        def login_up(second: float) -> None:
            failure = first_failure(logins)
            if cluster.status != "Creating":
                self.settle(cluster, second)
            elif failure is None or any(node.status == "Running" for node in logins):
                self._in_service(cluster, second)
            else:
                self._fail_creation(cluster, failure, second)

        self._nodes.provision(cluster, controllers, now, controller_up)

    def update(
        self,
        cluster: Cluster,
        specs: Mapping[str, Spec],
        restricted: Container[str],
        placements: NewNodes,
        settings: Mapping[str, object],
        now: float,
        fault: str | None = None,
    ) -> None:
        """Begin an update to these groups and settings; `fault` is a mistake that the service finds while it provisions.

        `restricted` names the restricted groups.
        """
        if cluster.continuous and fault is not None:
            self._refuse_update(cluster, fault, now)
            return
        before = {name: group.spec for name, group in cluster.groups.items()}
        settings_before = dict(cluster.settings)
        cluster.settings.update(settings)
        cluster.failure = ""
        cluster.record(now, "Cluster", f"Cluster {cluster.name} update started successfully")
        for name, spec in specs.items():
            cluster.groups.setdefault(name, LiveGroup(spec, restricted=name in restricted)).spec = spec
        nodes = self._add(cluster, placements, now)
        if cluster.continuous:
            self._shrink(cluster, specs, now)
            self._settle_files(cluster, now)
            self._nodes.provision(cluster, nodes, now, lambda second: self.settle(cluster, second))
            self._watch_minimum(cluster, before, now)
            return
        _set_status(cluster, "Updating")

        def finish(second: float) -> None:
            failure = fault or first_failure(nodes)
            if failure is None:
                self._shrink(cluster, specs, second)
                self._settle_files(cluster, second)
                cluster.timeline.at(second + self._nodes.step, lambda later: self._in_service(cluster, later))
                return
            cluster.settings = settings_before
            for name, spec in before.items():
                cluster.groups[name].spec = spec
            self._roll_back_update(cluster, nodes, list(before), failure, second)

        self._nodes.provision(cluster, nodes, now, finish)

    def grow(self, cluster: Cluster, placements: NewNodes, now: float) -> list[Node]:
        """Add nodes to groups of a continuous cluster; their targets have been raised."""
        nodes = self._add(cluster, placements, now)
        self._nodes.provision(cluster, nodes, now, lambda second: self.settle(cluster, second))
        return nodes

    def delete(self, cluster: Cluster, now: float) -> None:
        """Begin the deletion, which gives up whatever was under way."""
        cluster.timeline.clear()
        _set_status(cluster, "Deleting")

        def end(_: float) -> None:
            cluster.gone = True

        self._nodes.remove(cluster, list(cluster.nodes()), now, end)

    def advance(self, cluster: Cluster, now: float) -> None:
        """Run every due action, and retry the nodes of a continuous cluster that wait for capacity."""
        cluster.timeline.run(now)
        if cluster.continuous and cluster.status in ("InService", "Creating"):
            self._nodes.retry(cluster, now, lambda second: self.settle(cluster, second))

    def settle(self, cluster: Cluster, second: float) -> None:
        """Set the groups' states by their nodes, in continuous mode."""
        for group in cluster.groups.values():
            if group.status == "Deleting" or (group.status == "Creating" and group.running < group.spec.get("MinInstanceCount", 0)):
                continue
            if group.status == "Creating":
                said = f"Instance Group {group.name} creation in Cluster {cluster.name} completed successfully"
                cluster.record(second, "InstanceGroup", said, group=group.name)
            group.status = "Degraded" if any(node.status == "Failure" for node in group.nodes) else "InService"

    def _add(self, cluster: Cluster, placements: NewNodes, now: float) -> list[Node]:
        return [
            node for name, found in placements.items() for node in self._nodes.add(cluster, cluster.groups[name].spec, found, now)
        ]

    def rest(self, cluster: Cluster, second: float) -> None:
        """Put the cluster and its groups in service."""
        cluster.status = "InService"
        if cluster.continuous:
            self.settle(cluster, second)
        else:
            _set_status(cluster, "InService")

    def _in_service(self, cluster: Cluster, second: float) -> None:
        operation = "creation" if cluster.status == "Creating" else "update"
        self.rest(cluster, second)
        cluster.record(second, "Cluster", f"Cluster {cluster.name} {operation} completed successfully")

    def _settle_files(self, cluster: Cluster, second: float) -> None:
        """Bring the file systems of restricted groups to what is wanted, behind the groups that leave."""
        cluster.timeline.at(second + self._nodes.step, lambda later: settle_files(cluster, later))

    def _shrink(self, cluster: Cluster, kept: Container[str], second: float) -> None:
        for name, group in list(cluster.groups.items()):
            if name in kept:
                self._nodes.remove(cluster, _surplus(group), second)
                continue
            group.status = "Deleting"
            self._nodes.remove(cluster, group.nodes, second)
            cluster.timeline.at(second + self._nodes.step, _dropping(cluster, name))

    def _fail_creation(self, cluster: Cluster, failure: str, second: float) -> None:
        _set_status(cluster, "Failed")
        cluster.failure = failure
        metadata = {"Cluster": {"FailureMessage": failure}}
        cluster.record(second, "Cluster", f"Cluster {cluster.name} creation failed", level="Error", metadata=metadata)
        self._nodes.remove(cluster, list(cluster.nodes()), second)

    def _refuse_update(self, cluster: Cluster, fault: str, second: float) -> None:
        cluster.failure = fault
        metadata = {"Cluster": {"FailureMessage": fault}}
        cluster.record(second, "Cluster", f"Cluster {cluster.name} update failed", level="Error", metadata=metadata)

    def _roll_back_update(self, cluster: Cluster, nodes: list[Node], names: Sequence[str], failure: str, second: float) -> None:
        cluster.status, cluster.failure = "RollingBack", failure
        self._nodes.remove(cluster, nodes, second)

        def end(later: float) -> None:
            for name in [name for name in cluster.groups if name not in names]:
                del cluster.groups[name]
            self._in_service(cluster, later)

        cluster.timeline.at(second + self._nodes.step, end)

    def _watch_minimum(self, cluster: Cluster, before: Mapping[str, Spec], now: float) -> None:
        for group in cluster.groups.values():
            if cluster.continuous and group.running < group.spec.get("MinInstanceCount", 0):
                deadline = now + clusters.HOURS_TO_MINIMUM * 3600.0
                cluster.timeline.at(deadline, self._minimum_check(cluster, group, before.get(group.name)))

    def _minimum_check(self, cluster: Cluster, group: LiveGroup, before: Spec | None) -> Callable[[float], None]:
        wanted = group.spec

        def check(second: float) -> None:
            least, hours = wanted["MinInstanceCount"], clusters.HOURS_TO_MINIMUM
            if group.spec is not wanted or group.running >= least:
                return
            message = f"instance group {group.name} did not reach its minimum of {least} nodes within {hours} hours"
            group.spec = before or {**wanted, "InstanceCount": 0, "MinInstanceCount": 0}
            metadata = {"InstanceGroup": {"FailureMessage": message}}
            said = f"Instance Group {group.name} scaling in Cluster {cluster.name} failed"
            cluster.record(second, "InstanceGroup", said, level="Error", group=group.name, metadata=metadata)
            group.status = "InService"
            self._nodes.remove(cluster, _surplus(group), second)

        return check


def _surplus(group: LiveGroup) -> list[Node]:
    """The nodes beyond the target: those that do not run first, then the newest."""
    alive = [node for node in group.nodes if node.status != "ShuttingDown"]
    alive.sort(key=lambda node: node.status != "Running")
    return alive[group.target :]


def _set_status(cluster: Cluster, status: str) -> None:
    cluster.status = status
    for group in cluster.groups.values():
        group.status = status


def _dropping(cluster: Cluster, name: str) -> Callable[[float], None]:
    def drop(_: float) -> None:
        cluster.groups.pop(name, None)

    return drop
