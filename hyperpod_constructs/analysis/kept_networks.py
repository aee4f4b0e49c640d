"""File systems that stay when their stack is deleted, and the network that goes from under them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.blocks import added_block, subnet_blocks
from hyperpod_constructs.analysis.networks import VPC
from hyperpod_constructs.analysis.placement import FILE_SYSTEM, security_groups_of, subnets_of
from hyperpod_constructs.facts.data_holders import KEEPING_POLICIES
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_str


class Stranded(NamedTuple):
    """File systems that stay, and what of their network goes."""

    going: tuple[Resource, ...]
    staying: list[Resource]


def stranded(model: Model) -> Iterator[Stranded]:
    """The file systems that stay, with what goes from under them; those with a part of it in common together.

    A network in another stack, which keeps nothing of it, goes only if somebody deletes that stack too.
    """
    staying = [one for one in model.resources(FILE_SYSTEM) if as_str(one.deletion_policy) in KEEPING_POLICIES]
    found: list[Stranded] = []
    for current in (Stranded(tuple(_going_with(one)), [one]) for one in staying):
        beside = [one for one in found if not set(one.going).isdisjoint(current.going)]
        found = [*(one for one in found if one not in beside), _together([*beside, current])]
    return (one for one in found if one.going)


def _together(found: list[Stranded]) -> Stranded:
    """All of them as one; what goes from under all of them first."""
    every = dict.fromkeys(one for each in found for one in each.going)
    shared = [one for one in every if all(one in each.going for each in found)]
    return Stranded(tuple(dict.fromkeys((*shared, *every))), [one for each in found for one in each.staying])


def _below(file_system: Resource) -> list[Resource]:
    """Subnets, security groups and VPCs in which a file system has its interfaces, and the blocks that are added for these."""
    subnets = subnets_of(file_system) or ()
    networks = [resource_of(subnet.get("VpcId"), VPC) for subnet in subnets]
    added = [added_block(one) for one in subnet_blocks(file_system.template.model) if one.resource in subnets]
    found = [*subnets, *(security_groups_of(file_system) or ()), *networks, *added]
    return list(dict.fromkeys(one for one in found if one is not None))


def _going_with(file_system: Resource) -> Iterator[Resource]:
    """What goes from under a file system with its stack, or with one that keeps a part of its network."""
    below = _below(file_system)
    stacks = {one.template.root for one in (file_system, *below) if not _goes(one)}
    return (one for one in below if one.template.root in stacks and _goes(one))


def _goes(resource: Resource) -> bool:
    policy = resource.deletion_policy
    return policy is ABSENT or as_str(policy) == "Delete"
