"""Ways through the firewalls of a network: there and back through the same one, on from it, and in no circle.

Answers are of sure cases only: the subnets, their tables and all routes are in the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import NamedTuple

from hyperpod_constructs.analysis.inspected import unpassed
from hyperpod_constructs.analysis.joined_networks import is_same_end
from hyperpod_constructs.analysis.networks import NAT, SUBNET, Subnet, block_of, network_facts
from hyperpod_constructs.analysis.transit import ATTACHMENTS
from hyperpod_constructs.templates.dependencies import named_at
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_items, at

_FIREWALL = "AWS::NetworkFirewall::Firewall"


class Astray(NamedTuple):
    """A route by which traffic does not pass a firewall as it should."""

    resource: Resource
    message: str


def astray(model: Model) -> Iterator[Astray]:
    """The first mistake of the ways through each firewall."""
    for firewall in model.resources(_FIREWALL) if model.complete else ():
        found = next(_of(firewall), None) if firewall.exists else None
        if found is not None:
            yield found


def _of(firewall: Resource) -> Iterator[Astray]:
    facts, model = network_facts(firewall.template.model), firewall.template.model
    mapped = [resource_of(at(one, "SubnetId"), SUBNET) for one in as_items(firewall.get("SubnetMappings")) or ()]
    own = [facts.subnet(one) for one in mapped if one is not None]
    every = [facts.subnet(one) for one in model.resources(SUBNET)]
    if not own or None in mapped or not all(one.complete for one in (*own, *every)):
        return
    yield from _circles(firewall, own)
    yield from _dead_ends(firewall, own, every)
    yield from _one_way(firewall, own, every)
    behind = [one for one in every if one not in own and any(map(_is_default, _by(firewall, one)))]
    yield from (Astray(*found) for found in unpassed(firewall, behind))


def _by(firewall: Resource, subnet: Subnet) -> list[Resource]:
    """The routes of a subnet through a firewall."""
    return [one for one in subnet.routes if firewall in named_at(one, "VpcEndpointId")]


def _circles(firewall: Resource, own: list[Subnet]) -> Iterator[Astray]:
    for subnet in own:
        for route in _by(firewall, subnet):
            yield Astray(route, f"it is of the subnet of {firewall.logical_id}, and leads back to it")
        for route in subnet.routes:
            nat = resource_of(route.get("NatGatewayId"), NAT)
            inside = None if nat is None else resource_of(nat.get("SubnetId"), SUBNET)
            there = None if inside is None else network_facts(inside.template.model).subnet(inside)
            if nat is not None and there is not None and any(_is_default(one) for one in _by(firewall, there)):
                wall = firewall.logical_id
                yield Astray(
                    nat, f"it is in {there.resource.logical_id}, which goes out through {wall}, and that by {nat.logical_id}"
                )


def _is_default(route: Resource) -> bool:
    block = block_of(route.get("DestinationCidrBlock"))
    return block is not None and block.prefixlen == 0


def _dead_ends(firewall: Resource, own: list[Subnet], every: list[Subnet]) -> Iterator[Astray]:
    """Tables of a firewall's own subnets without a way on to addresses that routes lead to it."""
    for route in (route for subnet in every if subnet not in own for route in _by(firewall, subnet)):
        block = block_of(route.get("DestinationCidrBlock"))
        for subnet in own if block is not None else ():
            if block is not None and not _leads_on(subnet, block):
                table = resource_of(subnet.route_table) or subnet.resource
                message = f"{route.logical_id} leads {block} to {firewall.logical_id}, and {table.logical_id} has no way on"
                yield Astray(table, message)


def _leads_on(subnet: Subnet, block: IPv4Network) -> bool:
    """Whether a subnet may have a route for a block, or for more; the local one is for the addresses of its VPC."""
    vpc = subnet.vpc
    ends = [None if vpc is None else vpc.get("CidrBlock"), *(one.get("DestinationCidrBlock") for one in subnet.routes)]
    return any(_covers(end, block) is not False for end in ends)


def _covers(end: Value, block: IPv4Network) -> bool | None:
    around = block_of(end)
    return None if around is None else block.subnet_of(around)


def _one_way(firewall: Resource, own: list[Subnet], every: list[Subnet]) -> Iterator[Astray]:
    """Subnets that go out through a firewall and get answers past it, or the other way round."""
    keys = dict(_behind(firewall, own))
    behind = [one for one in every if one.resource in keys and one not in own]
    for subnet in every if behind else ():
        if subnet in own or subnet in behind or subnet.cidr is None:
            continue
        back = [one for one in behind if _leads_back(firewall, one, subnet.cidr)]
        out, name, wall = _by(firewall, subnet), subnet.resource.logical_id, firewall.logical_id
        past = [one for one in subnet.routes if any(one.get(keys[each.resource]) is not ABSENT for each in back)]
        if out and not back:
            yield Astray(out[0], f"{name} goes out through {wall}, and no route behind it leads back through it")
        if past:
            yield Astray(past[0], f"{name} goes out past {wall}, through which its answers come back")


def _leads_back(firewall: Resource, subnet: Subnet, block: IPv4Network) -> bool:
    """Whether a subnet may lead a block to a firewall."""
    return any(_covers(one.get("DestinationCidrBlock"), block) is not False for one in _by(firewall, subnet))


def _behind(firewall: Resource, own: list[Subnet]) -> Iterator[tuple[Resource, str]]:
    """The subnets of the gateways to which a firewall leads, where answers arrive, with the property of routes to them."""
    for route in (route for one in own for route in one.routes):
        nat, end = resource_of(route.get("NatGatewayId"), NAT), route.get("TransitGatewayId")
        found = [] if nat is None else [nat.get("SubnetId")]
        for one in firewall.template.model.resources(*ATTACHMENTS) if end is not ABSENT else ():
            found += as_items(one.get("SubnetIds")) or () if is_same_end(one.get("TransitGatewayId"), end) else ()
        key = "TransitGatewayId" if nat is None else "NatGatewayId"
        yield from ((subnet, key) for one in found if (subnet := resource_of(one, SUBNET)) is not None)
