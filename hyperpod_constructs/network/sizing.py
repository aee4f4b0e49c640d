"""Blocks for subnets by the nodes that they are to hold.

A block is fixed with its subnet. So it follows from the most nodes that a cluster will ever have, and never from its groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network

from hyperpod_constructs._support.network_checks import vpc_block
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs.facts import addresses, cidr_blocks
from hyperpod_constructs.facts.instance_types import InstanceType

DEFAULT = "10.1.0.0/16"
_PLACES = (IPv4Network("10.0.0.0/8"), IPv4Network("100.64.0.0/10"))
_SLOT = cidr_blocks.LARGEST


def node_block(
    path: str,
    given: str | None,
    max_nodes: Mapping[InstanceType, int] | None,
    *,
    pods: bool,
    existing: Sequence[str],
    name: str = "node_cidr",
) -> str:
    """The block of a subnet for nodes: the given one, or the smallest for the most nodes, in the first /16 that is free.

    :param existing: the blocks of the VPC, its primary one first.
    :param name: the argument with the given block.
    :raises ValueError: for both, or for nodes that no block holds.
    """
    if max_nodes is None:
        return DEFAULT if given is None else given
    if given is not None:
        raise ValueError(f"{path}: {name} {given!r} beside max_nodes, which makes the block; leave one of them out")
    prefix = _prefix(path, max_nodes, pods=pods, name=name)
    known = [block for one in existing if (block := vpc_block(path, "cidr", one)) is not None]
    if len(known) < len(existing):
        raise ValueError(f"{path}: max_nodes in a VPC with a block that is known only at the deployment; write {name} in its place")
    free = (slot for slot in _slots() if not any(slot.overlaps(block) for block in known))
    blocks = (IPv4Network(f"{slot.network_address}/{prefix}") for slot in free)
    found = next((block for block in blocks if cidr_blocks.addition_mistake(block, known) is None), None)
    if found is None:
        raise ValueError(f"{path}: the VPC has no free /16 in {' or '.join(map(str, _PLACES))}; write {name} in place of max_nodes")
    return str(found)


def _slots() -> Iterator[IPv4Network]:
    for place in _PLACES:
        yield from place.subnets(new_prefix=_SLOT)


def _prefix(path: str, max_nodes: Mapping[InstanceType, int], *, pods: bool, name: str) -> int:
    """The length of the prefix of the smallest block for these nodes."""
    if not max_nodes:
        raise ValueError(f"{path}: max_nodes is empty; write the most nodes by type, or {name}")
    needs = {kind.name: count * _addresses(path, kind, count, pods=pods, name=name) for kind, count in max_nodes.items()}
    total = sum(needs.values()) + addresses.FILE_SYSTEM_ROOM
    prefix = min(addresses.smallest_prefix(total), cidr_blocks.SMALLEST)
    if prefix < cidr_blocks.LARGEST:
        listed = ", ".join(f"{kind} {need}" for kind, need in needs.items())
        room = IPv4Network(f"0.0.0.0/{cidr_blocks.LARGEST}").num_addresses - addresses.RESERVED_ADDRESSES
        raise ValueError(
            f"{path}: max_nodes needs {total} addresses ({listed}, file systems {addresses.FILE_SYSTEM_ROOM}), and the largest "
            f"subnet, a /{cidr_blocks.LARGEST}, has {room}; lower the numbers, or spread the nodes over subnets by add_node_subnet"
        )
    return prefix


def _addresses(path: str, kind: InstanceType, count: int, *, pods: bool, name: str) -> int:
    if is_unknown(kind.name) or is_unknown(count):
        raise ValueError(f"{path}: max_nodes has a value that is known only at the deployment; write {name} in its place")
    if kind.network_cards is None:
        raise ValueError(
            f"{path}: max_nodes has {kind.name}, whose number of network cards is not known; tell it by "
            f"dataclasses.replace(instance_type, network_cards=...), or write {name}"
        )
    return addresses.node_addresses(kind, on_eks=pods)
