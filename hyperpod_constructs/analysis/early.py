"""The templates as they are when a resource is made: without what it does not await.

>>> [(one.resource.logical_id, [late.logical_id for late in one.late]) for one in closed_ways(model)]
[('Cluster', ['PrivateRoute'])]
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Sized
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.clusters import labels
from hyperpod_constructs.analysis.custom_resources import PREFIXES
from hyperpod_constructs.analysis.first_calls import called_first
from hyperpod_constructs.analysis.interface_ways import Stopped, interface_ways, sides_of, ways_of
from hyperpod_constructs.analysis.network_acls import acl_of
from hyperpod_constructs.analysis.networks import ENDPOINT, NAT
from hyperpod_constructs.analysis.placement import FILE_SYSTEM
from hyperpod_constructs.analysis.reachability import Connection, connections
from hyperpod_constructs.analysis.ways import Way
from hyperpod_constructs.facts.creation import OPENING
from hyperpod_constructs.facts.interfaces import INTERFACES
from hyperpod_constructs.templates.dependencies import awaits, references
from hyperpod_constructs.templates.doubts import Key
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_str

_MOST, _MOST_CLUSTERS = 12, 8
"""Resources of which each is tried alone, and clusters that are tried: each takes another look at the whole model."""


class Early(NamedTuple):
    """A resource that is made before what it needs.

    :param late: what it does not await.
    :param users: who surely does not reach something without that, in words.
    :param targets: what they do not reach.
    """

    resource: Resource
    late: tuple[Resource, ...]
    users: str
    targets: tuple[str, ...]


def without(model: Model, late: Collection[Resource]) -> Model:
    """The same templates before some resources are made."""
    return model.doubting(replace(model.doubts, absent=model.doubts.absent | {one.key for one in late}))


def not_awaited(resource: Resource, *types: str) -> tuple[Resource, ...]:
    """The resources of these types in its stack that a resource does not await."""
    found = (one for one in resource.template.model.resources(*types) if one.template.root is resource.template.root)
    return tuple(one for one in found if one is not resource and not awaits(resource, one))


def closed_ways(model: Model) -> Iterator[Early]:
    """The clusters, of the first eight, whose nodes surely start before a way is open that opens later."""
    needed = grouped((one.group.resource, one) for one in connections(model) if _is_needed(one))
    for cluster, found in list(needed.items())[:_MOST_CLUSTERS]:
        ends = set(_ends(found))
        late = [one for one in not_awaited(cluster, *OPENING) if one.type == ENDPOINT or not ends.isdisjoint(references(one.get()))]
        missed = _missed(cluster, found, late)
        if missed and not _are_spare(cluster, missed, late):
            targets = tuple(dict.fromkeys(one.target.label for one in missed))
            causes = _causes(late, partial(_missed, cluster, missed))
            yield Early(cluster, causes, labels(one.group for one in missed), targets)
    yield from _of_programs(model)


def _of_programs(model: Model) -> Iterator[Early]:
    """The custom resources that call functions and builds in a VPC before a way of theirs is open; the first eight.

    The rotation of a secret, which also calls a function at once, is tried again.
    """
    custom = {one: programs for one, programs in called_first(model).items() if one.type.startswith(PREFIXES)}
    inner = {one: [program for program in programs if _is_inside(program)] for one, programs in custom.items()}
    for caller, programs in [(one, found) for one, found in inner.items() if found and one.exists][:_MOST_CLUSTERS]:
        keys = {one.key for one in programs}
        known = list(ways_of(model, keys))
        ends = {*_ends_of_programs(programs), *(hop.resource for one in known for hop in one.way.hops)}
        late = [one for one in not_awaited(caller, *OPENING) if _opens(one, ends) and not awaits(one, caller)]
        is_ended = partial(_newly_ended, model, keys, {_target(one) for one in known if one.way.end is not None})
        ended = is_ended(late) if late else []
        if ended:
            users = enumerated(dict.fromkeys(one.user.logical_id for one in ended))
            yield Early(caller, tuple(_halved(late, is_ended)), users, tuple(dict.fromkeys(one.target for one in ended)))


def _is_inside(program: Resource) -> bool:
    return program.type in INTERFACES and program.get("VpcConfig") is not ABSENT


def _ends_of_programs(programs: Sequence[Resource]) -> Iterator[Resource]:
    """The subnets, groups, route tables and network ACLs of functions and builds."""
    for one in programs:
        yield from references(one.get("VpcConfig"))
        for side in sides_of(one, INTERFACES[one.type]):
            for subnet in side.subnets or ():
                table, acl = resource_of(subnet.route_table), acl_of(subnet)
                yield from (*(() if table is None else (table,)), *(() if acl is None else (acl.resource,)))


def _opens(one: Resource, ends: Collection[Resource]) -> bool:
    """Whether a resource may open a way to or from what is at its ends."""
    return one.exists is True and (one.type == ENDPOINT or one in ends or any(named in ends for named in references(one.get())))


def _newly_ended(model: Model, keys: Collection[Key], before: Collection[object], late: Sequence[Resource]) -> list[Stopped]:
    """The ways of functions and builds that surely end without some resources, and not with them."""
    return [one for one in interface_ways(without(model, late), keys) if _target(one) not in before]


def _target(one: Stopped) -> tuple[Key, str]:
    return one.user.key, one.target


def _is_needed(one: Connection) -> bool:
    """Whether nodes use a connection when they start, and it does not surely end anyway."""
    mounted = one.target.resource is None or one.target.resource.type != FILE_SYSTEM or one.target.resource in one.group.mounts
    return (one.target.wanted or one.target.fatal) and mounted and not one.ended


def _ends(needed: Sequence[Connection]) -> Iterator[Resource]:
    """The subnets, groups, route tables and network ACLs of nodes, and what their ways pass."""
    for one in needed:
        yield from (hop.resource for way in one.ways for hop in way.hops)
        yield from one.group.security_groups or ()
        if one.subnet is not None:
            table, acl = resource_of(one.subnet.route_table), acl_of(one.subnet)
            yield from (one.subnet.resource, *(() if table is None else (table,)), *(() if acl is None else (acl.resource,)))


def _missed(cluster: Resource, needed: Sequence[Connection], late: Sequence[Resource]) -> tuple[Connection, ...]:
    """The connections that surely end without some resources."""
    ended = set(map(_name, _ended_without(cluster, late))) if late else set()
    return tuple(one for one in needed if _name(one) in ended)


def _ended_without(cluster: Resource, late: Sequence[Resource]) -> Iterator[Connection]:
    before = connections(without(cluster.template.model, late))
    return (one for one in before if one.group.resource.key == cluster.key and one.ended)


def _are_spare(cluster: Resource, missed: Sequence[Connection], late: Sequence[Resource]) -> bool:
    """Whether a cluster awaits no endpoint with an interface, or has a NAT gateway, and its nodes would not miss them if another
    way did not end."""
    model = cluster.template.model
    beside = (one for one in model.resources(ENDPOINT) if one.template.root is cluster.template.root)
    interfaces = {one for one in beside if as_str(one.get("VpcEndpointType")) == "Interface"}
    ends = {end for one in connections(model) if one.group.resource is cluster for end in _ends_of(one)}
    if not ends or not interfaces:
        return False
    names = {*map(_name, missed)}
    closed = [one for one in _ended_without(cluster, late) if _name(one) in names]
    same = all(not ends.isdisjoint(_ends_of(one)) for one in closed)
    return same and (interfaces <= {*late} or all(any(map(_leads_to_a_gateway, one.ended)) for one in closed))


def _leads_to_a_gateway(way: Way) -> bool:
    """Whether a way passes a NAT gateway, and ends behind that."""
    return any(hop.resource.type == NAT and hop.passes is not False for hop in way.hops)


def _ends_of(one: Connection) -> set[Key]:
    """The resources at which the ways of a connection end, the same in every model."""
    return {way.end.resource.key for way in one.ended if way.end is not None}


def _name(one: Connection) -> tuple[object, ...]:
    """A connection, the same in every model of its templates."""
    return one.group.path, None if one.subnet is None else one.subnet.resource.key, one.target.label


def _causes(late: Sequence[Resource], is_missed: Callable[[Sequence[Resource]], Sized]) -> tuple[Resource, ...]:
    """The resources of which each alone is missed; all where none is, or where they are too many to try."""
    tried = late if len(late) <= _MOST else ()
    return tuple(one for one in tried if len(late) == 1 or len(is_missed([one]))) or tuple(late)


def _halved(late: Sequence[Resource], is_missed: Callable[[Sequence[Resource]], Sized]) -> Sequence[Resource]:
    """Those of some resources that are missed together, without a half that is not."""
    middle = len(late) // 2
    missed = [half for half in (late[:middle], late[middle:]) if half and len(is_missed(half))] if middle else []
    return [one for half in missed for one in _halved(half, is_missed)] or late
