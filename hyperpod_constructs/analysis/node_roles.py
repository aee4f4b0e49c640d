"""The roles of nodes and of clusters: those that a cluster uses, and those that are meant for one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.clusters import Cluster, Group, clusters
from hyperpod_constructs.analysis.iam import ROLE, RoleFacts, role_facts
from hyperpod_constructs.facts.node_permissions import CLUSTER_POLICY, LOG_GROUPS, NODES_PRINCIPAL
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import Value, parts_of

_OTHER_USERS = ("AWS::SageMaker::Domain", "AWS::SageMaker::NotebookInstance", "AWS::SageMaker::Model", "AWS::SageMaker::Pipeline")


class RoleUse(NamedTuple):
    """A role of the model with the groups of one cluster that use it."""

    cluster: Resource
    role: Resource
    groups: tuple[Group, ...]

    @property
    def facts(self) -> RoleFacts:
        """The role with its permissions."""
        return role_facts(self.role)


def role_uses(model: Model) -> tuple[RoleUse, ...]:
    """The roles of each cluster, as far as they are in the model; computed once."""
    return model.cached(RoleUse, lambda: tuple(_role_uses(model)))


def _role_uses(model: Model) -> Iterator[RoleUse]:
    for cluster in clusters(model):
        roles = ((resource_of(group.get("ExecutionRole"), ROLE), group) for group in cluster.groups)
        for role, groups in grouped(roles).items():
            if role is not None:
                yield RoleUse(cluster.resource, role, tuple(groups))


def cluster_roles(model: Model) -> Iterator[tuple[Resource, Cluster]]:
    """The roles by which Karpenter scales, as far as they are in the model, each with its cluster."""
    for cluster in clusters(model):
        role = resource_of(cluster.get("ClusterRole"), ROLE)
        if role is not None:
            yield role, cluster


def meant_for_nodes(model: Model) -> Iterator[Resource]:
    """The roles for nodes of a cluster that is not in the model, known by their policies and their trust."""
    used = {use.role for use in role_uses(model)}
    if not model.resources(*_OTHER_USERS):
        yield from (role for role in model.resources(ROLE) if role not in used and _is_for_nodes(role_facts(role)))


def _is_for_nodes(facts: RoleFacts) -> bool:
    if CLUSTER_POLICY in facts.managed_policies:
        return True
    logging = any(LOG_GROUPS in _written(one) for statement in facts.statements for one in statement.resources)
    return logging and facts.trusts(NODES_PRINCIPAL) is True


def _written(value: Value) -> str:
    return "".join(part for part in parts_of(value) if isinstance(part, str))
