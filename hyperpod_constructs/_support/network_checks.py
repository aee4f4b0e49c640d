"""Checks of the zone and the address blocks of a network."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs.facts import addresses, cidr_blocks, zones

_ENDPOINT_PREFIX, _ENDPOINT_ADDRESSES = 26, 64


def first_block(cidr: str) -> str:
    """The first /24 of a block. A smaller block and a token are used whole."""
    if is_unknown(cidr):
        return cidr
    network = ipaddress.IPv4Network(cidr)
    return str(next(network.subnets(new_prefix=max(24, network.prefixlen))))


def last_block(cidr: str) -> str:
    """The last /26 of a block. A smaller block and a token are used whole."""
    if is_unknown(cidr):
        return cidr
    network = ipaddress.IPv4Network(cidr)
    last = network.network_address + (network.num_addresses - min(_ENDPOINT_ADDRESSES, network.num_addresses))
    return f"{last}/{max(_ENDPOINT_PREFIX, network.prefixlen)}"


def usable_addresses(cidr: str) -> int:
    """The addresses of a subnet that interfaces can have."""
    return ipaddress.IPv4Network(cidr).num_addresses - addresses.RESERVED_ADDRESSES


def check_zone(path: str, region: str, zone_id: str | None, zone: str | None) -> None:
    """Check that exactly one zone is given, and that it is of the region.

    :raises ValueError: otherwise.
    """
    if (zone_id is None) == (zone is None):
        found = "neither" if zone_id is None else f"both ({zone_id}, {zone})"
        raise ValueError(
            f"{path}: exactly one of availability_zone_id and availability_zone is required, found {found}; "
            'write availability_zone_id="usw2-az4" with the zone that your capacity was sold in'
        )
    mistake = None if zone is None else zones.name_mistake("availability_zone", zone, "availability_zone_id")
    if zone_id is not None and not is_unknown(zone_id):
        known = None if is_unknown(region) else region
        mistake = zones.id_mistake("availability_zone_id", zone_id, known, "availability_zone")
    if mistake is not None:
        raise ValueError(f"{path}: {mistake}")


def check_blocks(path: str, cidr: str, node_cidr: str) -> None:
    """Check that the two blocks of a VPC go together.

    :raises ValueError: otherwise.
    """
    blocks = [vpc_block(path, name, value) for name, value in (("cidr", cidr), ("node_cidr", node_cidr))]
    primary, secondary = blocks
    mistake = None if primary is None or secondary is None else cidr_blocks.addition_mistake(secondary, [primary])
    if mistake is not None:
        raise ValueError(
            f"{path}: node_cidr {node_cidr!r} {mistake}; the nodes take a secondary block beside cidr {cidr!r}, "
            'such as node_cidr="10.1.0.0/16" beside cidr="10.0.0.0/16"'
        )


def check_further_block(path: str, cidr: str, existing: Sequence[str]) -> None:
    """Check that a VPC can have a further block.

    :raises ValueError: otherwise.
    """
    block = vpc_block(path, "cidr", cidr)
    known = [ipaddress.IPv4Network(other) for other in existing if not is_unknown(other)]
    mistake = None if block is None or len(known) < len(existing) else cidr_blocks.addition_mistake(block, known)
    if mistake is not None:
        raise ValueError(f"{path}: cidr {cidr!r} {mistake}; take a block of its own, such as the next /16")


def check_part(path: str, cidr: str, whole: str, existing: Sequence[str]) -> None:
    """Check that a block is in the VPC's primary one and overlaps no other subnet.

    :raises ValueError: otherwise, with a free block.
    """
    block = vpc_block(path, "cidr", cidr)
    if block is None or is_unknown(whole):
        return
    primary = ipaddress.IPv4Network(whole)
    taken = [other for other in existing if not is_unknown(other) and block.overlaps(ipaddress.IPv4Network(other))]
    if not block.subnet_of(primary):
        raise ValueError(f"{path}: cidr {cidr!r} is outside the VPC's {whole}; {_free_part(primary, existing)}")
    if taken:
        raise ValueError(f"{path}: cidr {cidr!r} overlaps the subnet {taken[0]}; {_free_part(primary, existing)}")


def _free_part(primary: ipaddress.IPv4Network, existing: Sequence[str]) -> str:
    """The smallest free block of a VPC as a fix."""
    taken = [ipaddress.IPv4Network(other) for other in existing if not is_unknown(other)]
    parts = primary.subnets(new_prefix=28)
    free = next((part for part in parts if not any(part.overlaps(other) for other in taken)), None)
    return f'write cidr="{free}"' if free is not None else "give the network a larger cidr, such as 10.0.0.0/16"


def vpc_block(path: str, name: str, value: str) -> ipaddress.IPv4Network | None:
    """A block of a VPC; `None` if it is unknown.

    :raises ValueError: for a text that is none, or a block that a VPC cannot have.
    """
    if is_unknown(value):
        return None
    try:
        network = ipaddress.IPv4Network(value)
    except ValueError as error:
        raise ValueError(f'{path}: {name} {value!r} is not an IPv4 block ({error}); write "10.1.0.0/16"') from None
    if (alone := cidr_blocks.mistake(network)) is not None:
        raise ValueError(f"{path}: {name} {value!r} {alone}")
    return network
