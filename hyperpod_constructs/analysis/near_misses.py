"""What was probably meant where a way ends at security groups: a group that nothing has, or a rule that adds nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.naming import Naming
from hyperpod_constructs.analysis.placement import NodeGroup, node_groups
from hyperpod_constructs.analysis.security_groups import (
    PEER_GROUP,
    SECURITY_GROUP,
    SEPARATE,
    Direction,
    GroupRule,
    SecurityGroup,
    security_groups,
)
from hyperpod_constructs.analysis.traffic import Side, Traffic, admit_each_other, group_lets
from hyperpod_constructs.analysis.ways import Hop, inside
from hyperpod_constructs.facts.interfaces import CALLERS
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource, Template, resource_of
from hyperpod_constructs.templates.values import Value

_DIRECTIONS: tuple[Direction, ...] = ("egress", "ingress")


def meant(source: Side, target: Side, traffic: Traffic, at: Resource | None) -> Hop | None:
    """The hop at which to mend a way that ends at the groups of its sides; `None` if nothing shows what was meant.

    :param at: the resource of the side that is not the nodes; `None` between nodes.
    """
    guesses = (
        of_idle_groups(source, target, traffic),
        _of_rules(source, target, traffic),
        () if at is None else _of_both(source, target, traffic, at),
    )
    return next(chain.from_iterable(guesses), None)


def inside_as_meant(source: Side, target: Side, traffic: Traffic, at: Resource | None = None) -> Iterator[Hop]:
    """From one side to another in the same VPC; a way that ends at their groups is mended where that was probably meant.

    :param at: the resource of the side that is not the nodes; `None` between nodes.
    """
    for hop in inside(source, target, traffic):
        at_groups = hop.passes is False and hop.resource in (*source.resources, *target.resources)
        yield (meant(source, target, traffic, at) or hop) if at_groups else hop


def of_idle_groups(source: Side, target: Side, traffic: Traffic) -> Iterator[Hop]:
    """A group that nothing has, and with which the way would pass."""
    for own in (target, source):
        for group in idle_groups(own.place[0].template.model) if own.place is not None and own.groups else ():
            found = replace(own, groups=(*(own.groups or ()), security_groups(group.template.model).of(group)))
            if own.place is not None and _passes(*((source, found) if own is target else (found, target)), traffic):
                has = ", ".join(one.logical_id for one in own.resources if one is not own.place[0])
                says = f"has {has}; {group.logical_id}, which nothing has, would let {traffic} through"
                yield Hop(own.place[0], False, says, own.place[1])


def _of_both(source: Side, target: Side, traffic: Traffic, at: Resource) -> Iterator[Hop]:
    """That neither side lets the traffic through: nobody has thought of it for these groups, so the resource has the wrong ones."""
    has, other = (target, source) if target.place is not None and target.place[0] is at else (source, target)
    neither = group_lets(source, "egress", target, traffic) is False and group_lets(target, "ingress", source, traffic) is False
    if neither and has.place is not None:
        names = [", ".join(one.logical_id for one in side.resources) for side in (has, other)]
        says = f"has {names[0]}: neither that nor {names[1]} of {other.name} lets {traffic} through"
        yield Hop(at, False, says, has.place[1])


def idle_groups(model: Model) -> tuple[Resource, ...]:
    """The groups of a model that nothing in it has, and no output gives to others; computed once."""
    found = (one for one in model.resources(SECURITY_GROUP) if users_of_group(one) == () and one.exists)
    return model.cached(idle_groups, lambda: tuple(found) if model.complete else ())


def groups_of_others(model: Model) -> tuple[Resource, ...]:
    """The groups that let all traffic of their own through, as nodes with EFA need it, and that nothing in a model has.

    An output may give them to others: they show only that the nodes of the model may have been meant to have them.
    """
    found = (one for one in model.resources(SECURITY_GROUP) if one.exists and not known_users_of_group(one) and _admits_itself(one))
    return model.cached(groups_of_others, lambda: tuple(found) if model.complete else ())


def _admits_itself(group: Resource) -> bool:
    own = (security_groups(group.template.model).of(group),)
    return all(admit_each_other(own, direction) is True for direction in _DIRECTIONS)


def users_of_group(group: Resource) -> tuple[Resource, ...] | None:
    """What names a group or the group that EKS made for a cluster, without rules; `None` if an output gives it to others."""
    return None if group in _shared_out(group.template.model)[1] else known_users_of_group(group)


def known_users_of_group(group: Resource) -> tuple[Resource, ...]:
    """What names a group in its model, without rules, whether or not others have it too."""
    return tuple(_shared_out(group.template.model)[0].get(group, ()))


def is_given_away(resource: Resource) -> bool:
    """Whether an output gives a resource to others."""
    return resource in _shared_out(resource.template.model)[1]


def borrows(group: NodeGroup) -> bool:
    """Whether nodes have only security groups of something else, which no other nodes of their cluster have."""
    own, cluster = group.security_groups or (), group.resource
    others = [one for one in node_groups(cluster.template.model) if one.resource is cluster and one.path != group.path]
    borrowed = all(any(user is not cluster for user in known_users_of_group(one)) for one in own)
    return bool(own and others) and borrowed and all(set(own).isdisjoint(one.security_groups or ()) for one in others)


def _shared_out(model: Model) -> tuple[dict[Resource, list[Resource]], set[Resource]]:
    """The users of each group, and the groups that outputs give to others; computed once."""
    return model.cached(_shared_out, lambda: _users(model))


def _users(model: Model) -> tuple[dict[Resource, list[Resource]], set[Resource]]:
    users = (one for one in model.resources() if one.type not in (SECURITY_GROUP, *SEPARATE))
    named = grouped((group, one) for one in users for group in dict.fromkeys(references(one.get())))
    return named, {group for one in model.templates for value in given_away(one) for group in references(value)}


def given_away(template: Template) -> Iterable[Value]:
    """What others can have: the outputs of a stack; of a nested one, whose parent is known, its exports."""
    return template.outputs() if template.parent is None else [template.output(output) for _, output in template.exports()]


def meant_for(group: SecurityGroup, other: Side, traffic: Traffic) -> GroupRule | None:
    """The separate rule of a group that was probably meant to let in traffic of another side, and does not.

    It names that side and other ports, or these ports and a group whose users do not connect to this one.
    """
    for rule in group.in_direction("ingress"):
        peer = resource_of(rule.peer_group)
        if rule.resource is group.resource or peer is None:
            continue
        users = users_of_group(peer) if peer.type == SECURITY_GROUP else None
        strange = users is not None and not any(one.type in CALLERS for one in users)
        if peer in other.resources or (strange and rule.covers_traffic(traffic.protocol, traffic.ports)):
            return rule
    return None


def _of_rules(source: Side, target: Side, traffic: Traffic) -> Iterator[Hop]:
    """A separate rule that adds nothing to its group, and with which the way would pass in the group of the side."""
    for rule, group in () if _speaks_of(source, target, "egress") else _separate(source, target, "egress"):
        with_rule = replace(source, groups=tuple(replace(one, rules=(*one.rules, rule)) for one in source.groups or ()))
        if _adds_nothing(rule, group, target, traffic) and _passes(with_rule, target, traffic):
            yield _misplaced(rule, group, source, traffic)
    for rule, group in () if _speaks_of(target, source, "ingress") else _separate(target, source, "ingress"):
        with_rule = replace(target, groups=tuple(replace(one, rules=(*one.rules, rule)) for one in target.groups or ()))
        if _adds_nothing(rule, group, source, traffic) and _passes(source, with_rule, traffic):
            yield _misplaced(rule, group, target, traffic)


def _speaks_of(own: Side, other: Side, direction: Direction) -> bool:
    """Whether a group of a side has a rule that names the other one: its ports are the mistake, and no rule is missing."""
    rules = (rule for group in own.groups or () for rule in group.in_direction(direction))
    return any(resource_of(rule.peer_group) in other.resources for rule in rules)


def _passes(source: Side, target: Side, traffic: Traffic) -> bool:
    return all(hop.passes for hop in inside(source, target, traffic))


def _adds_nothing(rule: GroupRule, group: SecurityGroup, other: Side, traffic: Traffic) -> bool:
    """Whether a group lets the same traffic through without a rule."""
    without = replace(group, rules=tuple(one for one in group.rules if one is not rule))
    return group_lets(Side(group.resource.logical_id, (without,)), rule.direction, other, traffic) is True


def _misplaced(rule: GroupRule, group: SecurityGroup, own: Side, traffic: Traffic) -> Hop:
    name = group.resource.logical_id
    says = f"is a rule of {name}, which lets {traffic} through without it; the group of {own.name} needs it"
    return Hop(rule.resource, False, says, ("GroupId",))


def _separate(own: Side, other: Side, direction: Direction) -> Iterator[tuple[GroupRule, SecurityGroup]]:
    """The separate rules that name a group of the other side, in groups that the own side lacks; a group's rule for itself and all
    traffic, as EFA needs it, is no other group's."""
    for model in [one.template.model for one in own.resources[:1]]:
        for resource in _by_peer(model, direction).of(*other.resources):
            owner = resource_of(resource.get("GroupId"), SECURITY_GROUP)
            group = None if owner is None or owner in own.resources else security_groups(model).of(owner)
            of_itself = owner is resource_of(resource.get(PEER_GROUP[direction]))
            for rule in () if group is None else group.in_direction(direction):
                if rule.resource is resource and group is not None and not (of_itself and rule.protocol == "-1"):
                    yield rule, group


def _by_peer(model: Model, direction: Direction) -> Naming:
    """The separate rules of a direction, by the group of their other side; computed once."""
    kinds = [kind for kind, one in SEPARATE.items() if one == direction]
    found = model.resources(*kinds)
    return model.cached((_by_peer, direction), lambda: Naming(found, lambda one: (one.get(PEER_GROUP[direction]),)))
