"""Ways through the firewalls of a network: there and back through the same one, on from it, and in no circle.

Answers are of sure cases only: the subnets, their tables and all routes are in the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import NamedTuple

from hyperpod_constructs.analysis.networks import NAT, SUBNET, ExitKind, Subnet, block_of, network_facts
from hyperpod_constructs.templates.dependencies import named_at
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import Value, as_items, at

_EVERYWHERE = IPv4Network("0.0.0.0/0")
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


def _by(firewall: Resource, subnet: Subnet) -> list[Resource]:
    """The routes of a subnet through a firewall."""
    return [one for one in subnet.routes if firewall in named_at(one, "VpcEndpointId")]


def _circles(firewall: Resource, own: list[Subnet]) -> Iterator[Astray]:
    for subnet in own:
        for route in _by(firewall, subnet):
            yield Astray(route, f"it is of the subnet of {firewall.logical_id}, and leads back to it")


def _dead_ends(firewall: Resource, own: list[Subnet], every: list[Subnet]) -> Iterator[Astray]:
    """Routes through a firewall whose own subnets have no way on to the same addresses."""
    for route in (route for subnet in every if subnet not in own for route in _by(firewall, subnet)):
        block = block_of(route.get("DestinationCidrBlock"))
        for subnet in own if block is not None else ():
            if block is not None and not _leads_on(subnet, block):
                name = subnet.resource.logical_id
                yield Astray(route, f"it leads {block} to {firewall.logical_id}, whose subnet {name} has no way on")


def _leads_on(subnet: Subnet, block: IPv4Network) -> bool:
    """Whether a subnet may have a route for a block, or for more; the local one is for the addresses of its VPC."""
    vpc = subnet.vpc
    ends = [None if vpc is None else vpc.get("CidrBlock"), *(one.get("DestinationCidrBlock") for one in subnet.routes)]
    return any(_covers(end, block) is not False for end in ends)


def _covers(end: Value, block: IPv4Network) -> bool | None:
    around = block_of(end)
    return None if around is None else block.subnet_of(around)


def _one_way(firewall: Resource, own: list[Subnet], every: list[Subnet]) -> Iterator[Astray]:
    """Subnets that go out through a firewall to a NAT gateway behind it and get answers past it, or the other way round."""
    gateways = [one.exit.gateway for one in own if one.exit.gateway is not None and one.exit.gateway.type == NAT]
    behind = [one for one in every for gateway in gateways if resource_of(gateway.get("SubnetId")) is one.resource]
    for subnet in every if behind else ():
        found = None if subnet in own or subnet in behind else _on_one_way(firewall, subnet, behind)
        if found is not None:
            yield found


def _on_one_way(firewall: Resource, subnet: Subnet, behind: list[Subnet]) -> Astray | None:
    block, name, wall = subnet.cidr, subnet.resource.logical_id, firewall.logical_id
    if block is None:
        return None
    out = [one for one in _by(firewall, subnet) if _covers(one.get("DestinationCidrBlock"), _EVERYWHERE)]
    back = [one for each in behind for one in _by(firewall, each) if _covers(one.get("DestinationCidrBlock"), block) is not False]
    if out and not back:
        return Astray(out[0], f"{name} goes out through {wall}, and no route behind it leads back through it")
    if back and not out and subnet.exit.kind is ExitKind.NAT:
        return Astray(back[0], f"answers to {name} come back through {wall}, and {name} does not go out through it")
    return None
