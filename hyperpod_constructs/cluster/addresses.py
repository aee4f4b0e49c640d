"""The free addresses of an imported subnet; the rules check a subnet of this app in its template."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs.cluster.instance_group import InstanceGroup
from hyperpod_constructs.facts import addresses as address_facts
from hyperpod_constructs.network import NodeNetwork, NodePlace


def mistakes(groups: Sequence[InstanceGroup], network: NodeNetwork | None, place: NodePlace | None) -> list[str]:
    """Too few addresses in a subnet that was imported with its block. Each node takes one per network card.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
    """
    free = _free_addresses(network, place)
    if free is None:
        return []
    needs = {group.name: _addresses(group) for group in groups}
    if sum(needs.values()) <= free:
        return []
    listed = ", ".join(f"{name} {need}" for name, need in needs.items() if need)
    return [
        f"the groups need {sum(needs.values())} addresses, one per network card ({listed}), and the node subnet has {free}; "
        "a subnet's block cannot be changed later: make the network with a larger node_cidr, or lower the counts"
    ]


def _free_addresses(network: NodeNetwork | None, place: NodePlace | None) -> int | None:
    """The free addresses of the node subnet; `None` if their number is unknown, or for a subnet of this app."""
    if network is None or place is None or is_unknown(place.subnet_id):
        return None
    try:
        block = network.node_subnet.ipv4_cidr_block
    except RuntimeError:  # an imported subnet without its block
        return None
    if is_unknown(block):
        return None
    return ipaddress.IPv4Network(block).num_addresses - address_facts.RESERVED_ADDRESSES


def _addresses(group: InstanceGroup) -> int:
    """The least number of addresses of a group; an unknown count is 0 nodes."""
    per_node = max((address_facts.node_addresses(kind, on_eks=False) for kind in group.instance_types), default=1)
    return 0 if is_unknown(group.count) else group.count * per_node
