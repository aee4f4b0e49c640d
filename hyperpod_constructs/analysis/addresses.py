"""Addresses and blocks wherever a template has some: their numbers, bits behind a prefix, subnets, and networks beyond a VPC."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Network
from typing import NamedTuple, TypeAlias

from hyperpod_constructs.analysis.blocks import blocks_of
from hyperpod_constructs.analysis.kubernetes import eks_clusters
from hyperpod_constructs.analysis.networks import SUBNET, VPC, block_of, network_facts
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.facts.addresses_in_subnets import CHOSEN
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import Value, as_items, as_str, at

Path: TypeAlias = tuple[str | int, ...]

_NUMBERS = re.compile(r"\d{1,4}(?:\.\d{1,4}){3}(?:/\d{1,3})?")
_SIX = re.compile(r"[0-9A-Fa-f:]{2,39}/\d{1,3}")
_LONGEST = 45
_OF_TEXTS = ("EventPattern", "FilterPolicy")
"""Properties with languages of their own."""
_OF_ADDRESSES = re.compile(r"Address|Cidr|CIDR|Clients?$|Destination|Gateway|I[pP]|Servers?$|Source")
"""Names of properties whose texts of four numbers are addresses, and no versions."""
_REMOTE = ("RemoteNetworkConfig/RemoteNodeNetworks/*/Cidrs/*", "RemoteNetworkConfig/RemotePodNetworks/*/Cidrs/*")
_CLIENTS = "AWS::EC2::ClientVpnEndpoint"
_KEPT = 4
"""The first addresses of a subnet, which AWS keeps, as it does the last one."""


class WrongAddress(NamedTuple):
    """A mistake in an address or a block."""

    resource: Resource
    path: Path
    message: str
    allowed: str


def malformed(model: Model) -> Iterator[WrongAddress]:
    """Texts of four numbers that are no addresses or blocks."""
    for resource, path, text in _written(model):
        name = next((one for one in reversed(path) if isinstance(one, str)), "")
        if _NUMBERS.fullmatch(text) and ("/" in text or _OF_ADDRESSES.search(name)) and not _is_valid(text):
            kind = "block" if "/" in text else "address"
            allowed = "four numbers up to 255" + (", and the length of the prefix up to 32" if kind == "block" else "")
            yield WrongAddress(resource, path, f"{name} is {text!r}, which is no {kind}", allowed)


def with_bits_behind(model: Model) -> Iterator[WrongAddress]:
    """Blocks that do not begin at their first address."""
    for resource, path, text in _written(model):
        block = _block(text) if "/" in text else None
        if block is not None and str(block.network_address) != str(ipaddress.ip_address(text.partition("/")[0])):
            name = next((one for one in reversed(path) if isinstance(one, str)), "")
            message = f"{name} is {text}, which has bits behind the prefix: the block is {block}"
            yield WrongAddress(resource, path, message, str(block))


def _block(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _is_valid(text: str) -> bool:
    return _block(text) is not None


def _written(model: Model) -> tuple[tuple[Resource, Path, str], ...]:
    """The texts of a model that look like addresses or blocks, each at its place; computed once."""
    return model.cached(_written, lambda: tuple(one for resource in model.resources() for one in _in(resource)))


def _in(resource: Resource) -> Iterator[tuple[Resource, Path, str]]:
    waiting: list[tuple[Path, Value]] = [((), resource.get())]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            if 6 < len(value) <= _LONGEST and (_NUMBERS.fullmatch(value) or _SIX.fullmatch(value)):
                yield resource, path, value
        elif isinstance(value, Mapping):
            waiting += [((*path, key), item) for key, item in value.items() if key not in _OF_TEXTS]
        elif isinstance(value, tuple):
            waiting += [((*path, index), item) for index, item in enumerate(value)]


def strays(model: Model) -> Iterator[WrongAddress]:
    """Chosen addresses that are not free in their subnet: outside of it, kept by AWS, or taken before."""
    for type_, chosen in CHOSEN.items():
        for resource in model.resources(type_):
            taken: set[tuple[Resource, str]] = set()
            for path, item in _items(resource, chosen.items):
                subnet, text = resource_of(at(item, chosen.subnet), SUBNET), as_str(at(item, chosen.address))
                found = None if subnet is None or text is None else _stray(subnet, text, taken)
                if found is not None:
                    yield WrongAddress(resource, (*path, chosen.address), found[0], found[1])


def _items(resource: Resource, key: str) -> Iterator[tuple[Path, Value]]:
    if not key:
        yield (), resource.get()
    for index, item in enumerate(as_items(resource.get(key)) or ()) if key else ():
        yield (key, index), item


def _stray(subnet: Resource, text: str, taken: set[tuple[Resource, str]]) -> tuple[str, str] | None:
    cidr, block = network_facts(subnet.template.model).subnet(subnet).cidr, _block(text)
    if cidr is None or block is None or block.version != 4:
        return None
    address, id = ipaddress.IPv4Address(text), subnet.logical_id
    allowed = f"{cidr[_KEPT]} to {cidr[-2]}" if cidr.num_addresses > _KEPT + 1 else f"an address of {cidr}"
    if address not in cidr:
        return f"{address} is outside of {id} ({cidr})", allowed
    if int(address) - int(cidr[0]) < _KEPT or address == cidr[-1]:
        return f"{address} is one of the five addresses of {id} ({cidr}) that AWS keeps", allowed
    if (subnet, text) in taken:
        return f"{address} of {id} is there twice", "an address that nothing else has"
    taken.add((subnet, text))
    return None


def beside_their_vpc(model: Model) -> Iterator[WrongAddress]:
    """Blocks of networks beyond a VPC that overlap with it, or with one another."""
    for eks in eks_clusters(model):
        services = block_of(eks.resource.get(*eks.services_path))
        own = [("the addresses of services", services)] if services is not None else []
        yield from _apart(eks.resource, _REMOTE, eks.vpcs, own)
    for endpoint in model.resources(_CLIENTS):
        vpc = resource_of(endpoint.get("VpcId"), VPC)
        yield from _apart(endpoint, ("ClientCidrBlock",), () if vpc is None else (vpc,), [])
    for route in model.resources("AWS::EC2::VPNConnectionRoute"):
        yield from _never_routed(route)


def _never_routed(route: Resource) -> Iterator[WrongAddress]:
    """A block behind a VPN connection that lies in a VPC of its gateway: the local route takes its traffic."""
    connection = resource_of(route.get("VpnConnectionId"))
    gateway = None if connection is None else resource_of(connection.get("VpnGatewayId"))
    block = block_of(route.get("DestinationCidrBlock"))
    attachments = route.template.model.resources("AWS::EC2::VPCGatewayAttachment")
    for one in attachments if gateway is not None and block is not None else ():
        vpc = resource_of(one.get("VpcId"), VPC) if resource_of(one.get("VpnGatewayId")) is gateway else None
        around = None if vpc is None or block is None else blocks_of(vpc).of(block)
        if vpc is not None and around is not None:
            message = f"{block} is in {around.block}, a block of {vpc.logical_id}, whose local route takes its traffic"
            yield WrongAddress(route, ("DestinationCidrBlock",), message, "a block apart from the VPC")


def _apart(
    resource: Resource, paths: Iterable[str], vpcs: Iterable[Resource], others: list[tuple[str, IPv4Network]]
) -> Iterator[WrongAddress]:
    taken = [*others, *((vpc.logical_id, one.block) for vpc in vpcs for one in blocks_of(vpc).known)]
    for place, value in (one for path in paths for one in place_in(resource.get(), path)):
        block = block_of(value)
        met = next(((name, one) for name, one in taken if block is not None and block.overlaps(one)), None)
        if met is not None:
            message = f"{block} overlaps {met[1]} ({met[0]})"
            yield WrongAddress(resource, place, message, "a block apart from the VPC and from the other networks")
        elif block is not None:
            taken.append(("another network", block))
