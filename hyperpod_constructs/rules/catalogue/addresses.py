"""Rules on the size of subnets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.rules.facts.addresses import file_system_addresses, node_addresses
from hyperpod_constructs.rules.facts.naming import Naming
from hyperpod_constructs.rules.facts.networks import ENDPOINT, SUBNET, network_facts
from hyperpod_constructs.rules.facts.placement import FILE_SYSTEM, NodeGroup, node_groups, subnets_of
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import as_items, as_str, resource_of

Needs = dict[str, int]
"""Addresses by who takes them."""


@rule(
    "HP-SUB-001",
    Level.ERROR,
    title="subnets hold all nodes that are to be in them",
    why="a node takes an address for every network card, and on EKS for its pods; the service finds out after it has begun to "
    "provision, and the block of a subnet cannot be changed",
    fix="make the subnet larger now (a /16 holds 2,047 nodes of 32 cards), spread the groups over subnets, or lower the counts",
    allowed="no more than the addresses of the subnet, without the five that AWS keeps",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html"
    "#sagemaker-hyperpod-prerequisites-optional-vpc",
)
def subnets_hold_the_nodes(model: Model) -> Iterator[Hit]:
    """One hit for each set of subnets that is too small for the groups that can be nowhere else, with what else is in it."""
    facts = network_facts(model)
    reported: set[Resource] = set()
    for subnets in sorted(_sets_of_subnets(model), key=len):
        free = [facts.subnet(subnet).usable_addresses for subnet in subnets]
        if reported & subnets or any(one is None for one in free):
            continue
        nodes = _of_nodes(model, subnets)
        needs = {**nodes, **_of_others(model, subnets)}
        total, usable = sum(needs.values()), sum(one or 0 for one in free)
        if total > usable and nodes:
            reported |= subnets
            first = next(subnet for subnet in model.resources(SUBNET) if subnet in subnets)
            yield Hit(first, ("CidrBlock",), _message(subnets, needs, usable), found=first.get("CidrBlock"))


def _message(subnets: frozenset[Resource], needs: Mapping[str, int], usable: int) -> str:
    listed = ", ".join(f"{name} {need}" for name, need in needs.items())
    where = " and ".join(sorted(subnet.logical_id for subnet in subnets))
    return f"{where} {'has' if len(subnets) == 1 else 'have'} {usable} addresses, and {sum(needs.values())} are needed: {listed}"


def _sets_of_subnets(model: Model) -> set[frozenset[Resource]]:
    return {frozenset(group.subnets) for group in node_groups(model) if group.subnets}


def _of_nodes(model: Model, subnets: frozenset[Resource]) -> Needs:
    """What the groups need whose nodes can be only in these subnets."""
    needs: Needs = {}
    for group in node_groups(model):
        if group.subnets and subnets.issuperset(group.subnets):
            key = group.name if group.name not in needs else f"{group.name} of {group.cluster.logical_id}"
            needs[key] = _of_group(group)
    return {name: need for name, need in needs.items() if need}


def _of_group(group: NodeGroup) -> int:
    """What is not known counts as one address for a node, or as no node."""
    on_eks = bool(group.owner.on_eks)
    each = min((node_addresses(kind, on_eks) for kind in group.group.types or ()), default=1)
    return (group.group.count or 0) * each


def _of_others(model: Model, subnets: frozenset[Resource]) -> Needs:
    """What file systems and endpoints take of these subnets."""
    needs: Needs = {}
    for file_system in _in_subnets(model, FILE_SYSTEM).of(*subnets):
        inside = [subnet for subnet in subnets_of(file_system) or () if subnet in subnets]
        if inside and file_system.exists:
            needs[file_system.logical_id] = len(inside) * file_system_addresses(file_system)
    endpoints = 0
    for endpoint in _in_subnets(model, ENDPOINT).of(*subnets):
        if endpoint.exists and as_str(endpoint.get("VpcEndpointType")) == "Interface":
            named = [resource_of(item, SUBNET) for item in as_items(endpoint.get("SubnetIds")) or ()]
            endpoints += sum(1 for subnet in named if subnet in subnets)
    return {**needs, "interface endpoints": endpoints} if endpoints else needs


def _in_subnets(model: Model, kind: str) -> Naming:
    return model.cached((_in_subnets, kind), lambda: Naming(model.resources(kind), lambda one: as_items(one.get("SubnetIds"))))
