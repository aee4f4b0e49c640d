"""Rules of security groups that let traffic out to a group which lets none of it in: the other half is missing, or is another.

Answers are of sure cases only: both groups and all their rules are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.blocks import has_no_subnet_in
from hyperpod_constructs.analysis.listeners import known_port
from hyperpod_constructs.analysis.near_misses import is_given_away, known_users_of_group
from hyperpod_constructs.analysis.networks import VPC, block_of
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP, GroupRule, SecurityGroup, is_resource, security_groups
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT


class HalfRule(NamedTuple):
    """A rule that lets traffic out of a group, and the group that does not let it in."""

    rule: GroupRule
    group: Resource
    target: Resource

    @property
    def wrong(self) -> Resource:
        """The rule itself where the other group lets its group in on the port on which it listens; else the other group."""
        ports = [port for one in known_users_of_group(self.target) if (port := known_port(one)) is not None]
        ingress = security_groups(self.target.template.model).of(self.target).in_direction("ingress")
        own = [one for one in ingress if is_resource(one.peer_group, self.group)]
        meant = any(one.covers_traffic("tcp", range(port, port + 1)) for one in own for port in ports)
        return self.rule.resource if meant else self.target

    @property
    def places(self) -> tuple[Resource, ...]:
        """The resources of which one is the mistake."""
        return (self.group, self.target, self.rule.resource)


def half_rules(model: Model) -> Iterator[HalfRule]:
    """The rules between two groups that surely have no other half."""
    for group in model.resources(SECURITY_GROUP) if model.complete else ():
        own = security_groups(model).of(group)
        for rule in own.in_direction("egress") if known_users_of_group(group) and "egress" not in own.uncertain else ():
            target = resource_of(rule.peer_group, SECURITY_GROUP)
            if target is not None and target is not group and _is_half(rule, group, security_groups(model).of(target)):
                yield HalfRule(rule, group, target)


def _is_half(rule: GroupRule, group: Resource, target: SecurityGroup) -> bool:
    if "ingress" in target.uncertain or rule.protocol is None or rule.ports is None or not known_users_of_group(target.resource):
        return False
    others = [*target.in_direction("ingress"), *(one for one in target.possible if one.direction == "ingress")]
    return not any(_may_be_other_half(one, rule, group) for one in others)


def _may_be_other_half(one: GroupRule, rule: GroupRule, group: Resource) -> bool:
    """Whether a rule may let in some of what another lets out."""
    if one.peer_group is not ABSENT and is_resource(one.peer_group, group) is False:
        return False
    if _is_of_nobody(one, group):
        return False
    if one.protocol is None or one.ports is None or "-1" in (one.protocol, rule.protocol):
        return True
    ports = rule.ports or range(0)
    return one.protocol == rule.protocol and one.ports.start < ports.stop and ports.start < one.ports.stop


def _is_of_nobody(rule: GroupRule, group: Resource) -> bool:
    """Whether a rule is for addresses that nothing with a group has: no subnet of its VPC has any of them."""
    block, vpc = block_of(rule.cidr), resource_of(group.get("VpcId"), VPC)
    return block is not None and vpc is not None and not is_given_away(vpc) and has_no_subnet_in(vpc, block)
