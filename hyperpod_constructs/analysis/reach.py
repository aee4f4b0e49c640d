"""Traffic that security groups let through between interfaces, by the groups or the blocks of the other side."""

from __future__ import annotations

from collections.abc import Sequence

from hyperpod_constructs.analysis.answers import any_of
from hyperpod_constructs.analysis.networks import Subnet
from hyperpod_constructs.analysis.security_groups import Direction, GroupRule, SecurityGroup, is_resource
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT


def lets_through(
    own: Sequence[SecurityGroup],
    direction: Direction,
    *,
    peers: Sequence[Resource],
    subnets: Sequence[Subnet],
    protocol: str,
    ports: range,
) -> bool | None:
    """Whether an interface with some groups lets traffic in from, or out to, another; `None` if that is not known.

    :param own: the groups of the interface; their rules add up.
    :param peers: the groups of the other side.
    :param subnets: the subnets of the other side: a rule for a block around one of them counts too.
    """
    answers = [group.allows(direction, peer=peer, protocol=protocol, port=ports) for group in own for peer in peers]
    for subnet in subnets:
        if subnet.cidr is None:
            answers += [None for group in own for rule in group.in_direction(direction) if _names_block(rule, protocol, ports)]
        else:
            answers += [group.allows(direction, peer=str(subnet.cidr), protocol=protocol, port=ports) for group in own]
    return any_of(answers)


def admit_each_other(groups: Sequence[SecurityGroup], direction: Direction) -> bool | None:
    """Whether interfaces with these groups let all traffic of each other through, by rules that name a group."""
    between = any(
        is_resource(rule.peer_group, other.resource) is True
        for group in groups
        for rule in group.in_direction(direction)
        for other in groups
        if other is not group
    )
    return any_of([*(group.allows_itself(direction) for group in groups), None if between else False])


def _names_block(rule: GroupRule, protocol: str, ports: range) -> bool:
    """Whether a rule is for a block, and can be for this traffic."""
    own = rule.ports
    fits = own is None or (own.start <= ports.start and ports.stop <= own.stop)
    return rule.cidr is not ABSENT and rule.protocol in (None, "-1", protocol) and fits
