"""File systems that stay when their stack is deleted, and the network that goes from under them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.blocks import added_block, subnet_blocks
from hyperpod_constructs.analysis.networks import VPC
from hyperpod_constructs.analysis.placement import FILE_SYSTEM, security_groups_of, subnets_of
from hyperpod_constructs.facts.data_holders import KEEPING_POLICIES
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_str

_GROUP = "AWS::EC2::SecurityGroup"


class Stranded(NamedTuple):
    """File systems that stay, and what of their network goes."""

    going: tuple[Resource, ...]
    staying: list[Resource]


def stranded(model: Model) -> Iterator[Stranded]:
    """The file systems that stay, by the subnets and networks that go from under them; security groups are beside these."""
    staying = [one for one in model.resources(FILE_SYSTEM) if as_str(one.deletion_policy) in KEEPING_POLICIES]
    going = {one: [*filter(_goes, _below(one))] for one in staying}
    for systems in grouped((_networks(below) or tuple(below), system) for system, below in going.items()).values():
        below = tuple(dict.fromkeys(one for system in systems for one in going[system]))
        if below:
            yield Stranded(below, systems)


def _networks(below: list[Resource]) -> tuple[Resource, ...]:
    return tuple(one for one in below if one.type != _GROUP)


def _below(file_system: Resource) -> list[Resource]:
    """Subnets, security groups and VPCs in which a file system has its interfaces, and the blocks that are added for these."""
    subnets = subnets_of(file_system) or ()
    networks = [resource_of(subnet.get("VpcId"), VPC) for subnet in subnets]
    added = [added_block(one) for one in subnet_blocks(file_system.template.model) if one.resource in subnets]
    found = [*subnets, *(security_groups_of(file_system) or ()), *networks, *added]
    return list(dict.fromkeys(one for one in found if one is not None))


def _goes(resource: Resource) -> bool:
    policy = resource.deletion_policy
    return policy is ABSENT or as_str(policy) == "Delete"
