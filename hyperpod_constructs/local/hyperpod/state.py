"""State of the embedded HyperPod: clusters, groups, nodes, events, and the actions that are due."""

from __future__ import annotations

import heapq
import itertools
import secrets
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperpod_constructs.facts.health_checks import IN_PROGRESS
from hyperpod_constructs.facts.node_permissions import LOG_GROUPS
from hyperpod_constructs.local.aws_service import Caller

Spec = Mapping[str, Any]
"""One element of InstanceGroups, as the request gave it."""


class Timeline:
    """Actions with the second at which they are due. They run when somebody looks, in order, each with its own time.

    So a cluster takes the same path however often it is polled, and nothing happens behind the back of a test.
    """

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Callable[[float], None]]] = []
        self._order = itertools.count()

    def at(self, second: float, action: Callable[[float], None]) -> None:
        """Run the action at that second."""
        heapq.heappush(self._due, (second, next(self._order), action))

    def run(self, now: float) -> None:
        """Run everything that is due until now, and what that makes due."""
        while self._due and self._due[0][0] <= now:
            second, _, action = heapq.heappop(self._due)
            action(second)

    def clear(self) -> None:
        """Forget every action."""
        self._due.clear()


@dataclass(frozen=True, slots=True)
class Interface:
    """A network interface of a node in the user's subnet."""

    interface_id: str
    address: str


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a node goes: a subnet with its zone, the security groups, and how many of its addresses the node takes."""

    subnet: str
    zone: str
    zone_id: str
    security_groups: tuple[str, ...]
    addresses: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a boot ended: the failure of the node's scripts, if they failed, and the lines of their log."""

    failure: str | None
    log: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Software:
    """What a root volume holds: the image by its names, as far as they were given, and how often an unnamed newest one was asked
    for.
    """

    newest: int
    image_id: str | None
    version: str | None


@dataclass(eq=False)
class Node:
    """A node. `instance_id` is empty until it has capacity; `spec` is its group's as of its launch; `software` is on its root
    volume; `outcome` is that of a boot that the fleet has no part in; `boots` counts its boots; `checked` is the result of deep
    health checks on demand, if it had some.
    """

    spec: Spec
    placement: Placement | None
    logical_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    instance_id: str = ""
    instance_type: str = ""
    status: str = "Pending"
    message: str = ""
    created: float = 0.0
    launched: float = 0.0
    updated: float | None = None
    interface: Interface | None = None
    outcome: Outcome | None = None
    waiting: bool = False
    software: Software | None = None
    boots: int = 0
    checked: bool | None = None

    @property
    def group(self) -> str:
        """The name of its instance group."""
        return str(self.spec["InstanceGroupName"])

    @property
    def node_type(self) -> str | None:
        """Its Slurm node type; None without a Slurm configuration."""
        return node_type(self.spec)


@dataclass(eq=False)
class LiveGroup:
    """An instance group: its specification and its present nodes.

    `software` is that of the group as a whole, which lags behind `wanted` until an update has reached every node; `newest` counts
    the updates to an unnamed newest image; `deployment` is that of the update that goes on. `schedule` and `patch_date` are noted
    in the timeline, and `due` is the next time of the schedule. `restricted` says of which list of a request it is.
    """

    spec: Spec
    nodes: list[Node] = field(default_factory=list)
    status: str = "Creating"
    software_update: str | None = None
    deployment: Mapping[str, Any] | None = None
    newest: int = 0
    schedule: str | None = None
    due: float | None = None
    patch_date: float | None = None
    restricted: bool = False
    software: Software = field(init=False)

    def __post_init__(self) -> None:
        self.software = self.wanted

    @property
    def wanted(self) -> Software:
        """The software that a node gets with its next root volume."""
        return Software(self.newest, self.spec.get("ImageId"), self.spec.get("ImageReleaseVersion"))

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.spec["InstanceGroupName"])

    @property
    def target(self) -> int:
        """How many nodes it is to have."""
        return int(self.spec["InstanceCount"])

    @property
    def running(self) -> int:
        """How many of its nodes are usable."""
        return sum(node.status in ("Running", "SystemUpdating", IN_PROGRESS) for node in self.nodes)


@dataclass(frozen=True, slots=True)
class Event:
    """An entry of ListClusterEvents; `metadata` is what DescribeClusterEvent adds."""

    event_id: str
    time: float
    resource_type: str
    level: str
    description: str
    group: str | None
    instance_id: str | None
    metadata: Mapping[str, Any]


@dataclass(eq=False)
class Scaling:
    """A group in a scaling operation: its counts before, and those that were asked for."""

    group: str
    original: Mapping[str, int]
    desired: Mapping[str, int]
    status: str = "InProgress"


@dataclass(eq=False)
class ClusterOperation:
    """An entry of ListClusterOperations; `checks` are the configurations of a request for deep health checks."""

    kind: str
    created: float
    scaling: list[Scaling] = field(default_factory=list)
    checks: list[Mapping[str, Any]] = field(default_factory=list)
    status: str = "InProgress"
    operation_id: str = field(default_factory=lambda: str(uuid.uuid4()))


@dataclass(eq=False)
class AutoScaling:
    """How the installation of autoscaling goes, in the words of DescribeCluster."""

    status: str = "InService"
    failure: str = ""


@dataclass(eq=False)
class Cluster:
    """A cluster. `settings` are the request's members other than the groups and the tags."""

    name: str
    arn: str
    caller: Caller
    created: float
    settings: dict[str, Any]
    groups: dict[str, LiveGroup]
    tags: dict[str, str]
    status: str = "Creating"
    failure: str = ""
    events: list[Event] = field(default_factory=list)
    operations: list[ClusterOperation] = field(default_factory=list)
    timeline: Timeline = field(default_factory=Timeline)
    patched: bool = False
    gone: bool = False
    entries: list[str] = field(default_factory=list)
    """The roles with access entries that were made for it in its EKS cluster."""
    outsiders: dict[str, str] = field(default_factory=dict)
    """The roles with an access entry of another type than HyperPod's, and that type: their nodes never join."""
    auto_scaling: AutoScaling = field(default_factory=AutoScaling)
    lustre: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The file systems of restricted groups as they are now, by group; the shared one under an empty name."""

    @property
    def cluster_id(self) -> str:
        """The last part of the ARN, which names the log group and SSM targets."""
        return self.arn.rpartition("/")[2]

    @property
    def log_group(self) -> str:
        """The CloudWatch log group that its nodes write to."""
        return f"{LOG_GROUPS}/{self.name}/{self.cluster_id}"

    @property
    def continuous(self) -> bool:
        """Whether it provisions nodes continuously, rather than all or none."""
        return self.settings.get("NodeProvisioningMode") == "Continuous"

    def nodes(self) -> Iterator[Node]:
        """Every node, group by group."""
        for group in self.groups.values():
            yield from group.nodes

    def record(
        self,
        second: float,
        resource_type: str,
        description: str,
        *,
        level: str = "Info",
        group: str | None = None,
        node: Node | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Note an event. Only continuous mode has events; in the other, the cluster's FailureMessage tells causes."""
        if not self.continuous:
            return
        event_id = str(uuid.uuid4())
        instance = node.instance_id if node is not None and node.instance_id else None
        place = node.group if node is not None else group
        self.events.append(Event(event_id, second, resource_type, level, description, place, instance, metadata or {}))


def node_type(spec: Spec) -> str | None:
    """The Slurm node type of a group; None without a Slurm configuration."""
    configuration = spec.get("SlurmConfig")
    return None if configuration is None else str(configuration["NodeType"])


def instance_types(spec: Spec) -> list[str]:
    """The instance types of a group in the order of preference; one, unless the group is a flexible one."""
    if "InstanceType" in spec:
        return [spec["InstanceType"]]
    return list(spec["InstanceRequirements"]["InstanceTypes"])


def new_instance_id() -> str:
    """An EC2 instance id of the current length."""
    return f"i-{secrets.token_hex(9)[:17]}"


def new_cluster_id() -> str:
    """Twelve lowercase letters and digits, as the ARN of a cluster ends."""
    alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"
    return "".join(secrets.choice(alphabet) for _ in range(12))
