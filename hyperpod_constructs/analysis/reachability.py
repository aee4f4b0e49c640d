"""Reachability: whether nodes reach each of the services and resources that they need, and the hop at which the way ends.

>>> [(one.group.label, one.target.label, one.passes) for one in connections(model)]
[('workers', 'S3', True), ('workers', 'logs', True)]
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.addons import Addon, addons_of
from hyperpod_constructs.analysis.alone import users_of
from hyperpod_constructs.analysis.answered_values import answered
from hyperpod_constructs.analysis.answers import all_of, any_of
from hyperpod_constructs.analysis.arns import s3_uri_arns
from hyperpod_constructs.analysis.build_commands import hosts_of
from hyperpod_constructs.analysis.closed_networks import closed_subnet
from hyperpod_constructs.analysis.clusters import Cluster, given
from hyperpod_constructs.analysis.control_plane_ways import DNS, to_control_plane, to_dns
from hyperpod_constructs.analysis.database import (
    ACCOUNTING,
    INSTANCE,
    asked_port,
    database_of,
    groups_key,
    is_alone,
    port_of,
    side_of,
)
from hyperpod_constructs.analysis.file_systems import LUSTRE, OPENZFS, Lustre, file_systems_of
from hyperpod_constructs.analysis.grants import grants_of
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.kubernetes import eks_of
from hyperpod_constructs.analysis.near_misses import inside_as_meant
from hyperpod_constructs.analysis.networks import ExitKind, Subnet, block_of, network_facts
from hyperpod_constructs.analysis.node_calls import services_called
from hyperpod_constructs.analysis.placement import (
    FILE_SYSTEM,
    NodeGroup,
    node_groups,
    security_groups_of,
    subnets_of,
    users_of_file_systems,
)
from hyperpod_constructs.analysis.policy_document import Statement
from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.analysis.scripts import scripts_for
from hyperpod_constructs.analysis.security_groups import (
    INGRESS,
    Direction,
    in_default_group,
    is_default_group,
    security_groups,
)
from hyperpod_constructs.analysis.service_ways import to_service
from hyperpod_constructs.analysis.slurm_ways import slurm_ways
from hyperpod_constructs.analysis.traffic import EVERYTHING, Side, Traffic, admit_each_other, speak_of_each_other
from hyperpod_constructs.analysis.wanted_ways import wanted_ways
from hyperpod_constructs.analysis.ways import (
    CONNECTIONS,
    Hop,
    Way,
    meets,
    overlap,
    to_the_internet,
    unless,
)
from hyperpod_constructs.facts import connections as facts
from hyperpod_constructs.facts import lustre, openzfs
from hyperpod_constructs.facts.interfaces import GRANTED
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Value, as_items, as_str, at, joined, shown

T = TypeVar("T")

_OF_OTHERS = ("Role", "RoleArn", "ServiceRole", "TaskRoleArn")
"""The properties with the role of a function, a state machine, a build or a task."""
_EXPORTS = ("OpenZFSConfiguration", "RootVolumeConfiguration", "NfsExports")

NODES = "the nodes"
_SMALL = 16  # a prefix: Amazon's own ranges of addresses are larger
_DIRECTIONS: dict[Direction, str] = {"egress": "out to itself", "ingress": "in from itself"}


class Target(NamedTuple):
    """Something that nodes reach for."""

    name: str
    """Its short name: a service's, or a resource's logical id."""
    label: str
    """Its name in a sentence."""
    resource: Resource | None = None
    fatal: bool = False
    """Whether nodes do not come up without it."""
    wanted: bool = True
    """Whether something fails without it."""


@dataclass(frozen=True)
class Connection:
    """What nodes of a group, in one of its subnets, reach for."""

    group: NodeGroup
    subnet: Subnet | None
    """`None` if its subnets are not known."""
    target: Target
    ways: tuple[Way, ...]
    """The ways that must all pass: one, or there and back."""

    @property
    def passes(self) -> bool | None:
        """Whether all ways pass; `None` if that is not known."""
        return all_of(way.passes for way in self.ways)

    @property
    def ended(self) -> tuple[Way, ...]:
        """The ways that surely end before the target."""
        return tuple(way for way in self.ways if way.end is not None)


def connections(model: Model) -> tuple[Connection, ...]:
    """The connections of all groups whose nodes are in a VPC; computed once."""
    return model.cached(connections, lambda: tuple(one for group in node_groups(model) for one in _of_group(group)))


def _of_group(group: NodeGroup) -> Iterator[Connection]:
    if given(group.resource.get(*group.network_path)) is not True:
        return
    for subnet in group.subnet_facts() or (None,):
        place = (group.resource, (*group.network_path, "SecurityGroupIds"))
        subnets = None if subnet is None else (subnet,)
        source = Side(NODES, group.security_group_facts() or None, subnets, place=place, anywhere=True)
        for target, ways in _needs(group, source):
            yield Connection(group, subnet, target, ways)


def _needs(group: NodeGroup, source: Side) -> Iterator[tuple[Target, tuple[Way, ...]]]:
    uses, called = _uses(group), _called(group)
    for service in (*facts.SERVICES, *_others(called)):
        fatal, wanted = bool(service.fatal & uses), bool((service.fatal | service.wanted) & uses) or service.name in called
        label = "S3" if service is facts.S3 else service.name
        yield Target(service.name, label, None, fatal, wanted), (_service_way(group, source, service, uses),)
    if group.cluster.on_eks:
        yield from _of_kubernetes(group, source)
    for system in _file_systems(group):
        ways = _kept(source, system, partial(file_system_ways, source, system))
        yield Target(system.logical_id, system.logical_id, system), ways
    if group.node_type == "Controller" and given(group.cluster.get(*ACCOUNTING)):
        yield _database(group, source)
    if group.has_efa:
        yield Target("nodes", "each other over EFA", None, fatal=True), tuple(_efa_ways(source))
    for name, way in wanted_ways(group, source):
        yield Target(name, name), (way,)
    for host in _hosts(group):
        yield Target(host, host), (Way.of(NODES, host, Traffic(), to_the_internet(source, Traffic())),)
    for other, program, way in slurm_ways(group, source):
        yield Target(f"{program}@{other.label}", f"{program} on {other.label}"), (way,)


def _hosts(group: NodeGroup) -> tuple[str, ...]:
    """The hosts in the internet from which the scripts of a group surely fetch something, but for a network that is closed."""
    if closed_subnet(group) is not None:
        return ()
    found = (host for one in scripts_for(group) if one.entry for host in hosts_of(one.run))
    return tuple(dict.fromkeys(found))


def _of_kubernetes(group: NodeGroup, source: Side) -> Iterator[tuple[Target, tuple[Way, ...]]]:
    eks = eks_of(group.cluster)
    if eks is not None and source.subnets is not None:
        target = Target("eks", f"the Kubernetes API of {eks.resource.logical_id}", eks.resource, fatal=True)
        yield target, (Way.of(NODES, target.label, Traffic(), to_control_plane(source, eks)),)
    for system in eks.node_groups[:1] if eks is not None else ():
        target = Target("dns", f"CoreDNS on {system.logical_id}", system)
        yield target, (Way.of(NODES, target.label, DNS, to_dns(source, eks, system)),) if eks else ()


def _uses(group: NodeGroup) -> frozenset[facts.Use]:
    """What the nodes of a group surely use."""
    on_eks = bool(group.cluster.on_eks)
    used = {
        facts.Use.ALWAYS: True,
        facts.Use.SCRIPTS: group.has_scripts,
        facts.Use.KUBERNETES: on_eks,
        facts.Use.POD_IDENTITIES: on_eks and _has_pod_identities(group),
        facts.Use.SECRET: given(group.cluster.get(*ACCOUNTING, "SecretArn")) is True,
        facts.Use.DATA: _reads_a_bucket(group),
        facts.Use.IMAGES: _pulls_images(group),
    }
    return frozenset(use for use, holds in used.items() if holds)


def _reads_a_bucket(group: NodeGroup) -> bool:
    """Whether the role of a group surely may read objects of a bucket of the templates: they are for its jobs."""
    role = resource_of(group.get("ExecutionRole"), ROLE)
    return role is not None and reads_a_bucket(role)


def reads_a_bucket(role: Resource) -> bool:
    """Whether a role has a permission to read objects of a bucket of the templates; computed once."""
    return bool(role.template.model.cached((reads_a_bucket, role), lambda: _may_read(role)))


def _pulls_images(group: NodeGroup) -> bool:
    """Whether nodes are allowed to pull images, and their network is made for it: by a NAT gateway, or by an endpoint, be it one
    without private DNS."""
    role = resource_of(group.get("ExecutionRole"), ROLE)
    subnets = group.subnet_facts() if role is not None else ()
    if role is None or not any(_allows_pulls(one) for one in role_facts(role).statements):
        return False
    known = network_facts(group.resource.template.model)
    places = [(subnet.vpc, name) for subnet in subnets if subnet.vpc is not None for name in facts.REGISTRIES]
    inner = any(known.interface_endpoint(*one)[0] or known.endpoint_without_names(*one) for one in places)
    return inner or any(subnet.exit.kind is ExitKind.NAT for subnet in subnets)


def _allows_pulls(statement: Statement) -> bool:
    plain = statement.effect == "Allow" and not statement.excludes_actions and not statement.excludes_resources
    return plain and statement.speaks_of("ecr:BatchGetImage") is True


def _may_read(role: Resource) -> bool:
    buckets = (one for one in role.template.model.resources("AWS::S3::Bucket") if one.exists)
    plain = (one for one in role_facts(role).statements if one.effect == "Allow" and not one.excludes_resources)
    read = (one.resources for one in plain if one.speaks_of("s3:GetObject"))
    return not set(buckets).isdisjoint(references(tuple(read)))


def _has_pod_identities(group: NodeGroup) -> bool:
    outside = group.resource.template.model.resources("AWS::EKS::PodIdentityAssociation")
    return bool(outside) or any(addon.has_inline_identity for addon in _addons(group))


def _called(group: NodeGroup) -> frozenset[str]:
    """The services that add-ons, scripts and jobs call from its nodes, by the names of endpoints."""
    by_addons = (service for addon in _addons(group) if addon.facts is not None for service in addon.facts.endpoints)
    role = resource_of(group.get("ExecutionRole"), ROLE)
    return services_called(group).union(by_addons, () if role is None else services_granted(role))


def _others(called: Iterable[str]) -> Iterator[facts.Service]:
    """The called services beside those that are asked of all nodes."""
    known = {one.name for one in facts.SERVICES}
    return (facts.Service(name=name, action=None) for name in sorted(called) if name not in known)


def services_granted(role: Resource) -> frozenset[str]:
    """The services of which a role has permissions on resources of the templates, by the names of endpoints; computed once.

    The scripts and jobs of nodes are often in a bucket, and what their role may read or send by name is what they do. That is not
    known of a role that something else has too.
    """
    shared = any(resource_of(one.get(key), ROLE) is role for one in users_of(role) for key in _OF_OTHERS)
    prefixes = () if shared else [one.action.partition(":")[0] for one in grants_of(role_facts(role))]
    return role.template.model.cached(
        (services_granted, role), lambda: frozenset(GRANTED[one] for one in prefixes if one in GRANTED)
    )


def _addons(group: NodeGroup) -> tuple[Addon, ...]:
    eks = eks_of(group.cluster) if group.cluster.on_eks else None
    return () if eks is None else addons_of(eks)


def _service_way(group: NodeGroup, source: Side, service: facts.Service, uses: frozenset[facts.Use]) -> Way:
    """The way to a service; groups with the same place and the same scripts have the same."""
    objects = tuple(_objects(group, uses)) if service is facts.S3 else ()
    if source.subnets is None:
        return Way.of(NODES, service.name, Traffic(), _somewhere(group, source, Traffic()))
    compute = partial(Way.of, NODES, service.name, Traffic(), to_service(source, service, objects))
    return _kept(source, group.resource, compute, service.name, *objects)


def _kept(source: Side, at: Resource, compute: Callable[[], T], *more: Hashable) -> T:
    """What is the same for all groups in one place; computed once."""
    places = tuple(subnet.resource for subnet in source.subnets or ())
    return at.template.model.cached((_kept, places, source.resources, at, *more), compute)


def _objects(group: NodeGroup, uses: frozenset[facts.Use]) -> Iterator[Value]:
    """The objects of S3 that nodes read."""
    arns = s3_uri_arns(answered(group.get("LifeCycleConfig", "SourceS3Uri"))) if facts.Use.SCRIPTS in uses else None
    if arns is not None:
        yield arns[1]
    if uses & {facts.Use.KUBERNETES, facts.Use.IMAGES}:
        first, last = facts.LAYERS
        yield joined([first, region_of(group.resource) or UNKNOWN, last, UNKNOWN])


def _somewhere(group: NodeGroup, source: Side, traffic: Traffic) -> Iterator[Hop]:
    """From nodes to a place that is not known: only the nodes' own groups can surely end the way."""
    if source.groups:
        first, *others = source.groups
        passes = any_of(one.opens("egress", protocol=traffic.protocol, port=traffic.ports.start) for one in source.groups)
        says = f"lets {'' if passes is not False else 'no '}{traffic} out to any other group or block"
        yield Hop(first.resource, passes, says, covers=tuple(one.resource for one in others))
    yield Hop(group.resource, None, "has a network that is not known", group.network_path)


def _file_systems(group: NodeGroup) -> Iterable[Resource]:
    """The file systems that nodes mount; where no group names any, those in the nodes' subnets or with rules for the nodes."""
    model = group.resource.template.model
    if users_of_file_systems(model):
        return group.mounts
    beside = set(group.subnets or ())
    return [
        one for one in _every_system(model) if set(subnets_of(one) or ()) & beside or group in users_by_rules(model).get(one, ())
    ]


def _every_system(model: Model) -> Iterator[Resource]:
    return (one for kind in (LUSTRE, OPENZFS) for one in file_systems_of(model, kind))


def users_by_rules(model: Model) -> Mapping[Resource, Sequence[NodeGroup]]:
    """The groups whose security groups name those of a file system, or are named by them; computed once.

    On EKS pods mount file systems, by volumes that no template has.
    """
    pairs = ((system, group) for system in _every_system(model) for group in node_groups(model) if _is_user(group, system))
    return model.cached(users_by_rules, lambda: grouped(pairs))


def _is_user(group: NodeGroup, system: Resource) -> bool:
    return speak_of_each_other(Side(NODES, group.security_group_facts()), side_of_file_system(system))


def side_of_file_system(system: Resource) -> Side:
    """The groups and the subnets of a file system, as far as they are in the model."""
    model, groups, subnets = system.template.model, security_groups_of(system), subnets_of(system)
    return Side(
        system.logical_id,
        None if groups is None else tuple(map(security_groups(model).of, groups)),
        None if subnets is None else tuple(map(network_facts(model).subnet, subnets)),
        place=(system, ("SecurityGroupIds",)),
    )


def file_system_ways(source: Side, system: Resource) -> tuple[Way, ...]:
    """The ways to and from a file system of FSx."""
    side, kind, efa = side_of_file_system(system), as_str(system.get("FileSystemType")), Lustre(system).efa
    if kind == OPENZFS:
        way = way_to(source, side, Traffic("tcp", openzfs.NFS_PORTS), system, ("SubnetIds",))
        return (Way.of(source.name, way.target, way.traffic, (*way.hops, *_past_exports(source, system))),)
    if kind != LUSTRE or efa is None:
        return ()
    ports = (lustre.LNET_PORTS, lustre.CLIENT_PORTS)
    traffic = (EVERYTHING,) if efa else tuple(Traffic("tcp", one) for one in ports)
    ends = ((source, side), (side, source))
    return tuple(way_to(one, other, what, system, ("SubnetIds",)) for what in traffic for one, other in ends)


def _past_exports(source: Side, system: Resource) -> Iterator[Hop]:
    """The clients to which a file system of OpenZFS exports its root volume: everybody, blocks and addresses, or names."""
    exports = as_items(system.get(*_EXPORTS)) or ()
    found = [at(one, "Clients") for export in exports for one in as_items(at(export, "ClientConfigurations")) or (UNKNOWN,)]
    passes = any_of(True if one == "*" else None if block_of(one) is None else source.within(one) for one in found)
    if found and passes is not True:
        yield Hop(system, passes, f"exports its root volume to {', '.join(str(shown(one)) for one in found)} only", _EXPORTS)


def way_to(source: Side, target: Side, traffic: Traffic, at: Resource, path: tuple[str | int, ...]) -> Way:
    """The way to a resource.

    :param path: the place of the resource's subnets in it.
    """

    def hops() -> Iterator[Hop]:
        doubt = "addresses of both VPCs are the same" if overlap(source, target) else None
        yield from unless(meets(source, target, at, path), doubt)
        yield from unless(_by_default(source, at, path), doubt)
        yield from unless(inside_as_meant(source, target, traffic, at), doubt)

    return Way.of(source.name, target.name, traffic, hops())


def _by_default(source: Side, at: Resource, path: tuple[str | int, ...]) -> Iterator[Hop]:
    """Where a file system or a database is without a word on it: in the default VPC, with the default group of its VPC."""
    if at.get(*path) is ABSENT and at.type == INSTANCE and is_alone(at) and None not in source.vpcs:
        joined = bool(at.template.model.resources(*CONNECTIONS))
        yield Hop(at, None if joined else False, "has no DBSubnetGroupName, and so is in the default VPC of the account", path)
    groups = _groups_path(at)
    if in_default_group(at.get(*groups)) and source.groups is not None and (at.type == FILE_SYSTEM or is_alone(at)):
        rules = at.template.model.resources(INGRESS)
        opened = any(not isinstance(one.get("GroupId"), Reference) or is_default_group(one) for one in rules)
        yield Hop(at, None if opened else False, "has the default security group of its VPC, which admits only itself", groups)


def _groups_path(resource: Resource) -> tuple[str]:
    """The place of the security groups in a file system or a database."""
    return ("SecurityGroupIds",) if resource.type == FILE_SYSTEM else (groups_key(resource),)


def _database(group: NodeGroup, source: Side) -> tuple[Target, tuple[Way, ...]]:
    database, port = database_of(group.cluster), _port(group.cluster)
    name = "the accounting database" if database is None else database.logical_id
    target = Target("database", name, database, fatal=database is not None)
    if port is None:
        return target, ()
    traffic = Traffic("tcp", range(port, port + 1))
    if database is not None:
        return target, (way_to(source, side_of(database), traffic, database, ("DBSubnetGroupName",)),)
    return target, (Way.of(NODES, name, traffic, _somewhere(group, source, traffic)),)


def _port(cluster: Cluster) -> int | None:
    """The port of the accounting database; `None` if it listens on another one than Slurm asks: that is another finding."""
    database, asked = database_of(cluster), asked_port(cluster)
    port = asked if database is None else port_of(database)
    if database is not None and asked is not None and asked != port:
        return None
    return port if port is not None and 0 < port < 65536 else None


def _efa_ways(source: Side) -> Iterator[Way]:
    """EFA is matched only by the id of a group, in both directions."""
    for direction, words in _DIRECTIONS.items() if source.groups else ():
        yield Way.of(NODES, NODES, EVERYTHING, [_efa_hop(source, direction, words)])


def _efa_hop(source: Side, direction: Direction, words: str) -> Hop:
    groups = source.groups or ()
    passes, (first, *others) = admit_each_other(groups, direction), source.resources
    blocks = [rule for one in groups for rule in one.in_direction(direction) if rule.protocol == "-1" and as_str(rule.cidr)]
    says = f"{'does not let' if passes is False else 'lets'} all traffic {words}"
    despite = "; its rule for a CIDR block does not count, because EFA traffic is matched by group id"
    return Hop(first, passes, says + (despite if passes is False and blocks else ""), covers=tuple(others))
