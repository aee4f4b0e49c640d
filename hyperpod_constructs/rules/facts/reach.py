"""Whether security groups let traffic through between interfaces, by the groups of the other side or by the block that it is in."""

from __future__ import annotations

from collections.abc import Sequence

from hyperpod_constructs.rules.facts.networks import Subnet
from hyperpod_constructs.rules.facts.security_groups import Direction, GroupRule, SecurityGroup
from hyperpod_constructs.rules.template.model import Resource
from hyperpod_constructs.rules.template.values import ABSENT


def lets_through(
    own: Sequence[SecurityGroup],
    direction: Direction,
    *,
    peers: Sequence[Resource],
    subnets: Sequence[Subnet],
    protocol: str,
    ports: range,
) -> bool | None:
    """Whether an interface with some groups lets traffic in from, or out to, another; ``None`` if that is not known.

    :param own: the groups of the interface; their rules add up.
    :param peers: the groups of the other side.
    :param subnets: where the other side is: a rule for a block around one of these counts too.
    """
    answers = [group.allows(direction, peer=peer, protocol=protocol, port=ports) for group in own for peer in peers]
    for subnet in subnets:
        if subnet.cidr is None:
            answers += [None for group in own for rule in group.in_direction(direction) if _names_block(rule, protocol, ports)]
        else:
            answers += [group.allows(direction, peer=str(subnet.cidr), protocol=protocol, port=ports) for group in own]
    return True if True in answers else None if None in answers else False


def _names_block(rule: GroupRule, protocol: str, ports: range) -> bool:
    """Whether a rule is for a block, and can be for this traffic."""
    own = rule.ports
    fits = own is None or (own.start <= ports.start and ports.stop <= own.stop)
    return rule.cidr is not ABSENT and rule.protocol in (None, "-1", protocol) and fits
