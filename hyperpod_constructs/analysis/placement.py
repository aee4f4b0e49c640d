"""Placement of the nodes of the clusters in the templates: their subnets, their security groups, and their file systems.

>>> [(group.label, group.subnets) for group in node_groups(model)]
[('workers', (<AWS::EC2::Subnet t:NodeSubnet>,))]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.clusters import Group, given, groups
from hyperpod_constructs.analysis.networks import SUBNET, Subnet, network_facts
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP, SecurityGroup, security_groups
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Text, Value, as_items, at

FILE_SYSTEM = "AWS::FSx::FileSystem"
_MOUNTS = ("FsxLustreConfig", "FsxOpenZfsConfig")


@dataclass(frozen=True)
class NodeGroup(Group):
    """An instance group with the placement of its nodes; restricted groups are not among them."""

    @property
    def has_efa(self) -> bool:
        """Whether all its nodes surely have EFA."""
        return bool(self.types) and all(bool(kind.efa_interfaces) for kind in self.types or ())

    @property
    def lacks_efa(self) -> bool:
        """Whether none of its nodes can have EFA."""
        return bool(self.types) and all(kind.efa_interfaces == 0 for kind in self.types or ())

    @property
    def has_scripts(self) -> bool:
        """Whether its nodes surely fetch lifecycle scripts from S3 at their creation."""
        return given(self.get("LifeCycleConfig", "SourceS3Uri")) is True

    @cached_property
    def network_path(self) -> tuple[str | int, ...]:
        """The place of its network in the properties of the cluster: its own network, or the cluster's."""
        return ("VpcConfig",) if self.get("OverrideVpcConfig") is ABSENT else (*self.path, "OverrideVpcConfig")

    @cached_property
    def subnets(self) -> tuple[Resource, ...] | None:
        """Its subnets; `None` if one is not of the model."""
        return _all_of(self.resource.get(*self.network_path, "Subnets"), SUBNET)

    @cached_property
    def security_groups(self) -> tuple[Resource, ...] | None:
        """Its security groups; `None` if one is not of the model."""
        return _all_of(self.resource.get(*self.network_path, "SecurityGroupIds"), SECURITY_GROUP)

    @cached_property
    def mounts(self) -> tuple[Resource, ...]:
        """The file systems of the model that the service mounts on its nodes."""
        names = [at(entry, "DnsName") for kind in _MOUNTS for _, entry in self.storage(kind)]
        return tuple(dict.fromkeys(found for name in names for found in file_systems_named(name)))

    def subnet_facts(self) -> tuple[Subnet, ...]:
        """Its subnets with their routes; none if they are not all known."""
        facts = network_facts(self.resource.template.model)
        return tuple(facts.subnet(subnet) for subnet in self.subnets or ())

    def security_group_facts(self) -> tuple[SecurityGroup, ...]:
        """Its security groups with their rules; none if they are not all known."""
        facts = security_groups(self.resource.template.model)
        return tuple(facts.of(group) for group in self.security_groups or ())


def node_groups(model: Model) -> tuple[NodeGroup, ...]:
    """The instance groups of all clusters, without restricted ones; computed once."""
    return model.cached(
        NodeGroup, lambda: tuple(NodeGroup(one.cluster, one.path, one.value) for one in groups(model) if not one.restricted)
    )


def users_of_subnets(model: Model) -> dict[Resource, list[NodeGroup]]:
    """The groups whose nodes can be in a subnet, by subnet; computed once."""
    return model.cached(
        users_of_subnets, lambda: grouped((subnet, group) for group in node_groups(model) for subnet in group.subnets or ())
    )


def users_of_file_systems(model: Model) -> dict[Resource, list[NodeGroup]]:
    """The groups that mount a file system of the model, by file system; computed once."""
    return model.cached(
        users_of_file_systems, lambda: grouped((system, group) for group in node_groups(model) for system in group.mounts)
    )


def subnets_of(file_system: Resource) -> tuple[Resource, ...] | None:
    """The subnets of a file system; `None` if one is not of the model."""
    return _all_of(file_system.get("SubnetIds"), SUBNET)


def security_groups_of(resource: Resource) -> tuple[Resource, ...] | None:
    """The security groups of a file system or an endpoint; `None` if one is not of the model, or without any."""
    return groups_at(resource, "SecurityGroupIds")


def groups_at(resource: Resource, *path: str) -> tuple[Resource, ...] | None:
    """The security groups at a path in a resource; `None` if one is not of the model, or without any."""
    return _all_of(resource.get(*path), SECURITY_GROUP)


def _all_of(value: Value, type_: str) -> tuple[Resource, ...] | None:
    found = tuple(resource_of(item, type_) for item in as_items(value) or ())
    known = tuple(resource for resource in found if resource is not None)
    return known if known and len(known) == len(found) else None


def file_systems_named(name: Value) -> Iterator[Resource]:
    """The file systems of the model in a DNS name: its attribute, or text around its id."""
    references = name.references if isinstance(name, Text) else (name,)
    for reference in references:
        found = resource_of(reference, FILE_SYSTEM)
        if found is not None:
            yield found
