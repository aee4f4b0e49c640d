"""The policies and quotas of one cluster, judged together: a cluster has one policy, and its quotas share its nodes."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct, IConstruct

from hyperpod_constructs._support.cluster_properties import Clusterlike, rendered
from hyperpod_constructs._support.deferred import check_at_synthesis
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.tree import app_of, stack_of
from hyperpod_constructs.facts import governance as facts
from hyperpod_constructs.facts import quota_amounts
from hyperpod_constructs.facts.instance_types import InstanceType
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.facts.quota_amounts import Allocation, Amounts

_known: weakref.WeakKeyDictionary[IConstruct, dict[str, Policies]] = weakref.WeakKeyDictionary()
"""By app, and by the ARN of the cluster."""


class Scheduler(Protocol):
    """A scheduling policy, as quotas see it."""

    @property
    def priority_class_names(self) -> tuple[str, ...]:
        """The names of its priority classes."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Quota:
    """A quota of a team.

    :param construct: the construct of the quota.
    :param allocations: its entries, each with the facts of the type.
    :param counts: whether it counts against the present nodes.
    """

    team: str
    construct: Construct
    allocations: Sequence[tuple[Allocation, InstanceType]]
    counts: bool


class Policies:
    """The policy and the quotas of one cluster in one app."""

    def __init__(self, cluster: Clusterlike) -> None:
        self._cluster = cluster
        self._scheduler: tuple[Construct, Scheduler] | None = None
        self._quotas: list[Quota] = []

    @classmethod
    def of(cls, scope: Construct, cluster: Clusterlike) -> Policies:
        """The policies of a cluster.

        :raises ValueError: for a cluster that Slurm orchestrates.
        """
        found = _known.setdefault(app_of(scope), {})
        if cluster.cluster_arn not in found:
            if _on_slurm(cluster):
                raise ValueError(f"{scope.node.path}: {facts.ON_SLURM}")
            found[cluster.cluster_arn] = cls(cluster)
        return found[cluster.cluster_arn]

    @property
    def priority_class_names(self) -> tuple[str, ...] | None:
        """The names of the cluster's priority classes; `None` if this app has no policy of the cluster."""
        return None if self._scheduler is None else self._scheduler[1].priority_class_names

    def add_scheduler(self, construct: Construct, scheduler: Scheduler) -> None:
        """Note the policy of the cluster.

        :raises ValueError: if it has one.
        """
        if self._scheduler is not None:
            raise ValueError(f"{construct.node.path}: {facts.second_scheduler(self._scheduler[0].node.path)}")
        self._scheduler = construct, scheduler
        for quota in self._quotas:
            self._order(quota)

    def add_quota(self, quota: Quota, resource: Construct) -> None:
        """Note a quota, which awaits the cluster's policy.

        :raises ValueError: if the team has one.
        """
        for other in self._quotas:
            if other.team == quota.team:
                raise ValueError(f"{quota.construct.node.path}: {facts.second_quota(quota.team, other.construct.node.path)}")
        if not self._quotas:
            check_at_synthesis(quota.construct, lambda: list(map(str, self._mistakes())), resource=resource)
        self._quotas.append(quota)
        self._order(quota)

    def _order(self, quota: Quota) -> None:
        if self._scheduler is None:
            return
        policy = self._scheduler[0]
        if stack_of(policy) is stack_of(quota.construct):
            quota.construct.node.add_dependency(policy)

    def _mistakes(self) -> Iterator[Mistake]:
        properties = rendered(self._cluster)
        if properties is None:
            return
        nodes = _nodes(properties)
        counted = [quota for quota in self._quotas if quota.counts]
        wanted: dict[str, dict[str, Amounts]] = {}
        kinds: dict[str, InstanceType] = {}
        for quota in counted:
            for allocation, kind in quota.allocations:
                if is_unknown(kind.name):
                    continue
                kinds[kind.name] = kind
                amounts = wanted.setdefault(kind.name, {})
                amounts[quota.team] = amounts.get(quota.team, Amounts()) + quota_amounts.guaranteed(allocation, kind)
        for name, teams in wanted.items():
            if None not in nodes and name not in nodes:
                yield from (facts.unknown_type(f"the quota of team {team!r}", name, map(str, nodes)) for team in teams)
            elif name in nodes and (count := nodes[name]) is not None and not _grows(properties):
                yield from quota_amounts.beyond_capacity(name, teams, quota_amounts.amounts_of(kinds[name]).times(count))


def _on_slurm(cluster: Clusterlike) -> bool:
    resource = getattr(cluster, "resource", None)
    if not isinstance(resource, sagemaker.CfnCluster):
        return False
    orchestrator = stack_of(resource).resolve(resource._cfn_properties.get("orchestrator"))
    return isinstance(orchestrator, Mapping) and "slurm" in orchestrator


def _nodes(properties: Mapping[str, Any]) -> dict[str | None, int | None]:
    """The number of nodes by type; `None` is a type or a number that comes later. A list of types counts in full for each."""
    found: dict[str | None, int | None] = {}
    for kind in ("InstanceGroups", "RestrictedInstanceGroups"):
        groups = properties.get(kind, ())
        for group in groups if isinstance(groups, Sequence) else ({},):
            types = group.get("InstanceRequirements", {}).get("InstanceTypes", [group.get("InstanceType")])
            count = group.get("InstanceCount")
            for name in types:
                key = name if isinstance(name, str) else None
                before = found.get(key, 0)
                found[key] = before + count if isinstance(count, int) and before is not None else None
    return found


def _grows(properties: Mapping[str, Any]) -> bool:
    """Whether Karpenter adds nodes beyond the counts of the groups."""
    return bool(properties.get("AutoScaling", {}).get("Mode") == "Enable")
