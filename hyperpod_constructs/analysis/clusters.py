"""HyperPod clusters of the templates and their instance groups.

>>> [group.count for group in groups(model)]
[4]

Answers are `None` where they are not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.facts.instance_types import InstanceType, instance_type, is_instance_type
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import (
    ABSENT,
    UNKNOWN,
    Either,
    Value,
    as_int,
    as_items,
    as_str,
    at,
    of_alternatives,
)

CLUSTER = "AWS::SageMaker::Cluster"
GROUPS = "InstanceGroups"
RESTRICTED_GROUPS = "RestrictedInstanceGroups"


class Orchestration(Enum):
    """The scheduler of jobs, and the place of its configuration."""

    EKS = "eks"
    SLURM = "slurm"
    """Slurm through the API."""
    LEGACY_SLURM = "legacy slurm"
    """Slurm by `provisioning_parameters.json`."""


def given(value: Value) -> bool | None:
    """Whether a value is written; `None` if a condition decides it."""
    if value is UNKNOWN:
        return None
    return of_alternatives(value, lambda one: one is not ABSENT and one is not None)


@dataclass(frozen=True)
class Group:
    """An instance group of a cluster, restricted ones too."""

    cluster: Cluster
    path: tuple[str | int, ...]
    """Its place in the cluster's properties."""
    value: Value

    @property
    def resource(self) -> Resource:
        """The cluster's resource."""
        return self.cluster.resource

    def get(self, *path: str | int) -> Value:
        """The value at a path in the group."""
        return at(self.value, *path)

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
        """Its name in a sentence; without a name, its place in the template."""
        return self.name or "/".join(map(str, self.path))

    @property
    def count(self) -> int | None:
        """Nodes wanted."""
        return as_int(self.get("InstanceCount"))

    @property
    def node_type(self) -> str | None:
        """The kind of its nodes in Slurm."""
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
    def types(self) -> tuple[InstanceType, ...] | None:
        """Its instance types with their facts, if the facts of all are known."""
        if self.type_names is None or not all(map(is_instance_type, self.type_names)):
            return None
        return tuple(map(instance_type, self.type_names))

    def storage(self, kind: str) -> Iterator[tuple[tuple[str | int, ...], Value]]:
        """Its sure entries of a kind (`EbsVolumeConfig`, `FsxLustreConfig` or `FsxOpenZfsConfig`), with their places."""
        for index, entry in enumerate(as_items(self.get("InstanceStorageConfigs")) or ()):
            volume = at(entry, kind)
            if given(volume):
                yield ("InstanceStorageConfigs", index, kind), volume


@dataclass(frozen=True)
class Cluster:
    """A HyperPod cluster."""

    resource: Resource
    path: tuple[str | int, ...] = ()

    def get(self, *path: str | int) -> Value:
        """The value at a path in its properties."""
        return self.resource.get(*path)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups with known content, restricted ones behind the others."""
        return tuple(
            Group(self, (key, index), value)
            for key in (GROUPS, RESTRICTED_GROUPS)
            for index, value in enumerate(as_items(self.get(key)) or ())
            if value is not UNKNOWN and not isinstance(value, Either)
        )

    @cached_property
    def plain_groups(self) -> tuple[Group, ...]:
        """The groups that are not restricted."""
        return tuple(group for group in self.groups if not group.restricted)

    @cached_property
    def knows_groups(self) -> bool:
        """Whether `groups` are all groups."""
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
        """The scheduler of jobs; `None` if it is not known."""
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

    @cached_property
    def is_made_for_eks(self) -> bool:
        """Whether the groups of a Slurm cluster have settings of Kubernetes, and surely none of Slurm: its scheduler is wrong."""
        slurm = [given(group.get("SlurmConfig")) for group in self.plain_groups]
        kubernetes = any(given(group.get("KubernetesConfig")) for group in self.plain_groups)
        return self.on_eks is False and self.knows_groups and not any(one is not False for one in slurm) and kubernetes

    @property
    def eks_arn(self) -> Value:
        """The ARN of the EKS cluster that its nodes join."""
        return self.get("Orchestrator", "Eks", "ClusterArn")


def clusters(model: Model) -> tuple[Cluster, ...]:
    """The HyperPod clusters of a model; computed once."""
    return model.cached("HyperPod clusters", lambda: tuple(map(Cluster, model.resources(CLUSTER))))


def groups(model: Model) -> Iterator[Group]:
    """The instance groups of all clusters, restricted ones too."""
    return (group for cluster in clusters(model) for group in cluster.groups)


def labels(members: Iterable[Group]) -> str:
    """The names of groups in a sentence."""
    return enumerated(dict.fromkeys(group.label for group in members))


def quoted(members: Iterable[Group]) -> str:
    """Groups in a sentence, each in quotes."""
    names = list(dict.fromkeys(repr(group.label) for group in members))
    return f"group{'' if len(names) == 1 else 's'} {enumerated(names)}"
