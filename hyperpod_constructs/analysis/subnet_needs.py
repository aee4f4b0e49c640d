"""Addresses that nodes, file systems and endpoints take from their subnets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.file_systems import addresses_of
from hyperpod_constructs.analysis.naming import Naming
from hyperpod_constructs.analysis.networks import ENDPOINT, SUBNET, network_facts
from hyperpod_constructs.analysis.placement import FILE_SYSTEM, NodeGroup, node_groups, subnets_of, users_of_subnets
from hyperpod_constructs.facts.addresses import least_node_addresses
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import as_items, as_str

_Needs = list[tuple[str, int]]
"""Users with their addresses."""


class TooSmall(NamedTuple):
    """A set of subnets that is too small for what is bound to it, by its first one."""

    first: Resource
    message: str


def too_small(model: Model) -> Iterator[TooSmall]:
    """The sets of subnets that are too small for the groups and file systems bound to them, with their other users."""
    facts = network_facts(model)
    reported: set[Resource] = set()
    for subnets in _used(model):
        free = [facts.subnet(subnet).usable_addresses for subnet in subnets]
        if reported & subnets or None in free:
            continue
        needs = [*_of_nodes(model, subnets), *_of_others(model, subnets)]
        usable, needed = sum(one or 0 for one in free), sum(need for _, need in needs)
        if needed > usable:
            reported |= subnets
            yield TooSmall(min(subnets, key=model.resources(SUBNET).index), _message(subnets, needs, usable, needed))


def _used(model: Model) -> list[frozenset[Resource]]:
    """The sets of subnets in which nodes or file systems can be, the smallest first."""
    nodes = {frozenset(group.subnets): None for group in node_groups(model) if group.subnets}
    systems = {frozenset([subnet]): None for one in model.resources(FILE_SYSTEM) for subnet in subnets_of(one) or ()}
    return sorted(nodes | systems, key=len)


def _message(subnets: frozenset[Resource], needs: _Needs, usable: int, needed: int) -> str:
    users = enumerated(f"{name} {need}" for name, need in needs)
    where = " and ".join(sorted(subnet.logical_id for subnet in subnets))
    return f"{where} {'has' if len(subnets) == 1 else 'have'} {usable} addresses, and {needed} are needed: {users}"


def _of_nodes(model: Model, subnets: frozenset[Resource]) -> _Needs:
    """The needs of the groups whose nodes can be only in these subnets."""
    users = users_of_subnets(model)
    groups = {id(group): group for subnet in subnets for group in users.get(subnet, ()) if subnets.issuperset(group.subnets or ())}
    labels = Counter(group.label for group in groups.values())
    needs = [
        (group.label if labels[group.label] == 1 else f"{group.label} of {group.resource.logical_id}", addresses_of_group(group))
        for group in groups.values()
    ]
    return [(name, need) for name, need in needs if need]


def addresses_of_group(group: NodeGroup) -> int:
    """The addresses of a group; an unknown type counts as one address for a node, an unknown count as no node."""
    interface = as_str(group.get("NetworkInterface", "InterfaceType"))
    return (group.count or 0) * least_node_addresses(group.types or (), bool(group.cluster.on_eks), interface)


def _of_others(model: Model, subnets: frozenset[Resource]) -> _Needs:
    """The needs of file systems and endpoints in these subnets."""
    needs: _Needs = []
    for file_system in _in_subnets(model, FILE_SYSTEM).of(*subnets):
        inside = [subnet for subnet in subnets_of(file_system) or () if subnet in subnets]
        if inside and file_system.exists:
            needs.append((file_system.logical_id, len(inside) * addresses_of(file_system)))
    endpoints = 0
    for endpoint in _in_subnets(model, ENDPOINT).of(*subnets):
        if endpoint.exists and as_str(endpoint.get("VpcEndpointType")) == "Interface":
            named = [resource_of(item, SUBNET) for item in as_items(endpoint.get("SubnetIds")) or ()]
            endpoints += sum(1 for subnet in named if subnet in subnets)
    return [*needs, ("interface endpoints", endpoints)] if endpoints else needs


def _in_subnets(model: Model, kind: str) -> Naming:
    return model.cached((_in_subnets, kind), lambda: Naming(model.resources(kind), lambda one: as_items(one.get("SubnetIds"))))
