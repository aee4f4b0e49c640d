"""IPv4 blocks of a VPC, and those that cannot be added to a VPC with others (as of 2026-11-22).

Source: https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html ("IPv4 CIDR block association restrictions").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network

SOURCE = "https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html"
LARGEST, SMALLEST = 16, 28
"""Lengths of the prefix of a block, from the largest block to the smallest."""

_LINK_LOCAL = IPv4Network("169.254.0.0/16")
_TEN = IPv4Network("10.0.0.0/8")
_ONE_SEVEN_TWO = IPv4Network("172.16.0.0/12")
_ONE_NINE_TWO = IPv4Network("192.168.0.0/16")
_BENCHMARKS = IPv4Network("198.19.0.0/16")
_PRIVATE = (_TEN, _ONE_SEVEN_TWO, _ONE_NINE_TWO)

RESTRICTED: Mapping[IPv4Network, tuple[IPv4Network, ...]] = {
    _TEN: (_ONE_SEVEN_TWO, _ONE_NINE_TWO, _BENCHMARKS),
    IPv4Network("10.0.0.0/15"): (IPv4Network("10.0.0.0/16"),),
    _ONE_SEVEN_TWO: (_TEN, _ONE_NINE_TWO, IPv4Network("172.31.0.0/16"), _BENCHMARKS),
    _ONE_NINE_TWO: (_TEN, _ONE_SEVEN_TWO, _BENCHMARKS),
    _BENCHMARKS: _PRIVATE,
}
"""Of a block that the VPC has, by its range: the ranges from which no block can be added."""

RESTRICTED_OTHERWISE = (*_PRIVATE, _BENCHMARKS)
"""The same, for a primary block in none of these ranges: a publicly routable one, or one of 100.64.0.0/10."""


def mistake(block: IPv4Network) -> str | None:
    """Why a VPC cannot have a block at all; `None` if it can."""
    if size := size_mistake(block):
        return f"{size} ({SOURCE})"
    if block.subnet_of(_LINK_LOCAL):
        return f"is link-local ({_LINK_LOCAL}), and a VPC cannot have such a block ({SOURCE})"
    return None


def size_mistake(block: IPv4Network) -> str | None:
    """Why a block is too large or too small for a VPC and for its subnets; `None` if it is not."""
    fits = LARGEST <= block.prefixlen <= SMALLEST
    return None if fits else f"is a /{block.prefixlen}; a VPC block is a /{LARGEST} to a /{SMALLEST}"


def addition_mistake(block: IPv4Network, existing: Sequence[IPv4Network]) -> str | None:
    """Why a block cannot be added to a VPC; `None` if it can.

    :param existing: the blocks of the VPC, its primary one first.
    """
    for index, other in enumerate(existing):
        if block.overlaps(other):
            return f"overlaps {other} of the VPC"
        for area, range_ in _restrictions(other, primary=index == 0):
            if block.subnet_of(range_):
                return f"cannot be added to a VPC with {other}: beside a block of {area}, EC2 takes none of {range_} ({SOURCE})"
    return None


def _restrictions(existing: IPv4Network, *, primary: bool) -> Iterator[tuple[str, IPv4Network]]:
    """The ranges that a block keeps out, each with the range of the block that does so."""
    rows = [area for area in RESTRICTED if existing.subnet_of(area)]
    for area in rows:
        yield from ((str(area), range_) for range_ in RESTRICTED[area])
    if primary and not rows:
        yield from (("a public range or 100.64.0.0/10", range_) for range_ in RESTRICTED_OTHERWISE)


LIST_OF_AWS = re.compile(r"pl-[0-9a-f]{8}")
"""Ids of AWS's own prefix lists, which have public addresses of services; those of accounts have 17 digits (as of 2026-11-27).

Source: https://docs.aws.amazon.com/vpc/latest/userguide/working-with-aws-managed-prefix-lists.html
"""
