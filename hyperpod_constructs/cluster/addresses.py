"""The free addresses of imported subnets; the rules check a subnet of this app in its template."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence

from aws_cdk import aws_ec2 as ec2

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs.cluster.instance_group import InstanceGroup
from hyperpod_constructs.cluster.restricted_group import RestrictedInstanceGroup
from hyperpod_constructs.facts import addresses as address_facts
from hyperpod_constructs.network import NodeNetwork, NodePlace

_EACH = {False: "one per network card", True: "up to 50 per node for pods and one per further network card"}
Group = InstanceGroup | RestrictedInstanceGroup


def mistakes(groups: Sequence[Group], network: NodeNetwork | None, place: NodePlace | None, *, on_eks: bool = False) -> list[str]:
    """Too few addresses in subnets that were imported with their blocks.

    Each node takes one per network card that has addresses; on EKS more, for its pods.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
    """
    shared = [group for group in groups if group.override_vpc_config is None]
    imported = network is not None and place is not None and not is_unknown(place.subnet_id)
    free = _free_in(network.node_subnet) if network is not None and imported else None
    found = [_mistake(shared, free, on_eks, "the node subnet has", "make the network with a larger node_cidr")]
    for subnets, members in _overriding(groups):
        listed = [_free_addresses(subnet) for subnet in subnets]
        known = [count for count in listed if count is not None]
        free = sum(known) if len(known) == len(listed) else None
        found.append(_mistake(members, free, on_eks, "the subnets of override_vpc_config have", "name larger or more subnets"))
    return [mistake for mistake in found if mistake is not None]


def _overriding(groups: Sequence[Group]) -> Iterator[tuple[Sequence[ec2.ISubnet], list[Group]]]:
    """The subnets of groups with a network of their own, with the groups that share them."""
    own = [(group.override_vpc_config.subnets, group) for group in groups if group.override_vpc_config is not None]
    for members in grouped((frozenset(map(id, subnets)), (subnets, group)) for subnets, group in own).values():
        yield members[0][0], [group for _, group in members]


def _mistake(groups: Sequence[Group], free: int | None, on_eks: bool, there: str, fix: str) -> str | None:
    needs: Mapping[str, int] = {} if free is None else {group.name: _addresses(group, on_eks) for group in groups}
    if free is None or sum(needs.values()) <= free:
        return None
    listed = ", ".join(f"{name} {need}" for name, need in needs.items() if need)
    return (
        f"the groups need {sum(needs.values())} addresses, {_EACH[on_eks]} ({listed}), and {there} {free}; "
        f"a subnet's block cannot be changed later: {fix}, or lower the counts"
    )


def _free_addresses(subnet: ec2.ISubnet) -> int | None:
    """The free addresses of a subnet; `None` if their number is unknown, or for a subnet of this app."""
    return None if is_unknown(subnet.subnet_id) else _free_in(subnet)


def _free_in(subnet: ec2.ISubnet) -> int | None:
    try:
        block = subnet.ipv4_cidr_block
    except RuntimeError:  # an imported subnet without its block
        return None
    if is_unknown(block):
        return None
    return ipaddress.IPv4Network(block).num_addresses - address_facts.RESERVED_ADDRESSES


def _addresses(group: Group, on_eks: bool) -> int:
    """The least number of addresses of a group; an unknown count is 0 nodes."""
    types = group.instance_types if isinstance(group, InstanceGroup) else (group.instance_type,)
    given = group.network_interface if isinstance(group, InstanceGroup) else None
    interface = None if given is None else given.interface_type.value
    kinds = [address_facts.node_addresses(kind, on_eks=on_eks, interface=interface) for kind in types]
    return 0 if is_unknown(group.count) else group.count * max(kinds, default=1)
