"""The templates as they are when a resource is made: without what it does not await.

>>> [(one.resource.logical_id, [late.logical_id for late in one.late]) for one in closed_ways(model)]
[('Cluster', ['PrivateRoute'])]
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.network_acls import acl_of
from hyperpod_constructs.analysis.networks import ENDPOINT
from hyperpod_constructs.analysis.placement import FILE_SYSTEM
from hyperpod_constructs.analysis.reachability import Connection, connections
from hyperpod_constructs.facts.creation import OPENING
from hyperpod_constructs.templates.dependencies import awaits, references
from hyperpod_constructs.templates.doubts import Key
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import as_str

_MOST, _MOST_CLUSTERS = 12, 8
"""Resources of which each is tried alone, and clusters that are tried: each takes another look at the whole model."""


class Early(NamedTuple):
    """A resource that is made before what it needs.

    :param late: what it does not await.
    :param missed: what it surely does not reach without that.
    """

    resource: Resource
    late: tuple[Resource, ...]
    missed: tuple[Connection, ...]


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
            yield Early(cluster, _causes(cluster, missed, late), missed)


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
    """Whether a cluster awaits no endpoint with an interface, and its nodes would not miss them if another way did not end."""
    model = cluster.template.model
    beside = (one for one in model.resources(ENDPOINT) if one.template.root is cluster.template.root)
    interfaces = {one for one in beside if as_str(one.get("VpcEndpointType")) == "Interface"}
    ends = {end for one in connections(model) if one.group.resource is cluster for end in _ends_of(one)}
    if not ends or not interfaces or not interfaces <= {*late}:
        return False
    names = {*map(_name, missed)}
    return all(not ends.isdisjoint(_ends_of(one)) for one in _ended_without(cluster, late) if _name(one) in names)


def _ends_of(one: Connection) -> set[Key]:
    """The resources at which the ways of a connection end, the same in every model."""
    return {way.end.resource.key for way in one.ended if way.end is not None}


def _name(one: Connection) -> tuple[object, ...]:
    """A connection, the same in every model of its templates."""
    return one.group.path, None if one.subnet is None else one.subnet.resource.key, one.target.label


def _causes(cluster: Resource, missed: Sequence[Connection], late: Sequence[Resource]) -> tuple[Resource, ...]:
    """The resources of which each alone is missed; all where none is, or where they are too many to try."""
    tried = late if len(late) <= _MOST else ()
    return tuple(one for one in tried if len(late) == 1 or _missed(cluster, missed, [one])) or tuple(late)
