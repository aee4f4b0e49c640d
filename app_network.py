"""The parts of the VPC's block that the reference app gives to subnets."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

_PUBLIC_PREFIX = 24


def blocks_behind_the_public_subnet(cidr: str, prefix: int, what: str) -> Iterator[str]:
    """The first blocks behind the public subnet, which is the first /24 of the VPC.

    :param what: what they are for, in words.
    :raises ValueError: if the VPC's block has no room for them.
    """
    vpc = IPv4Network(cidr)
    if vpc.prefixlen >= _PUBLIC_PREFIX:
        raise ValueError(
            f"context key 'cidr': {cidr!r} has no room for {what} behind the public one; "
            "write a /23 or larger, such as -c cidr=10.0.0.0/16"
        )
    behind = next(part for part in vpc.subnets(new_prefix=_PUBLIC_PREFIX) if part.network_address > vpc.network_address)
    return (str(block) for block in behind.subnets(new_prefix=prefix))
