"""How a cluster moves from state to state: creation, updates, software updates, rollback and deletion.

Without continuous provisioning an operation gets all of its nodes or none: it rolls back, and FailureMessage tells why.
With it, the cluster is InService as soon as its controller and its login nodes run, and stays so while workers come and
go. A controller or login node that fails takes the creation back in both modes; scaling in takes the newest nodes
first; a software update that fails leaves the old software. The documentation does not settle these three, nor the
wording of messages and events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hyperpod_constructs.facts import clusters
from hyperpod_constructs.local.hyperpod.provisioner import Provisioner, first_failure
from hyperpod_constructs.local.hyperpod.state import HEAD_TYPES, Cluster, LiveGroup, Node, Placement, Spec

NewNodes = Mapping[str, Sequence[Placement | None]]
"""By instance group: the placements of the nodes to add."""


class Machine:
    """The transitions of clusters."""

    def __init__(self, provisioner: Provisioner) -> None:
        self._nodes = provisioner

    def create(self, cluster: Cluster, placements: NewNodes, now: float) -> None:
        """Begin the creation."""
        cluster.record(now, "Cluster", "Cluster creation started")
        nodes = self._add(cluster, placements, now)
        heads = [node for node in nodes if node.node_type in HEAD_TYPES] if cluster.continuous else nodes
        rest = [node for node in nodes if node.node_type not in HEAD_TYPES] if cluster.continuous else []

        def finish(second: float) -> None:
            failure = first_failure(heads)
            if failure is not None:
                self._roll_back_creation(cluster, failure, second)
                return
            self._in_service(cluster, second)
            if rest:
                self._nodes.provision(cluster, rest, second, lambda later: self.settle(cluster, later))

        self._nodes.provision(cluster, heads, now, finish)
        self._watch_minimum(cluster, {}, now)

    def update(
        self, cluster: Cluster, specs: Sequence[Spec], placements: NewNodes, settings: Mapping[str, object], now: float
    ) -> None:
        """Begin an update to these groups and settings."""
        before = {name: group.spec for name, group in cluster.groups.items()}
        settings_before = dict(cluster.settings)
        cluster.settings.update(settings)
        cluster.failure = ""
        cluster.record(now, "Cluster", "Cluster update started")
        for spec in specs:
            cluster.groups.setdefault(spec["InstanceGroupName"], LiveGroup(spec)).spec = spec
        nodes = self._add(cluster, placements, now)
        if cluster.continuous:
            self._shrink(cluster, specs, now)
            self._nodes.provision(cluster, nodes, now, lambda second: self.settle(cluster, second))
            self._watch_minimum(cluster, before, now)
            return
        _set_status(cluster, "Updating")

        def finish(second: float) -> None:
            failure = first_failure(nodes)
            if failure is None:
                self._shrink(cluster, specs, second)
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

    def update_software(self, cluster: Cluster, groups: Sequence[LiveGroup], versions: Mapping[str, str], now: float) -> None:
        """Begin a software update: the root volumes are replaced and the groups' present scripts run again."""
        cluster.status = "SystemUpdating"
        for group in groups:
            group.status, group.software_update = "SystemUpdating", "InProgress"
            for node in group.nodes:
                node.status = "SystemUpdating"

        def booted(second: float) -> None:
            self._nodes.run_scripts(cluster, [node for group in groups for node in group.nodes], second, finish)

        def finish(second: float, failures: Mapping[Node, str]) -> None:
            for group in groups:
                failure = next((failures[node] for node in group.nodes if node in failures), None)
                cluster.failure = cluster.failure or failure or ""
                group.software_update = "Succeeded" if failure is None else "RollbackComplete"
                if failure is None and group.name in versions:
                    group.spec = {**group.spec, "ImageReleaseVersion": versions[group.name]}
                for node in group.nodes:
                    node.status = "Running"
                    if failure is None:
                        node.updated, node.spec = second, group.spec
            self._in_service(cluster, second)

        self._nodes.renew(cluster, [node for group in groups for node in group.nodes], now, booted)

    def delete(self, cluster: Cluster, now: float) -> None:
        """Begin the deletion, which gives up whatever was under way."""
        cluster.timeline.clear()
        _set_status(cluster, "Deleting")

        def end(_: float) -> None:
            cluster.gone = True

        self._nodes.remove(cluster, list(cluster.nodes()), now, end)

    def advance(self, cluster: Cluster, now: float) -> None:
        """Run every due action, and retry the failed nodes of a continuous cluster."""
        cluster.timeline.run(now)
        if cluster.continuous and cluster.status == "InService":
            self._nodes.retry(cluster, now, lambda second: self.settle(cluster, second))

    def settle(self, cluster: Cluster, second: float) -> None:
        """Set the groups' states by their nodes, in continuous mode."""
        for group in cluster.groups.values():
            if group.status == "Deleting" or (group.status == "Creating" and group.running < group.spec.get("MinInstanceCount", 0)):
                continue
            if group.status == "Creating":
                cluster.record(second, "InstanceGroup", "Instance group is in service", group=group.name)
            group.status = "Degraded" if any(node.status == "Failure" for node in group.nodes) else "InService"

    def _add(self, cluster: Cluster, placements: NewNodes, now: float) -> list[Node]:
        return [
            node for name, found in placements.items() for node in self._nodes.add(cluster, cluster.groups[name].spec, found, now)
        ]

    def _in_service(self, cluster: Cluster, second: float) -> None:
        cluster.status = "InService"
        if cluster.continuous:
            self.settle(cluster, second)
        else:
            _set_status(cluster, "InService")
        cluster.record(second, "Cluster", "Cluster is in service")

    def _shrink(self, cluster: Cluster, specs: Sequence[Spec], second: float) -> None:
        kept = {spec["InstanceGroupName"] for spec in specs}
        for name, group in list(cluster.groups.items()):
            if name in kept:
                self._nodes.remove(cluster, _surplus(group), second)
                continue
            group.status = "Deleting"
            self._nodes.remove(cluster, group.nodes, second)
            cluster.timeline.at(second + self._nodes.step, _dropping(cluster, name))

    def _roll_back_creation(self, cluster: Cluster, failure: str, second: float) -> None:
        cluster.status, cluster.failure = "RollingBack", failure
        cluster.record(
            second,
            "Cluster",
            "Cluster creation failed",
            level="Error",
            metadata={"Cluster": {"FailureMessage": failure}},
        )
        self._nodes.remove(cluster, list(cluster.nodes()), second)
        cluster.timeline.at(second + self._nodes.step, lambda _: _set_status(cluster, "Failed"))

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
            cluster.record(second, "InstanceGroup", "Scaling rolled back", level="Error", group=group.name, metadata=metadata)
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
