"""Restricted instance groups: their file system and their network."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.clusters import Group, clusters, given
from hyperpod_constructs.facts import restricted_groups as restricted_facts
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.values import ABSENT, as_items

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"


def _restricted_groups(model: Model) -> Iterator[Group]:
    """The restricted groups of clusters on EKS; those of others are mistakes as such."""
    return (group for cluster in clusters(model) if cluster.on_eks for group in cluster.groups if group.restricted)


@error(
    "HP-RIG-001",
    on=_restricted_groups,
    at=("EnvironmentConfig",),
    title="a restricted group has a file system of its own, or the cluster a shared one",
    why="Nova's jobs keep their checkpoints on the service's file system, and the guide demands its size and throughput",
    fix=restricted_facts.without_file_system.fix,
    allowed="EnvironmentConfig.FSxLustreConfig, or RestrictedInstanceGroupsConfig.SharedEnvironmentConfig",
    source=f"{_GUIDE}nova-hp-cluster.html",
)
def a_file_system_is_there(group: Group) -> Mistake | None:
    own = given(group.get("EnvironmentConfig", "FSxLustreConfig"))
    shared = given(group.cluster.get("RestrictedInstanceGroupsConfig", "SharedEnvironmentConfig"))
    return restricted_facts.without_file_system(group.label) if own is False and shared is False else None


@warning(
    "HP-RIG-002",
    on=_restricted_groups,
    at=("OverrideVpcConfig",),
    title="the nodes of a restricted group are in one subnet",
    why='capacity is in one zone: in another the group fails with "Request to service failed", or is billed beside a reservation',
    fix=restricted_facts.several_subnets.fix,
    allowed="OverrideVpcConfig with one subnet, or one subnet in VpcConfig",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-operate-cli-command-create-cluster.html",
)
def the_subnet_is_one(group: Group) -> Mistake | None:
    own = group.get("OverrideVpcConfig")
    subnets = as_items(group.cluster.get("VpcConfig", "Subnets") if own is ABSENT else group.get("OverrideVpcConfig", "Subnets"))
    return restricted_facts.several_subnets(group.label, len(subnets)) if subnets is not None and len(subnets) > 1 else None
