"""Private addresses outside of a VPC, and the routes that lead to them."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

from hyperpod_constructs.analysis.blocks import blocks_of
from hyperpod_constructs.analysis.networks import ExitKind, Subnet, block_of, exit_of
from hyperpod_constructs.analysis.ways import Hop
from hyperpod_constructs.templates.model import resource_of


def routed(subnet: Subnet, address: IPv4Address) -> Iterator[Hop]:
    """The route to an address; one to the internet does not lead to a private address."""
    vpc = subnet.vpc
    if vpc is None or not subnet.complete or not blocks_of(vpc).complete or address.is_global:
        return
    if any(address in one.block for one in blocks_of(vpc).known):
        return
    blocks = [(block_of(route.get("DestinationCidrBlock")), route) for route in subnet.routes]
    if any(block is None for block, _ in blocks):
        return
    known = [(block.prefixlen, route) for block, route in blocks if block is not None and address in block]
    nearest = max(known, key=lambda one: one[0], default=None)
    if nearest is None or exit_of(nearest[1]).kind in (ExitKind.NAT, ExitKind.INTERNET_GATEWAY):
        table = resource_of(subnet.route_table)
        yield Hop(table or subnet.resource, False, f"has no route to {address} for {subnet.resource.logical_id}")
