"""Where the nodes of the clusters in the templates go, and which file systems they mount.

>>> for group in node_groups(model):
...     group.name, group.subnets
('workers', (<AWS::EC2::Subnet t:NodeSubnet>,))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from hyperpod_constructs.rules.facts.clusters import Cluster, Group, given, groups
from hyperpod_constructs.rules.facts.networks import SUBNET, Subnet, network_facts
from hyperpod_constructs.rules.facts.security_groups import GROUP, SecurityGroup, security_groups
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import ABSENT, Text, Value, as_items, at, resource_of

FILE_SYSTEM = "AWS::FSx::FileSystem"
_MOUNTS = ("FsxLustreConfig", "FsxOpenZfsConfig")


@dataclass(frozen=True)
class NodeGroup:
    """An instance group of a cluster, and where its nodes are; restricted groups are not among them."""

    owner: Cluster
    group: Group

    @property
    def cluster(self) -> Resource:
        """The cluster."""
        return self.owner.resource

    def path(self, *rest: str | int) -> tuple[str | int, ...]:
        """A path in the group, from the properties of the cluster."""
        return (*self.group.path, *rest)

    @property
    def name(self) -> str:
        """What to call it in a sentence."""
        return self.group.label

    @property
    def has_efa(self) -> bool:
        """Whether all its nodes surely have EFA."""
        return bool(self.group.types) and all(bool(kind.efa_interfaces) for kind in self.group.types or ())

    @property
    def lacks_efa(self) -> bool:
        """Whether none of its nodes can have EFA."""
        return bool(self.group.types) and all(kind.efa_interfaces == 0 for kind in self.group.types or ())

    @property
    def has_scripts(self) -> bool:
        """Whether its nodes surely fetch lifecycle scripts from S3 when they are created."""
        return given(self.group.get("LifeCycleConfig", "SourceS3Uri")) is True

    @cached_property
    def network_path(self) -> tuple[str | int, ...]:
        """Where its network is written, from the properties of the cluster: its own, or the cluster's."""
        return ("VpcConfig",) if self.group.get("OverrideVpcConfig") is ABSENT else self.path("OverrideVpcConfig")

    @cached_property
    def subnets(self) -> tuple[Resource, ...] | None:
        """Its subnets; ``None`` if one is not of the model."""
        return _all_of(self.cluster.get(*self.network_path, "Subnets"), SUBNET)

    @cached_property
    def security_groups(self) -> tuple[Resource, ...] | None:
        """Its security groups; ``None`` if one is not of the model."""
        return _all_of(self.cluster.get(*self.network_path, "SecurityGroupIds"), GROUP)

    @cached_property
    def mounts(self) -> tuple[Resource, ...]:
        """The file systems of the model that the service mounts on its nodes."""
        names = [at(entry, "DnsName") for kind in _MOUNTS for _, entry in self.group.storage(kind)]
        return tuple(dict.fromkeys(found for name in names for found in _file_systems(name)))

    def subnet_facts(self) -> tuple[Subnet, ...]:
        """Its subnets with their routes; none if they are not all known."""
        facts = network_facts(self.cluster.template.model)
        return tuple(facts.subnet(subnet) for subnet in self.subnets or ())

    def group_facts(self) -> tuple[SecurityGroup, ...]:
        """Its security groups with their rules; none if they are not all known."""
        facts = security_groups(self.cluster.template.model)
        return tuple(facts.of(group) for group in self.security_groups or ())


def node_groups(model: Model) -> tuple[NodeGroup, ...]:
    """The instance groups of all clusters; computed once."""
    return model.cached(NodeGroup, lambda: tuple(NodeGroup(*found) for found in groups(model) if not found[1].restricted))


def subnets_of(file_system: Resource) -> tuple[Resource, ...] | None:
    """The subnets of a file system; ``None`` if one is not of the model."""
    return _all_of(file_system.get("SubnetIds"), SUBNET)


def groups_of(resource: Resource) -> tuple[Resource, ...] | None:
    """The security groups of a file system or an endpoint; ``None`` if one is not of the model or none is given."""
    return _all_of(resource.get("SecurityGroupIds"), GROUP)


def named(members: Iterable[NodeGroup]) -> str:
    """The names of groups for a person."""
    return ", ".join(dict.fromkeys(group.name for group in members))


def _all_of(value: Value, type_: str) -> tuple[Resource, ...] | None:
    found = tuple(resource_of(item, type_) for item in as_items(value) or ())
    known = tuple(resource for resource in found if resource is not None)
    return known if known and len(known) == len(found) else None


def _file_systems(name: Value) -> Iterator[Resource]:
    """The file system whose DNS name it is: its attribute, or text around its id."""
    references = name.references if isinstance(name, Text) else (name,)
    for reference in references:
        found = resource_of(reference, FILE_SYSTEM)
        if found is not None:
            yield found
