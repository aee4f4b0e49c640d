"""Software updates: nodes get a new root volume batch by batch, and the groups' present scripts run again.

A batch whose scripts fail runs them a few times; then its group goes back to the old software, and the update ends as Failed. An
alarm in ALARM takes back every group of the update. Either way the groups whose turn had not come stay as they are.

The documentation does not settle these, so they are decided here: groups are updated one after another; the alarms are looked at
before every batch, while the update waits, and after the last batch, and one that is gone counts as one in ALARM; a rollback does
not wait between its batches; the scripts succeed on the old software; a node that has the named image already is left alone; the
cluster is SystemUpdating while a patch waits for jobs to end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperpod_constructs.facts import clusters
from hyperpod_constructs.facts.health_checks import IN_PROGRESS
from hyperpod_constructs.facts.software_updates import CUSTOM_IMAGE
from hyperpod_constructs.local.hyperpod.deployment import Deployment
from hyperpod_constructs.local.hyperpod.provisioner import Provisioner, Then
from hyperpod_constructs.local.hyperpod.state import Cluster, LiveGroup, Node, Software, Spec
from hyperpod_constructs.local.hyperpod.watch import Watch

ALARM_POLL_SECONDS = 30.0
JOB_POLL_SECONDS = 60.0

Failures = Mapping[Node, str]


@dataclass(frozen=True, slots=True)
class Idle:
    """An update that waits for nodes without jobs: for each node or for all of them, until a second of the clock."""

    together: bool
    until: float


@dataclass(eq=False)
class Update:
    """An update that goes on. `before` has the software of each group, `volumes` what the taken nodes had."""

    cluster: Cluster
    groups: Sequence[LiveGroup]
    deployment: Deployment
    idle: Idle | None = None
    left: deque[Sequence[Node]] = field(default_factory=deque)
    before: dict[str, Software] = field(default_factory=dict)
    volumes: dict[Node, tuple[Spec, Software | None]] = field(default_factory=dict)

    def groups_of(self, nodes: Iterable[Node]) -> list[LiveGroup]:
        """The groups of the nodes."""
        names = {node.group for node in nodes}
        return [group for group in self.groups if group.name in names]

    def record(self, second: float, outcome: str, cause: str = "") -> None:
        """Note an event of the cluster."""
        said = f"Cluster {self.cluster.name} software update {outcome}"
        metadata = {"Cluster": {"FailureMessage": cause}} if cause else None
        self.cluster.record(second, "Cluster", said, level="Error" if cause else "Info", metadata=metadata)


class SoftwareUpdates:
    """Begins software updates; `rest` puts a cluster and its groups in service."""

    def __init__(self, nodes: Provisioner, watch: Watch, rest: Callable[[Cluster, float], None]) -> None:
        self._nodes = nodes
        self._watch = watch
        self._rest = rest

    def begin(
        self,
        cluster: Cluster,
        images: Mapping[str, Mapping[str, str]],
        config: Mapping[str, Any],
        now: float,
        idle: Idle | None = None,
    ) -> None:
        """Begin to update groups of a cluster in service, each to the image that is named, or to the newest one."""
        groups = [cluster.groups[name] for name in images]
        update = Update(cluster, groups, Deployment(config), idle)
        cluster.status, cluster.failure = "SystemUpdating", ""
        for group in groups:
            update.before[group.name] = group.software
            _want(group, images[group.name])
            group.status, group.software_update, group.deployment = "SystemUpdating", "Pending", config
        update.left.extend(update.deployment.batches([_stale(group) for group in groups]))
        update.record(now, "started successfully")
        self._next(update, now)

    def _next(self, update: Update, second: float) -> None:
        def quiet(later: float) -> None:
            if not update.left:
                self._succeed(update, later)
            elif update.idle is None:
                self._take(update, update.left.popleft(), later)
            else:
                self._take_idle(update, update.idle, later)

        self._look(update, second, quiet)

    def _look(self, update: Update, second: float, quiet: Then) -> None:
        """Go on with `quiet`, unless an alarm ends the update."""
        alarms, raised = update.deployment.alarms, list[str]()

        def looked(later: float) -> None:
            if raised:
                cause = f"The software update was rolled back: {'; '.join(raised)}"
                self._roll_back(update, update.groups, cause, "RollbackComplete", later)
            else:
                quiet(later)

        if alarms:
            self._nodes.after(update.cluster, self._watch.alarms(update.cluster, alarms, raised), second, looked)
        else:
            quiet(second)

    def _wait(self, update: Update, end: float, second: float) -> None:
        def look(later: float) -> None:
            self._look(update, later, lambda latest: self._wait(update, end, latest))

        if update.deployment.alarms and second + ALARM_POLL_SECONDS < end:
            update.cluster.timeline.at(second + ALARM_POLL_SECONDS, look)
        else:
            update.cluster.timeline.at(end, lambda later: self._next(update, later))

    def _take_idle(self, update: Update, idle: Idle, second: float) -> None:
        nodes = [node for batch in update.left for node in batch]
        busy: set[Node] = set()

        def looked(later: float) -> None:
            free = [node for node in nodes if node not in busy]
            if free and not (busy and idle.together):
                update.left = deque([[node for node in nodes if node in busy]] if busy else [])
                self._take(update, free, later)
            elif later + JOB_POLL_SECONDS <= idle.until:
                update.cluster.timeline.at(later + JOB_POLL_SECONDS, lambda latest: self._take_idle(update, idle, latest))
            elif update.volumes:
                update.left.clear()
                self._succeed(update, later)
            else:
                cause = f"jobs ran on {len(busy)} of {len(nodes)} nodes until the patch gave up; no node was patched"
                self._roll_back(update, update.groups, cause, "RollbackComplete", later)

        self._nodes.after(update.cluster, self._watch.jobs(nodes, busy), second, looked)

    def _take(self, update: Update, nodes: Sequence[Node], now: float) -> None:
        """Update one batch."""
        update.volumes |= {node: (node.spec, node.software) for node in nodes}
        for group in update.groups_of(nodes):
            group.software_update = "InProgress"
            members = [node for node in nodes if node.group == group.name]
            for node in members:
                node.status, node.software, node.spec = "SystemUpdating", group.wanted, group.spec
            said = f"Software update of Instance Group {group.name} started a batch of {len(members)}"
            update.cluster.record(now, "InstanceGroup", said, group=group.name)

        def attempt(second: float, tried: Sequence[Node], left: int) -> None:
            def ran(later: float, failures: Failures) -> None:
                for node, failure in failures.items():
                    node.message = failure
                if failures and left > 1:
                    attempt(later, list(failures), left - 1)
                else:
                    self._taken(update, nodes, failures, later)

            self._nodes.boot(
                update.cluster, tried, second, lambda later: self._nodes.run_scripts(update.cluster, tried, later, ran)
            )

        attempt(now, nodes, clusters.SOFTWARE_UPDATE_ATTEMPTS)

    def _taken(self, update: Update, nodes: Sequence[Node], failures: Failures, second: float) -> None:
        failed = update.groups_of(failures)
        following = update.left[0][0].group if update.left else None
        for group in update.groups_of(nodes):
            if group not in failed:
                update.cluster.patched = True
                _up([node for node in nodes if node.group == group.name], second)
                if group.name != following:
                    _finish(group, "Succeeded")
        if failed:
            self._roll_back(update, failed, next(iter(failures.values())), "Failed", second)
        elif update.left:
            self._wait(update, second + update.deployment.wait, second)
        else:
            self._next(update, second)

    def _succeed(self, update: Update, second: float) -> None:
        update.cluster.patched = True
        for group in update.groups:
            _finish(group, "Succeeded")
        self._end(update, second, "completed successfully")

    def _roll_back(self, update: Update, groups: Sequence[LiveGroup], cause: str, status: str, second: float) -> None:
        """Take the groups back to the old software; those whose turn has not come stay as they are."""
        update.left.clear()
        update.cluster.failure = cause
        nodes = [[node for node in group.nodes if node in update.volumes] for group in groups]
        going_back = []
        for group in update.groups:
            if group.software_update == "Pending":
                _want_again(group, update.before[group.name])
                _finish(group, "RollbackComplete")
            elif group in groups:
                group.software, group.software_update = group.wanted, "RollbackInProgress"
                _want_again(group, update.before[group.name])
                going_back.append(group)
        batches = deque(update.deployment.rollback_batches(nodes))

        def go_on(later: float) -> None:
            if batches:
                self._take_back(update, batches.popleft(), later, go_on)
                return
            for group in going_back:
                _finish(group, status)
            self._end(update, later, "failed", cause)

        go_on(second)

    def _take_back(self, update: Update, nodes: Sequence[Node], second: float, then: Then) -> None:
        for node in nodes:
            node.status = "SystemUpdating"
            node.spec, node.software = update.volumes[node]

        def up(later: float) -> None:
            for node in nodes:
                node.status = "Running"
            then(later)

        self._nodes.boot(update.cluster, nodes, second, up)

    def _end(self, update: Update, second: float, outcome: str, cause: str = "") -> None:
        for group in update.groups:
            group.deployment = None
        self._rest(update.cluster, second)
        update.record(second, outcome, cause)


def _want(group: LiveGroup, image: Mapping[str, str]) -> None:
    """Make an image what the group wants."""
    group.spec = {**group.spec, **image}
    if "ImageReleaseVersion" not in image and not image.get("ImageId", "").startswith(CUSTOM_IMAGE):
        group.newest += 1


def _want_again(group: LiveGroup, software: Software) -> None:
    """Make the image that the group had what it wants, also one that an UpdateCluster request has renamed since."""
    names = {"ImageId": software.image_id, "ImageReleaseVersion": software.version}
    others = {key: value for key, value in group.spec.items() if key not in names}
    group.spec, group.newest = others | {key: value for key, value in names.items() if value is not None}, software.newest


def _stale(group: LiveGroup) -> list[Node]:
    return [node for node in group.nodes if node.status in ("Running", IN_PROGRESS) and node.software != group.wanted]


def _up(nodes: Iterable[Node], second: float) -> None:
    for node in nodes:
        node.status, node.message, node.updated = "Running", "", second


def _finish(group: LiveGroup, status: str) -> None:
    group.software, group.software_update = group.wanted, status
