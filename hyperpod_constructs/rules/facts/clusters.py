"""HyperPod clusters of the templates and their instance groups, as rules read them.

    >>> for cluster in clusters(model):
    ...     for group in cluster.groups:
    ...         group.count
    4

Answers are ``None`` where they are not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property, wraps

from hyperpod_constructs._instance_facts import INSTANCE_FACTS
from hyperpod_constructs.instance_type import ClusterInstanceType
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.mistakes import Mistake
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import (
    ABSENT,
    UNKNOWN,
    Either,
    Value,
    alternatives_of,
    as_int,
    as_items,
    as_str,
    at,
)

CLUSTER = "AWS::SageMaker::Cluster"
GROUPS = "InstanceGroups"
RESTRICTED_GROUPS = "RestrictedInstanceGroups"


class Orchestration(Enum):
    """Who schedules jobs, and where that is configured."""

    EKS = "eks"
    SLURM = "slurm"
    """Slurm through the API."""
    LEGACY_SLURM = "legacy slurm"
    """Slurm by ``provisioning_parameters.json``."""


def given(value: Value) -> bool | None:
    """Whether something is written there; ``None`` if a condition decides it."""
    if value is UNKNOWN:
        return None
    answers = {alternative is not ABSENT and alternative is not None for alternative in alternatives_of(value)}
    return answers.pop() if len(answers) == 1 else None


def hit(resource: Resource, path: tuple[str | int, ...], mistake: Mistake, found: Value = ABSENT) -> Hit:
    """A mistake at a place of a template."""
    return Hit(resource, path, mistake.message, found=found, fix=mistake.fix)


@dataclass(frozen=True)
class Group:
    """An instance group of a cluster, restricted ones too."""

    cluster: Resource
    path: tuple[str | int, ...]
    """Where it is in the cluster's properties."""
    value: Value

    def get(self, *path: str | int) -> Value:
        """What is at a path in the group."""
        return at(self.value, *path)

    def hit(self, mistake: Mistake, *path: str | int) -> Hit:
        """A mistake of this group, at a path in it."""
        return hit(self.cluster, (*self.path, *path), mistake, self.get(*path))

    @property
    def restricted(self) -> bool:
        """Whether it is a restricted group."""
        return self.path[0] == RESTRICTED_GROUPS

    @property
    def name(self) -> str | None:
        """Its name."""
        return as_str(self.get("InstanceGroupName"))

    @property
    def label(self) -> str:
        """What to call it in a sentence: its name, or its place in the template."""
        return self.name or "/".join(map(str, self.path))

    @property
    def count(self) -> int | None:
        """Nodes wanted."""
        return as_int(self.get("InstanceCount"))

    @property
    def node_type(self) -> str | None:
        """What its nodes are in Slurm."""
        return as_str(self.get("SlurmConfig", "NodeType"))

    @cached_property
    def type_names(self) -> tuple[str, ...] | None:
        """Its instance types, in order of preference, if all are known."""
        listed = as_items(self.get("InstanceRequirements", "InstanceTypes"))
        single = self.get("InstanceType")
        values = (*(() if single is ABSENT else (single,)), *(listed or ()))
        names = tuple(name for name in map(as_str, values) if name is not None)
        return names if names and listed is not None and len(names) == len(values) else None

    @cached_property
    def types(self) -> tuple[ClusterInstanceType, ...] | None:
        """Its instance types with their facts, if the facts of all are known."""
        if self.type_names is None or any(name not in INSTANCE_FACTS for name in self.type_names):
            return None
        return tuple(map(ClusterInstanceType.of, self.type_names))

    def storage(self, kind: str) -> Iterator[tuple[tuple[str | int, ...], Value]]:
        """Its ``EbsVolumeConfig``, ``FsxLustreConfig`` or ``FsxOpenZfsConfig`` entries that are surely there, with their places."""
        for index, entry in enumerate(as_items(self.get("InstanceStorageConfigs")) or ()):
            volume = at(entry, kind)
            if given(volume):
                yield ("InstanceStorageConfigs", index, kind), volume


@dataclass(frozen=True)
class Cluster:
    """A HyperPod cluster."""

    resource: Resource

    def get(self, *path: str | int) -> Value:
        """What is at a path in its properties."""
        return self.resource.get(*path)

    def hit(self, mistake: Mistake, *path: str | int) -> Hit:
        """A mistake of the cluster, at a path."""
        return hit(self.resource, path, mistake, self.get(*path))

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """All groups whose content is known in part, restricted ones behind the others."""
        return tuple(
            Group(self.resource, (key, index), value)
            for key in (GROUPS, RESTRICTED_GROUPS)
            for index, value in enumerate(as_items(self.get(key)) or ())
            if value is not UNKNOWN and not isinstance(value, Either)
        )

    @property
    def plain_groups(self) -> tuple[Group, ...]:
        """The groups that are not restricted."""
        return tuple(group for group in self.groups if not group.restricted)

    @cached_property
    def knows_groups(self) -> bool:
        """Whether :attr:`groups` are all there are."""
        lists = [as_items(self.get(key)) for key in (GROUPS, RESTRICTED_GROUPS)]
        return all(items is not None for items in lists) and len(self.groups) == sum(len(items or ()) for items in lists)

    @cached_property
    def continuous(self) -> bool | None:
        """Whether nodes are provisioned continuously."""
        mode = self.get("NodeProvisioningMode")
        written = given(mode)
        return (as_str(mode) == "Continuous" if as_str(mode) else None) if written else written

    @cached_property
    def has_network(self) -> bool | None:
        """Whether its nodes are in a VPC of the user."""
        return given(self.get("VpcConfig"))

    @cached_property
    def orchestration(self) -> Orchestration | None:
        """Who schedules jobs."""
        eks, slurm = given(self.get("Orchestrator", "Eks")), given(self.get("Orchestrator", "Slurm"))
        if eks is not False or slurm is None:
            return Orchestration.EKS if eks and slurm is False else None
        configured = [given(group.get("SlurmConfig")) for group in self.plain_groups]
        if slurm or True in configured:
            return Orchestration.SLURM
        return Orchestration.LEGACY_SLURM if self.knows_groups and None not in configured else None

    @property
    def on_eks(self) -> bool | None:
        """Whether Kubernetes schedules its jobs."""
        return None if self.orchestration is None else self.orchestration is Orchestration.EKS

    @property
    def eks_arn(self) -> Value:
        """The ARN of the EKS cluster that its nodes join."""
        return self.get("Orchestrator", "Eks", "ClusterArn")


def clusters(model: Model) -> tuple[Cluster, ...]:
    """The HyperPod clusters of a model; computed once."""
    return model.cached("HyperPod clusters", lambda: tuple(map(Cluster, model.resources(CLUSTER))))


def groups(model: Model) -> Iterator[tuple[Cluster, Group]]:
    """Every instance group of a model with its cluster."""
    for cluster in clusters(model):
        for group in cluster.groups:
            yield cluster, group


def alike_groups_once(check: Callable[[Model], Iterator[Hit]]) -> Callable[[Model], Iterator[Hit]]:
    """Make one hit of those at the same property of a cluster's groups, which names all of them: groups are written alike, or one
    setting of the cluster makes all of them wrong, and that is one mistake."""

    @wraps(check)
    def merged(model: Model) -> Iterator[Hit]:
        labels = {(cluster.resource, group.path): group.label for cluster, group in groups(model)}
        alike: dict[tuple[Resource, str | int], dict[str, Hit]] = {}
        for found in check(model):
            label = labels[found.resource, found.path[:2]]
            alike.setdefault((found.resource, found.path[-1]), {}).setdefault(label, found)
        for hits in alike.values():
            (_, first), *others = hits.items()
            more = "" if not others else f"; the same in {', '.join(repr(label) for label, _ in others)}"
            yield replace(first, message=f"{first.message}{more}")

    return merged
