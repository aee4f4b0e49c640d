"""Security groups with all their rules: those in the group, and those of `SecurityGroupIngress` and `SecurityGroupEgress`.

>>> groups = security_groups(model)
>>> groups.of(group).allows("ingress", peer=group, protocol="tcp", port=988)
False
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from hyperpod_constructs.analysis.answers import all_of, any_of
from hyperpod_constructs.analysis.prefix_lists import blocks_in
from hyperpod_constructs.facts.cidr_blocks import LIST_OF_AWS
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import (
    ABSENT,
    UNKNOWN,
    Reference,
    Value,
    alternatives_of,
    as_int,
    as_items,
    as_str,
    at,
    is_known,
    of_alternatives,
)

SECURITY_GROUP = "AWS::EC2::SecurityGroup"
INGRESS = "AWS::EC2::SecurityGroupIngress"
DEFAULT_GROUP = "DefaultSecurityGroup"
"""The attribute of a VPC for the group that admits only itself."""
Direction: TypeAlias = Literal["ingress", "egress"]
Peer: TypeAlias = "Resource | str"
"""A security group of the model, or a CIDR block."""

_ANYWHERE = ("0.0.0.0/0", "::/0")
ALL_PORTS = range(0, 65536)

PROTOCOLS = {"6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6", "all": "-1"}
_INLINE: Mapping[Direction, str] = {"ingress": "SecurityGroupIngress", "egress": "SecurityGroupEgress"}
SEPARATE: Mapping[str, Direction] = {INGRESS: "ingress", "AWS::EC2::SecurityGroupEgress": "egress"}
PEER_GROUP: Mapping[Direction, str] = {"ingress": "SourceSecurityGroupId", "egress": "DestinationSecurityGroupId"}
_PEER_LIST = {"ingress": "SourcePrefixListId", "egress": "DestinationPrefixListId"}


class GroupRule(NamedTuple):
    """A rule of a security group, where it is written."""

    direction: Direction
    resource: Resource
    """The group, or the separate rule."""
    path: tuple[str | int, ...]
    """Its place in that resource's properties; empty for a separate rule, and for the default rule of a group without egress."""
    raw: Mapping[str, Value]
    """The rule, resolved."""

    @property
    def protocol(self) -> str | None:
        """`tcp`, `udp`, `icmp`, `icmpv6`, another number, or `-1` for all; `None` if it is not known."""
        name = as_str(at(self.raw, "IpProtocol"))
        return None if name is None else PROTOCOLS.get(name.lower(), name.lower())

    @property
    def ports(self) -> range | None:
        """The ports; all of them where the protocol is `-1`; `None` if they are not known."""
        if self.protocol == "-1":
            return ALL_PORTS
        given = [at(self.raw, key) for key in ("FromPort", "ToPort")]
        first, last = (as_int(value) for value in given)
        if given[0] is ABSENT or first == -1:
            return ALL_PORTS
        return None if first is None or last is None else range(first, last + 1)

    @property
    def cidr(self) -> Value:
        """The block of the other side, IPv4 or IPv6; `ABSENT` if it is a group or a prefix list."""
        found = at(self.raw, "CidrIp")
        return at(self.raw, "CidrIpv6") if found is ABSENT else found

    @property
    def peer_group(self) -> Value:
        """The group of the other side; `ABSENT` if it is a block or a prefix list."""
        return at(self.raw, PEER_GROUP[self.direction])

    @property
    def prefix_list(self) -> Value:
        """The prefix list of the other side; `ABSENT` if it is a block or a group."""
        return at(self.raw, _PEER_LIST[self.direction])

    @property
    def is_open(self) -> bool:
        """Whether the other side is surely everybody."""
        return as_str(self.cidr) in _ANYWHERE

    def covers(self, peer: Peer, protocol: str, ports: range) -> bool | None:
        """Whether it allows all of these ports with the other side; `None` if that is not known."""
        return all_of((self._covers_peer(peer), self.covers_traffic(protocol, ports)))

    def covers_traffic(self, protocol: str, ports: range) -> bool | None:
        """Whether it allows all of these ports, whoever the other side is; `None` if that is not known."""
        return all_of((self._covers_protocol(protocol), self._covers_ports(ports)))

    def _covers_peer(self, peer: Peer) -> bool | None:
        if isinstance(peer, Resource):
            group = self.peer_group
            if is_list_of_aws(self.prefix_list):
                return False
            if group is ABSENT:
                return True if self.is_open else None if self.prefix_list is not ABSENT or self.cidr is UNKNOWN else False
            return is_resource(group, peer)
        if self.cidr is ABSENT:
            return None if self.prefix_list is not ABSENT else False
        block = as_str(self.cidr)
        return None if block is None else _within(peer, block)

    def _covers_protocol(self, protocol: str) -> bool | None:
        return None if self.protocol is None else self.protocol in ("-1", protocol)

    def _covers_ports(self, ports: range) -> bool | None:
        own = self.ports
        return None if own is None else own.start <= ports.start and ports.stop <= own.stop


@dataclass(frozen=True)
class SecurityGroup:
    """A security group of the model with its rules."""

    resource: Resource
    rules: tuple[GroupRule, ...]
    possible: tuple[GroupRule, ...]
    """Possible rules of this group: their group is not known."""
    uncertain: frozenset[Direction]
    """Directions in which the group's own list of rules is not known, or a macro can add rules."""

    def in_direction(self, direction: Direction) -> tuple[GroupRule, ...]:
        """The rules of one direction."""
        return tuple(rule for rule in self.rules if rule.direction == direction)

    def allows(self, direction: Direction, *, peer: Peer, protocol: str, port: int | range) -> bool | None:
        """Whether traffic from (ingress) or to (egress) the other side is allowed on all these ports; `None` if not known.

        :param peer: a security group, covered by a rule that names it or everybody; or a block, covered by a rule with a block
            around it.
        :param protocol: `tcp`, `udp`, ... or `-1`, which only a rule for all protocols covers.
        """
        ports = range(port, port + 1) if isinstance(port, int) else port
        answers = [rule.covers(peer, protocol, ports) for rule in self.in_direction(direction)]
        if True in answers:
            return True
        unknown = None in answers or direction in self.uncertain or self._can_be_covered(direction, peer, protocol, ports)
        return None if unknown else False

    def opens(self, direction: Direction, *, protocol: str, port: int) -> bool | None:
        """Whether a rule allows this traffic with some other side than the group itself; `None` if not known."""
        ports = range(port, port + 1)
        rules = [rule for rule in self.in_direction(direction) if is_resource(rule.peer_group, self.resource) is not True]
        possible = [rule for rule in self.possible if rule.direction == direction]
        unknown = direction in self.uncertain or any(rule.covers_traffic(protocol, ports) is not False for rule in possible)
        return any_of([*(rule.covers_traffic(protocol, ports) for rule in rules), None if unknown else False])

    def allows_itself(self, direction: Direction) -> bool | None:
        """Whether a rule allows all traffic with the group itself, by its id and not by a block, as EFA needs."""
        by_group = [rule for rule in self.in_direction(direction) if rule.peer_group is not ABSENT]
        answers = [rule.covers(self.resource, "-1", ALL_PORTS) for rule in by_group]
        if True in answers:
            return True
        possible = self._can_be_covered(direction, self.resource, "-1", ALL_PORTS)
        return None if None in answers or direction in self.uncertain or possible else False

    def _can_be_covered(self, direction: Direction, peer: Peer, protocol: str, ports: range) -> bool:
        return any(rule.direction == direction and rule.covers(peer, protocol, ports) is not False for rule in self.possible)


class SecurityGroups:
    """The security groups of a model."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def of(self, group: Resource) -> SecurityGroup:
        """A group with its rules."""
        return self._groups[group]

    def made_by(self, owner: Resource) -> SecurityGroup:
        """The group that a service makes for a resource, which admits itself and lets all out, with the separate rules for it."""
        return self._model.cached((SecurityGroups.made_by, owner), lambda: self._made_by(owner))

    def _made_by(self, owner: Resource) -> SecurityGroup:
        own: Mapping[str, Value] = {PEER_GROUP["ingress"]: Reference(owner), "IpProtocol": "-1"}
        rules = [GroupRule("ingress", owner, (), own), GroupRule("egress", owner, (), {"IpProtocol": "-1", "CidrIp": _ANYWHERE[0]})]
        possible: list[GroupRule] = []
        for resource in self._model.resources(*SEPARATE):
            rule, named = GroupRule(SEPARATE[resource.type], resource, (), resource.properties), resource.get("GroupId")
            answer = is_resource(named, owner) if named is not ABSENT else False
            sure = all_of((answer, resource.exists))
            if sure is not False:
                (rules if sure else possible).append(rule)
        return SecurityGroup(owner, tuple(rules), tuple(possible), frozenset() if self._model.complete else frozenset(_INLINE))

    @cached_property
    def _groups(self) -> Mapping[Resource, SecurityGroup]:
        own = {group: list(_inline_rules(group)) for group in self._model.resources(SECURITY_GROUP)}
        homeless: list[tuple[GroupRule, Value]] = []
        for resource in self._model.resources(*SEPARATE):
            rule = GroupRule(SEPARATE[resource.type], resource, (), resource.properties)
            owner = resource.get("GroupId")
            group = resource_of(owner, SECURITY_GROUP)
            if group is not None and group in own and resource.exists and not _is_default_group(owner):
                own[group] += _opened(rule)
            elif not isinstance(owner, Reference) or (group is not None and resource.exists is None):
                homeless.append((rule, owner))
        return {
            group: SecurityGroup(
                resource=group,
                rules=tuple(rules),
                possible=tuple(rule for rule, owner in homeless if is_resource(owner, group) is not False),
                uncertain=_uncertain(group),
            )
            for group, rules in own.items()
        }


def security_groups(model: Model) -> SecurityGroups:
    """The security groups of a model; computed once."""
    return model.cached(SecurityGroups, lambda: SecurityGroups(model))


def is_list_of_aws(prefix_list: Value) -> bool:
    """Whether a prefix list is surely one of AWS, which has addresses of its services, and none of a VPC."""
    names = [as_str(one) for one in alternatives_of(prefix_list)]
    return all(name is not None and LIST_OF_AWS.fullmatch(name) is not None for name in names)


def is_resource(value: Value, resource: Resource) -> bool | None:
    """Whether a value names this resource; a literal id never does, as the resource does not exist yet."""
    return of_alternatives(
        value, lambda one: one.resource is resource if isinstance(one, Reference) else False if is_known(one) else None
    )


def in_default_group(groups: Value) -> bool:
    """Whether what a resource is in is surely the default group of its VPC alone: by the attribute of a VPC, or without a word."""
    named = as_items(groups)
    return named is not None and all(isinstance(one, Reference) and one.attribute == DEFAULT_GROUP for one in named)


def is_default_group(rule: Resource) -> bool:
    """Whether a separate rule is of the default group of a VPC."""
    return _is_default_group(rule.get("GroupId"))


def _is_default_group(owner: Value) -> bool:
    return isinstance(owner, Reference) and owner.resource.type != SECURITY_GROUP


def _inline_rules(group: Resource) -> Iterator[GroupRule]:
    directions: tuple[Direction, ...] = ("ingress", "egress")
    for direction in directions:
        name = _INLINE[direction]
        rules = as_items(group.get(name))
        for index, rule in enumerate(rules or ()):
            if isinstance(rule, Mapping):
                yield from _opened(GroupRule(direction, group, (name, index), rule))
        # EC2 gives a group without inline egress rules a rule that allows everything; separate rules do not remove it
        # (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-securitygroup.html).
        if direction == "egress" and rules == ():
            yield GroupRule(direction, group, (), {"IpProtocol": "-1", "CidrIp": _ANYWHERE[0]})


def _opened(rule: GroupRule) -> Iterator[GroupRule]:
    """A rule, or one for each block of its prefix list if these are known."""
    blocks = blocks_in(rule.prefix_list)
    if blocks is None:
        yield rule
    others = {key: value for key, value in rule.raw.items() if key != _PEER_LIST[rule.direction]} if blocks else {}
    yield from (rule._replace(raw={**others, "CidrIpv6" if ":" in one else "CidrIp": one}) for one in blocks or ())


def _uncertain(group: Resource) -> frozenset[Direction]:
    directions: tuple[Direction, ...] = ("ingress", "egress")
    found = set()
    for direction in directions:
        rules = as_items(group.get(_INLINE[direction]))
        if rules is None or not all(isinstance(rule, Mapping) for rule in rules) or not group.template.complete:
            found.add(direction)
    return frozenset(found)


def _within(block: str, around: str) -> bool | None:
    try:
        inner, outer = ipaddress.ip_network(block, strict=False), ipaddress.ip_network(around, strict=False)
    except ValueError:
        return None
    if isinstance(inner, ipaddress.IPv4Network):
        return isinstance(outer, ipaddress.IPv4Network) and inner.subnet_of(outer)
    return isinstance(outer, ipaddress.IPv6Network) and inner.subnet_of(outer)
