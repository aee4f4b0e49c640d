"""Traffic between two sides, as security groups judge it: a side is known by its groups and by the blocks of its subnets."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from hyperpod_constructs.analysis.answers import all_of, any_of
from hyperpod_constructs.analysis.networks import Subnet, block_of
from hyperpod_constructs.analysis.security_groups import ALL_PORTS, Direction, GroupRule, SecurityGroup, is_list_of_aws, is_resource
from hyperpod_constructs.facts import connections, lustre
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Value


class Traffic(NamedTuple):
    """A protocol and its ports."""

    protocol: str = "tcp"
    ports: range = connections.HTTPS

    def __str__(self) -> str:
        if self.protocol == "-1":
            return "all traffic"
        last = "" if len(self.ports) == 1 else f"-{self.ports.stop - 1}"
        return f"{self.protocol.upper()} {self.ports.start}{last}"

    @property
    def answers(self) -> Traffic:
        """The way back, on the ports from which the other side asks: those of its kernel, or Lustre's."""
        return self if self.protocol == "-1" else Traffic(self.protocol, lustre.ASKING_PORTS.get(self.ports, connections.EPHEMERAL))


EVERYTHING = Traffic("-1", ALL_PORTS)


@dataclass(frozen=True)
class Side:
    """One end of traffic: interfaces with these groups, in one of these subnets."""

    name: str
    groups: tuple[SecurityGroup, ...] | None = None
    """`None` if they are not known."""
    subnets: tuple[Subnet, ...] | None = None
    """`None` if they are not known."""
    public: bool = False
    """Whether it is the internet, at an address that nobody knows."""
    addresses: tuple[ipaddress.IPv4Network, ...] | None = None
    """Its addresses, for a side outside of the VPC; by default those of its subnets."""
    place: tuple[Resource, tuple[str | int, ...]] | None = None
    """The resource that has the groups, and the property that names them."""
    anywhere: bool = False
    """Whether its interfaces get any free addresses of their subnets, so that a block around a part of one misses some."""

    spread: bool = False
    """Whether it has interfaces in several of its subnets, and goes on in any of them when one fails."""

    @property
    def resources(self) -> tuple[Resource, ...]:
        """Its groups."""
        return tuple(group.resource for group in self.groups or ())

    @property
    def vpcs(self) -> set[Resource | None]:
        """Its VPCs; `None` among them is not known."""
        return {subnet.vpc for subnet in self.subnets or ()} or {None}

    def within(self, block: Value) -> bool | None:
        """Whether the addresses of the side are inside a block; `None` if that is not known."""
        area = block_of(block)
        if area is None:
            return None
        if self.public:
            return True if not area.prefixlen else None if area.is_global else False
        if not area.prefixlen:
            return True
        if self.addresses is not None:
            return any_of(_inside(one, area) for one in self.addresses)
        return None if self.subnets is None else any_of(_inside(subnet.cidr, area) for subnet in self.subnets)


INTERNET = Side("the internet", (), (), public=True)


def speak_of_each_other(one: Side, other: Side) -> bool:
    """Whether a rule in a group of a side names a group of the other one: they are made for each other."""
    pairs = [(group, peer) for side, far in ((one, other), (other, one)) for group in side.groups or () for peer in far.resources]
    return any(is_resource(rule.peer_group, peer) is True for group, peer in pairs for rule in group.rules)


def group_lets(own: Side, direction: Direction, other: Side, traffic: Traffic) -> bool | None:
    """Whether the security groups of a side let traffic with the other side through; their rules add up."""
    if own.groups is None:
        return None
    if other.spread:
        parts = (replace(other, subnets=(one,), spread=False) for one in other.subnets or ())
        return all_of(group_lets(own, direction, one, traffic) for one in parts)
    found = any_of(answer for group in own.groups for answer in _answers(group, direction, other, traffic))
    return False if found is None and direction == "ingress" and _misses_some(own.groups, other, traffic) else found


def _misses_some(groups: Sequence[SecurityGroup], other: Side, traffic: Traffic) -> bool:
    """Whether the blocks that these groups let in surely leave out addresses of the other side, and nothing else lets them in."""
    (cidr,) = [subnet.cidr for subnet in other.subnets or ()] if len(other.subnets or ()) == 1 else (None,)
    if cidr is None or not other.anywhere:
        return False
    blocks = []
    for rule, answer in ((rule, _lets(rule, other, traffic)) for group in groups for rule in group.in_direction("ingress")):
        block = block_of(rule.cidr) if rule.peer_group is ABSENT else None
        if answer is not False and block is None:
            return False
        blocks += [block] if answer is not False and block is not None else []
    sure = all(answer is not None for group in groups for answer in _beside_rules(group, "ingress", other, traffic))
    return sure and not any(cidr.subnet_of(one) for one in ipaddress.collapse_addresses(blocks))


def _answers(group: SecurityGroup, direction: Direction, other: Side, traffic: Traffic) -> Iterable[bool | None]:
    yield from (_lets(rule, other, traffic) for rule in group.in_direction(direction))
    yield from _beside_rules(group, direction, other, traffic)


def _lets(rule: GroupRule, other: Side, traffic: Traffic) -> bool | None:
    return all_of((rule.covers_traffic(traffic.protocol, traffic.ports), _covers(rule, other)))


def _beside_rules(group: SecurityGroup, direction: Direction, other: Side, traffic: Traffic) -> Iterable[bool | None]:
    """What else may let traffic through: `None` for each."""
    if direction in group.uncertain:
        yield None
    possible = [rule for rule in group.possible if rule.direction == direction]
    for rule in possible:
        if rule.covers_traffic(traffic.protocol, traffic.ports) is not False and _covers(rule, other) is not False:
            yield None


def _covers(rule: GroupRule, other: Side) -> bool | None:
    if rule.peer_group is not ABSENT:
        if other.public:
            return False
        named = any_of(is_resource(rule.peer_group, one) for one in other.resources)
        return None if other.groups is None and named is False else named
    if not other.public and is_list_of_aws(rule.prefix_list):
        return False
    return other.within(rule.cidr)


def _inside(block: ipaddress.IPv4Network | None, area: ipaddress.IPv4Network) -> bool | None:
    """Whether a block is inside an area; `None` if only a part of it is, or it is not known."""
    if block is None:
        return None
    return True if block.subnet_of(area) else None if block.overlaps(area) else False


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
