"""The ways of Slurm between nodes of different roles: to the controller, to the daemons of compute nodes, and back to `srun`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import partial

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.near_misses import inside_as_meant
from hyperpod_constructs.analysis.placement import NodeGroup, node_groups
from hyperpod_constructs.analysis.security_groups import SecurityGroup
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.analysis.ways import Way, meets
from hyperpod_constructs.facts.slurm_ports import TALKS, Talk

_PROTOCOL = "tcp"


def slurm_ways(group: NodeGroup, source: Side) -> Iterator[tuple[NodeGroup, str, Way]]:
    """The ways of a group's nodes to those of other roles in its cluster, each with the group and the program there."""
    model, role = group.resource.template.model, group.node_type if group.security_groups else None
    for (asking, asked), talk in TALKS.items():
        for other in _of_roles(group).get(asked, ()) if asking == role else ():
            if other.security_groups is not None:
                target = side_of_nodes(other)
                key = slurm_ways, talk, _network(source), _network(target)
                yield other, talk.program, model.cached(key, partial(_way, source, target, talk))


def _of_roles(group: NodeGroup) -> Mapping[str, Sequence[NodeGroup]]:
    """The groups of a group's cluster by their role; computed once."""
    model = group.resource.template.model
    found = ((one.node_type, one) for one in node_groups(model) if one.resource is group.resource)
    return model.cached((slurm_ways, group.resource), lambda: grouped((role, one) for role, one in found if role is not None))


def _network(side: Side) -> Hashable:
    """What tells one network of nodes from another."""
    return side.resources, tuple(subnet.resource for subnet in side.subnets or ()), side.place


def side_of_nodes(group: NodeGroup) -> Side:
    """The groups and the subnets of nodes, as far as they are in the model, named by the role: many groups have one network."""
    place = (group.resource, (*group.network_path, "SecurityGroupIds"))
    name = f"the {str(group.node_type).lower()} nodes"
    return Side(name, group.security_group_facts() or None, group.subnet_facts() or None, place=place, anywhere=True)


def _way(source: Side, target: Side, talk: Talk) -> Way:
    """The way to a program; of several ports the first on which it does not end."""
    ways = [_on(source, target, Traffic(_PROTOCOL, ports)) for ports in _ports(talk, source, target)]
    return next((way for way in ways if way.passes is not False), ways[-1])


def _on(source: Side, target: Side, traffic: Traffic) -> Way:
    (resource, path) = target.place or (source.resources[0], ())
    hops = (*meets(source, target, resource, (*path[:-1], "Subnets")), *inside_as_meant(source, target, traffic))
    return Way.of(source.name, target.name, traffic, hops)


def _ports(talk: Talk, source: Side, target: Side) -> Iterator[range]:
    """The ports to try: all at once, or one of each rule and then all, where the program listens on some of them."""
    for group in (*(source.groups or ()), *(target.groups or ())) if talk.some else ():
        yield from _in_rules(group, talk.ports)
    yield talk.ports


def _in_rules(group: SecurityGroup, ports: range) -> Iterator[range]:
    for rule in (*group.rules, *group.possible):
        first = max(ports.start, rule.ports.start) if rule.ports is not None else ports.start
        if rule.ports is not None and first < min(ports.stop, rule.ports.stop):
            yield range(first, first + 1)
