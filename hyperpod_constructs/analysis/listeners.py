"""What listens in a VPC and lets nobody in: no rule of its groups is for its port, or only for those who are not there, or the ACL
of its subnet lets nobody in, or the export of its volume.

Answers are of sure cases only: a group that another stack can have, or whose rules are not all known, may let somebody in.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import NamedTuple

from hyperpod_constructs.analysis.blocks import blocks_of
from hyperpod_constructs.analysis.database import DATABASES, port_of
from hyperpod_constructs.analysis.near_misses import known_users_of_group, users_of_group
from hyperpod_constructs.analysis.networks import ENDPOINT, VPC, ExitKind, block_of, exit_of
from hyperpod_constructs.analysis.placement import FILE_SYSTEM, groups_at, subnets_of
from hyperpod_constructs.analysis.security_groups import DEFAULT_GROUP, SECURITY_GROUP, GroupRule, SecurityGroup, security_groups
from hyperpod_constructs.analysis.shut_subnets import shut_in
from hyperpod_constructs.analysis.traffic import Side, Traffic, group_lets
from hyperpod_constructs.facts.listeners import BALANCER, LISTENERS, NFS, PROTOCOLS_OF_BALANCERS, Listener
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, as_int, as_items, as_str, at, placed_leaves

_TARGETS, _FORWARD = "AWS::ElasticLoadBalancingV2::TargetGroup", ("ForwardConfig", "TargetGroups")
_ROUTE = "AWS::EC2::Route"
_LISTENER, _BALANCER = "AWS::ElasticLoadBalancingV2::Listener", "AWS::ElasticLoadBalancingV2::LoadBalancer"
_VOLUME, _EXPORTS = "AWS::FSx::Volume", ("OpenZFSConfiguration", "NfsExports")
_SHARE = Listener(groups="", name="the volume")
_SITES = ("AWS::EC2::VPNGateway", "AWS::EC2::VPNGatewayRoutePropagation")
_GROUPS = "SecurityGroup"
"""A part of the name of every property with security groups."""
_BY_DEFAULT = tuple(f"AWS::EC2::{one}" for one in ("Instance", "LaunchTemplate", "NetworkInterface", "SpotFleet"))
"""Types whose interfaces are in the default group of their VPC unless they name others."""
_NO_CALLERS = (*LISTENERS, FILE_SYSTEM)


class Lonely(NamedTuple):
    """Something that listens and lets nobody in.

    :param place: its group, or itself where the group belongs to others; the ACL of its subnet.
    :param traffic: what it waits for.
    :param silent: the groups that it lets in, and that let nothing out to it.
    :param groups: its own groups.
    """

    resource: Resource
    place: Resource
    path: tuple[str, ...]
    listener: Listener
    traffic: Traffic
    silent: tuple[Resource, ...] = ()
    groups: tuple[Resource, ...] = ()


def lonely_listeners(model: Model) -> Iterator[Lonely]:
    """Those that surely let nobody in; one for each place."""
    said: set[Resource] = set()
    for resource, listener, traffic in (*_waiting(model), *_balanced(model)) if model.complete else ():
        found = _judged(resource, listener, traffic) if resource.exists else None
        if found is not None and found.place not in said:
            said.add(found.place)
            yield found
    yield from (Lonely(resource, acl, (), listener, traffic) for resource, acl, listener, traffic in shut_in(model))
    yield from _exported(model) if model.complete else ()


def _waiting(model: Model) -> Iterator[tuple[Resource, Listener, Traffic]]:
    """The services that listen, and what they wait for."""
    for type_, listener in LISTENERS.items():
        for resource in model.resources(type_):
            port = known_port(resource)
            if port is not None and (not listener.when or as_str(resource.get(listener.when[0])) == listener.when[1]):
                yield from ((resource, listener, Traffic(one, range(port, port + 1))) for one in listener.protocols)


def known_port(resource: Resource) -> int | None:
    """The port on which a service surely listens; `None` for others."""
    listener = LISTENERS.get(resource.type)
    return None if listener is None else port_of(resource) if resource.type in DATABASES else _own_port(resource, listener)


def _own_port(resource: Resource, listener: Listener) -> int | None:
    own = resource.get(listener.own_port) if listener.own_port else ABSENT
    return listener.port if own is ABSENT else as_int(own)


def _exported(model: Model) -> Iterator[Lonely]:
    """The volumes of OpenZFS that are exported to blocks alone, of which surely none is there."""
    for one in model.resources(_VOLUME):
        vpc, exports = _vpc_of(one), as_items(one.get(*_EXPORTS)) or ()
        clients = [at(each, "Clients") for export in exports for each in as_items(at(export, "ClientConfigurations")) or (UNKNOWN,)]
        blocks = [block_of(client) for client in clients]
        if one.exists and vpc is not None and blocks and not any(block is None or _is_reached(block, vpc) for block in blocks):
            yield Lonely(one, one, _EXPORTS, _SHARE, Traffic("tcp", NFS))


def _vpc_of(volume: Resource) -> Resource | None:
    """The VPC of the file system of a volume."""
    parent: Resource | None = volume
    while parent is not None and parent.type == _VOLUME:
        parent = resource_of(parent.get("OpenZFSConfiguration", "ParentVolumeId"), _VOLUME, FILE_SYSTEM)
    subnets = None if parent is None else subnets_of(parent)
    return resource_of(subnets[0].get("VpcId"), VPC) if subnets else None


def _balanced(model: Model) -> Iterator[tuple[Resource, Listener, Traffic]]:
    """The load balancers, each with what its listeners wait for."""
    for one in model.resources(_LISTENER):
        balancer, port = resource_of(one.get("LoadBalancerArn"), _BALANCER), as_int(one.get("Port"))
        for protocol in PROTOCOLS_OF_BALANCERS.get(as_str(one.get("Protocol")) or "", ()):
            if balancer is not None and port is not None and one.exists:
                yield balancer, BALANCER, Traffic(protocol, range(port, port + 1))


class Mute(NamedTuple):
    """A load balancer whose groups let nothing out to the port of its targets."""

    balancer: Resource
    targets: Resource
    groups: tuple[Resource, ...]
    traffic: Traffic


def mute_balancers(model: Model) -> Iterator[Mute]:
    """Those whose groups are all known; one for each group of targets."""
    found = {}
    for one in model.resources(_LISTENER) if model.complete else ():
        balancer = resource_of(one.get("LoadBalancerArn"), _BALANCER)
        for targets in targets_of(one) if balancer is not None and balancer.exists else ():
            found[balancer, targets] = _mute(balancer, targets) if balancer is not None else None
    return (one for one in found.values() if one is not None)


def targets_of(listener: Resource) -> Iterator[Resource]:
    """The groups of targets to which a listener sends by default."""
    for action in as_items(listener.get("DefaultActions")) or ():
        named = [at(action, "TargetGroupArn"), *(at(one, "TargetGroupArn") for one in as_items(at(action, *_FORWARD)) or ())]
        yield from (found for one in named if (found := resource_of(one, _TARGETS)) is not None)


def _mute(balancer: Resource, targets: Resource) -> Mute | None:
    own, port = groups_at(balancer, "SecurityGroups"), as_int(targets.get("Port"))
    protocols = PROTOCOLS_OF_BALANCERS.get(as_str(targets.get("Protocol")) or "", ())
    groups = [security_groups(one.template.model).of(one) for one in own or ()]
    if not groups or port is None or len(protocols) != 1:
        return None
    if any(one.opens("egress", protocol=protocols[0], port=port) is not False for one in groups):
        return None
    return Mute(balancer, targets, tuple(one.resource for one in groups), Traffic(protocols[0], range(port, port + 1)))


def _judged(resource: Resource, listener: Listener, traffic: Traffic) -> Lonely | None:
    place_of_groups = tuple(listener.groups.split("/"))
    own = groups_at(resource, *place_of_groups)
    if own is None:
        return Lonely(resource, resource, place_of_groups, listener, traffic) if _is_by_default(resource) else None
    groups = [security_groups(one.template.model).of(one) for one in own]
    target = Side(resource.logical_id, tuple(groups))
    if any(_may_have_more(group, resource) or _may_let(group, target, traffic) for group in groups):
        return None
    if not any(group.in_direction("ingress") for group in groups) and any(
        resource_of(one.get("VpcId"), VPC) is None for one in own
    ):
        return None  # whoever has the VPC may add rules
    alone = {one.type for one in known_users_of_group(own[0])} == {resource.type}
    place, path = (own[0], ()) if alone else (resource, place_of_groups)
    silent = dict.fromkeys(peer for group in groups for peer in _admitted(group, traffic))
    return Lonely(resource, place, path, listener, traffic, tuple(silent), own)


def _is_by_default(resource: Resource) -> bool:
    """Whether an endpoint in subnets surely has the default group of its VPC, which nothing else has or opens."""
    vpc, model = resource_of(resource.get("VpcId"), VPC), resource.template.model
    placed = resource.type == ENDPOINT and vpc is not None and bool(as_items(resource.get("SubnetIds")))
    if not placed or resource.get("SecurityGroupIds") not in (ABSENT, ()):
        return False
    rules = model.resources("AWS::EC2::SecurityGroupIngress")
    opened = any(resource_of(one.get("GroupId"), SECURITY_GROUP) is None for one in rules)
    inside = any("SecurityGroup" not in str(one.raw) and "GroupSet" not in str(one.raw) for one in model.resources(*_BY_DEFAULT))
    return not opened and not inside and not any(DEFAULT_GROUP in str(one.raw) for one in model.resources())


def _may_have_more(group: SecurityGroup, resource: Resource) -> bool:
    """Whether an output gives a group to others, which may add rules; one with rules is given to what listens elsewhere."""
    elsewhere = resource.template is not group.resource.template and group.in_direction("ingress")
    return users_of_group(group.resource) is None and not elsewhere


def _may_let(group: SecurityGroup, target: Side, traffic: Traffic) -> bool:
    """Whether a group may let this traffic in from somebody who is there."""
    return "ingress" in group.uncertain or any(_may_come(rule, group, target, traffic) for rule in _asked(group, traffic))


def _asked(group: SecurityGroup, traffic: Traffic) -> list[GroupRule]:
    """The rules of a group that may let this traffic in."""
    rules = [*group.in_direction("ingress"), *(rule for rule in group.possible if rule.direction == "ingress")]
    return [rule for rule in rules if rule.covers_traffic(traffic.protocol, traffic.ports) is not False]


def _admitted(group: SecurityGroup, traffic: Traffic) -> Iterator[Resource]:
    """The groups of callers that a group lets in."""
    for rule in _asked(group, traffic):
        peer = resource_of(rule.peer_group, SECURITY_GROUP)
        if peer is not None and any(one.type not in _NO_CALLERS for one in known_users_of_group(peer)):
            yield peer


def _may_come(rule: GroupRule, group: SecurityGroup, target: Side, traffic: Traffic) -> bool:
    """Whether the other side of a rule may be there, and open connections."""
    if rule.peer_group is ABSENT:
        block, vpc = block_of(rule.cidr), resource_of(group.resource.get("VpcId"), VPC)
        return block is None or vpc is None or _is_reached(block, vpc)
    peer = resource_of(rule.peer_group, SECURITY_GROUP)
    users = () if peer is None else known_users_of_group(peer)
    callers = [one for one in users if one.type not in _NO_CALLERS]
    others = peer is None or not users or (not callers and users_of_group(peer) is None)
    return others or any(_may_ask(one, target, traffic) for one in callers)


def _may_ask(caller: Resource, target: Side, traffic: Traffic) -> bool:
    """Whether the groups of a caller may let this traffic out; their rules add up."""
    named = [value for path, value in placed_leaves(caller.get()) if any(_GROUPS in str(step) for step in path)]
    found = [resource_of(value, SECURITY_GROUP) for value in named]
    known = [security_groups(one.template.model).of(one) for one in found if one is not None]
    return len(known) < len(found) or group_lets(Side("", tuple(known)), "egress", target, traffic) is not False


def _is_reached(block: IPv4Network, vpc: Resource) -> bool:
    """Whether a block may be in a VPC, or on the way of a route of its tables that does not lead to the internet."""
    blocks, model = blocks_of(vpc), vpc.template.model
    if block.is_global or not blocks.complete or any(block.overlaps(one.block) for one in blocks.known):
        return True
    inside = [one for one in model.resources(_ROUTE) if _is_of(one, vpc)]
    return bool(model.resources(*_SITES)) or any(_may_lead(one, block) for one in inside)


def _is_of(route: Resource, vpc: Resource) -> bool:
    table = resource_of(route.get("RouteTableId"))
    return table is None or resource_of(table.get("VpcId")) in (vpc, None)


def _may_lead(route: Resource, block: IPv4Network) -> bool:
    destination = block_of(route.get("DestinationCidrBlock"))
    if exit_of(route).kind in (ExitKind.NAT, ExitKind.INTERNET_GATEWAY):
        return False
    return destination is None or destination.overlaps(block)
