"""Scheduling policies and quotas of the templates, beside the nodes of their clusters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from hyperpod_constructs.analysis.clusters import CLUSTER, Cluster, clusters, given
from hyperpod_constructs.facts.governance import COMPUTE_QUOTA, RESOURCES_PATH, SCHEDULER_CONFIG
from hyperpod_constructs.facts.instance_types import instance_type, is_instance_type
from hyperpod_constructs.facts.quota_amounts import Allocation, Amounts, amounts_of, guaranteed
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import Value, as_float, as_int, as_items, as_str, at

SHARING = ("ComputeQuotaConfig", "ResourceSharingConfig")
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Quota:
    """A quota of a team; `cluster` is its HyperPod cluster, if that is in the model."""

    resource: Resource
    cluster: Cluster | None

    @property
    def path(self) -> Path:
        """Its place in the resource: it is the whole."""
        return ()

    @property
    def team(self) -> str:
        """The name of the team; the logical id of the quota where it is not known."""
        return as_str(self.resource.get("ComputeQuotaTarget", "TeamName")) or self.resource.logical_id

    @cached_property
    def guarantees(self) -> tuple[tuple[Path, Allocation], ...]:
        """The entries that are known, with their places."""
        return tuple(self._entries(*RESOURCES_PATH))

    @cached_property
    def entries(self) -> tuple[tuple[Path, Allocation], ...]:
        """The same, and the limits of borrowing."""
        return (*self.guarantees, *self._entries(*SHARING, "AbsoluteBorrowLimits"))

    def _entries(self, *path: str) -> Iterator[tuple[Path, Allocation]]:
        for index, entry in enumerate(as_items(self.resource.get(*path)) or ()):
            found = _allocation(entry)
            if found is not None:
                yield (*path, index), found


def _allocation(entry: Value) -> Allocation | None:
    """An entry; `None` if a part of it is not known."""
    numbers = {name: as_float(at(entry, name)) for name in ("VCpu", "MemoryInGiB")}
    wholes = {name: as_int(at(entry, name)) for name in ("Count", "Accelerators")}
    partition, kind = at(entry, "AcceleratorPartition"), as_str(at(entry, "InstanceType"))
    part, parts = as_str(at(partition, "Type")), as_int(at(partition, "Count"))
    known = all((value is None) is (given(at(entry, name)) is False) for name, value in {**numbers, **wholes}.items())
    if kind is None or not known or (given(partition) is not False and (part is None or parts is None)):
        return None
    return Allocation(
        instance_type=kind,
        count=wholes["Count"],
        accelerators=wholes["Accelerators"],
        vcpus=numbers["VCpu"],
        memory_gib=numbers["MemoryInGiB"],
        partition=part,
        partitions=parts or 0,
    )


def policies(model: Model) -> Iterator[tuple[Resource, Cluster]]:
    """Policies and quotas whose HyperPod cluster is in the model."""
    found = ((policy, _cluster_of(policy)) for policy in model.resources(SCHEDULER_CONFIG, COMPUTE_QUOTA))
    return ((policy, cluster) for policy, cluster in found if cluster is not None)


def quotas(model: Model) -> tuple[Quota, ...]:
    """The quotas of a model; computed once."""
    return model.cached(Quota, lambda: tuple(Quota(one, _cluster_of(one)) for one in model.resources(COMPUTE_QUOTA)))


def governed(model: Model) -> Iterator[tuple[Cluster, list[Quota]]]:
    """The clusters with all groups known, each with its quotas."""
    for cluster in clusters(model):
        found = [quota for quota in quotas(model) if quota.cluster is cluster]
        if found and nodes_by_type(cluster) is not None:
            yield cluster, found


def _cluster_of(policy: Resource) -> Cluster | None:
    resource = resource_of(policy.get("ClusterArn"), CLUSTER)
    return next((one for one in clusters(policy.template.model) if one.resource is resource), None)


def nodes_by_type(cluster: Cluster) -> Mapping[str, int | None] | None:
    """The nodes of each type; `None` for all if a type is not known. A list of types counts in full for each."""
    found: dict[str, int | None] = {}
    for group in cluster.groups if cluster.knows_groups else ():
        for name in group.type_names or ():
            before = found.get(name, 0)
            found[name] = None if before is None or group.count is None else before + group.count
    return found if cluster.knows_groups and all(group.type_names is not None for group in cluster.groups) else None


def guarantees(quotas: Iterable[Quota]) -> Mapping[str, Mapping[str, Amounts]]:
    """The guaranteed amounts by type and team, for types with facts."""
    found: dict[str, dict[str, Amounts]] = {}
    for quota in quotas:
        for _, wanted in quota.guarantees:
            if is_instance_type(wanted.instance_type):
                teams = found.setdefault(wanted.instance_type, {})
                teams[quota.team] = teams.get(quota.team, Amounts()) + guaranteed(wanted, instance_type(wanted.instance_type))
    return found


def capacity(name: str, count: int) -> Amounts:
    """What so many nodes of a type have."""
    return amounts_of(instance_type(name)).times(count)


def teams_of(cluster: Cluster) -> frozenset[str] | None:
    """The teams with a quota of a cluster; `None` if there can be others, without any, and with two quotas of one team."""
    model = cluster.resource.template.model
    foreign = any(one.cluster is None for one in quotas(model))
    names = [as_str(one.resource.get("ComputeQuotaTarget", "TeamName")) for one in quotas(model) if one.cluster is cluster]
    if foreign or not names or None in names or len(set(names)) < len(names) or not model.complete:
        return None
    return frozenset(name for name in names if name is not None)


def classes_of(cluster: Cluster) -> frozenset[str] | None:
    """The priority classes of a cluster's policy; `None` if they are not known."""
    found = [
        policy for policy, of in policies(cluster.resource.template.model) if of is cluster and policy.type == SCHEDULER_CONFIG
    ]
    listed = as_items(found[0].get("SchedulerConfig", "PriorityClasses")) if len(found) == 1 else None
    names = [as_str(at(one, "Name")) for one in listed or ()]
    return None if listed is None or None in names else frozenset(name for name in names if name is not None)
