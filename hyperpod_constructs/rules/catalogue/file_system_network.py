"""Network between nodes and file systems: their security groups, and the order of their rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.clusters import labels
from hyperpod_constructs.analysis.file_systems import LUSTRE, OPENZFS, Lustre, file_systems_of, lustre_file_systems
from hyperpod_constructs.analysis.networks import Subnet, network_facts
from hyperpod_constructs.analysis.placement import (
    NodeGroup,
    security_groups_of,
    subnets_of,
    users_of_file_systems,
    users_of_subnets,
)
from hyperpod_constructs.analysis.reach import lets_through
from hyperpod_constructs.analysis.security_groups import ALL_PORTS, Direction, GroupRule, Peer, SecurityGroup, security_groups
from hyperpod_constructs.facts import lustre, openzfs
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.hits import hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import as_str

_LUSTRE_DOCS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html"
_CREATION_FAILS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/cannot-create-fs.html"
_LNET, _CLIENT, _NFS = map(lustre.ports_in_words, (lustre.LNET_PORTS, lustre.CLIENT_PORTS, openzfs.NFS_PORTS))
_DIRECTIONS: tuple[Direction, ...] = ("ingress", "egress")
_SELF = {"ingress": "in from itself", "egress": "out to itself"}
_BARE = _CLIENT.removeprefix("TCP ")
_OPEN = (
    f"add rules between the two groups: Lustre {_LNET} and {_BARE} out of and into both, NFS {_NFS} out of the nodes and "
    "into the file system; with EFA all traffic, by group id"
)
_WAYS = f"Lustre: {_LNET} and {_BARE} both ways; NFS: {_NFS} from the nodes"


@dataclass(frozen=True)
class _Side:
    """One end of the traffic: interfaces with these groups, in these subnets."""

    name: str
    groups: tuple[SecurityGroup, ...]
    subnets: tuple[Subnet, ...]

    @property
    def ids(self) -> tuple[Resource, ...]:
        return tuple(group.resource for group in self.groups)


def _side(file_system: Resource) -> _Side | None:
    groups, model = security_groups_of(file_system), file_system.template.model
    if groups is None:
        return None
    subnets = tuple(network_facts(model).subnet(subnet) for subnet in subnets_of(file_system) or ())
    return _Side("the file system", tuple(security_groups(model).of(group) for group in groups), subnets)


def _lustre_sides(model: Model) -> Iterator[tuple[Lustre, _Side]]:
    """The Lustre file systems with their own side, if their groups are in the model."""
    for system in lustre_file_systems(model):
        side = _side(system.resource)
        if side is not None:
            yield system, side


def _closed(source: _Side, target: _Side, protocol: str, ports: range) -> list[str]:
    """The sides that surely stop connections from the one to the other, in words."""
    what = "all traffic" if protocol == "-1" else lustre.ports_in_words(ports)
    out = lets_through(source.groups, "egress", peers=target.ids, subnets=target.subnets, protocol=protocol, ports=ports)
    into = lets_through(target.groups, "ingress", peers=source.ids, subnets=source.subnets, protocol=protocol, ports=ports)
    return [
        *([f"{what} out of {source.name}"] if out is False else []),
        *([f"{what} into {target.name}"] if into is False else []),
    ]


def _closed_to_itself(system: Lustre, side: _Side, ports: range) -> str | None:
    closed = _closed(side, side, "tcp", ports) if system.efa is False else []
    return f"its security group does not let {' and '.join(closed)}, to itself" if closed else None


@error(
    "HP-FSN-001",
    on=_lustre_sides,
    at=("SecurityGroupIds",),
    title="the security group of a Lustre file system lets its own servers talk",
    why=f'FSx checks {_LNET} when it creates the file system, and refuses it with InvalidNetworkSettings: its security groups "do '
    f'not permit Lustre LNET network traffic on port {lustre.LNET_PORTS.start}"',
    fix=f"add an ingress and an egress rule of the group to itself for {_LNET}, and for {_CLIENT}",
    allowed=f"{_LNET} from and to the file system's own group",
    source=f"{_CREATION_FAILS}#fs-create-fails-port988",
    silences=("HP-FSN-002", "HP-FSN-003", "HP-FSN-005", "HP-FSN-006"),
    aliases=("HP-FSX-020",),
)
def lustre_admits_itself(system: Lustre, side: _Side) -> str | None:
    return _closed_to_itself(system, side, lustre.LNET_PORTS)


@warning(
    "HP-FSN-002",
    on=_lustre_sides,
    at=("SecurityGroupIds",),
    title=f"the security group of a Lustre file system opens {_CLIENT} too",
    why="servers and clients call each other back on these ports; without them recovery after a fault hangs",
    fix=f"add an ingress and an egress rule of the group to itself for {_CLIENT}",
    allowed=f"{_CLIENT} from and to the file system's own group",
    source=_LUSTRE_DOCS,
    aliases=("HP-FSX-021",),
)
def lustre_admits_itself_on_all_ports(system: Lustre, side: _Side) -> str | None:
    return _closed_to_itself(system, side, lustre.CLIENT_PORTS)


@error(
    "HP-FSN-003",
    on=_lustre_sides,
    at=("SecurityGroupIds",),
    title="a file system with EFA lets all traffic through to itself, by its group's id",
    why="EFA traffic has no ports and is matched only by security-group id; a rule for a block does not count: FSx answers "
    '"Insufficient security group permissions to create an EFA-enabled file system"',
    fix="add an ingress and an egress rule with IpProtocol -1 that name the group itself",
    allowed="all protocols from and to the group itself, by its id",
    source=f"{_CREATION_FAILS}#fs-create-fails-efa",
    silences=("HP-FSN-005", "HP-FSN-006"),
    aliases=("HP-FSX-022",),
)
def efa_lustre_admits_itself(system: Lustre, side: _Side) -> str | None:
    if not system.efa or len(side.groups) > 1:
        return None
    lacking = [_SELF[direction] for direction in _DIRECTIONS if side.groups[0].allows_itself(direction) is False]
    return f"its security group does not let all traffic {' nor '.join(lacking)}, and it has EFA" if lacking else None


@warning(
    "HP-FSN-004",
    on=_lustre_sides,
    title="Lustre file systems await the rules that their creation needs",
    why=f"FSx checks {_LNET} as soon as it creates the file system: rules that CloudFormation makes at the same time can come "
    "a second too late, and the creation fails with InvalidNetworkSettings",
    fix="name the rules in DependsOn of the file system (in the CDK: file_system.node.add_dependency(rule)), or write those for "
    "blocks into the group",
    allowed=f"DependsOn on a rule for {_LNET} in each direction",
    source="https://github.com/aws/aws-parallelcluster/issues/6181",
    aliases=("HP-FSX-023",),
)
def lustre_awaits_its_rules(system: Lustre, side: _Side) -> Hit | None:
    late = [one.resource.logical_id for direction in _DIRECTIONS for one in _late(system.resource, side, direction)]
    names = ", ".join(dict.fromkeys(late))
    return hit(system.resource, f"it does not await {names}, without which its creation fails now and then") if late else None


def _late(file_system: Resource, side: _Side, direction: Direction) -> list[GroupRule]:
    """The rules for the ports of LNET, if it awaits none of them; none if the rules of a group are not all known."""
    opening: list[GroupRule] = []
    for group in side.groups:
        if direction in group.uncertain or any(one.direction == direction for one in group.possible):
            return []
        opening += [one for one in group.in_direction(direction) if _opens(one, side)]
    awaited = [one for one in opening if one.resource in side.ids or awaits(file_system, one.resource)]
    return [] if awaited else opening


def _opens(one: GroupRule, side: _Side) -> bool:
    """Whether a rule can open the ports of LNET to the file system; an unknown one can."""
    blocks = [str(subnet.cidr) for subnet in side.subnets if subnet.cidr is not None]
    peers: tuple[Peer, ...] = (*side.ids, *blocks)
    return any(one.covers(peer, "tcp", lustre.LNET_PORTS) is not False for peer in peers)


_Ends = Iterator[tuple[Resource, Sequence[NodeGroup]]]
_mount_warning = partial(warning, at=("SecurityGroupIds",), fix=_OPEN, allowed=_WAYS, source=_LUSTRE_DOCS)


@_mount_warning(
    "HP-FSN-005",
    on=lambda model: _ends(users_of_file_systems(model)),
    title="nodes reach the file systems that they mount",
    why="the mount times out: nodes come up without the file system, or not at all",
    aliases=("HP-FSX-024",),
)
def nodes_reach_what_they_mount(file_system: Resource, users: Sequence[NodeGroup]) -> str | None:
    """One hit for each file system and set of nodes' groups, for mounts that the service makes."""
    side, nodes = _side(file_system), _Side("the nodes", users[0].security_group_facts(), users[0].subnet_facts())
    if side is None or not nodes.groups:
        return None
    closed = _closed_ways(file_system, side, nodes)
    between = f"between the nodes of {labels(users)} and {file_system.logical_id}{_apart(nodes, side)}"
    return f"{between} no rule lets {', '.join(closed)}" if closed else None


def _apart(nodes: _Side, side: _Side) -> str:
    """That the two are in different VPCs, if that is sure: rules alone do not open the way then."""
    theirs, its = ({subnet.vpc for subnet in one.subnets} for one in (nodes, side))
    if not theirs or not its or None in theirs | its or theirs & its:
        return ""
    here, there = (", ".join(sorted(vpc.logical_id for vpc in some if vpc is not None)) for some in (theirs, its))
    way = "put both into one, or connect the VPCs by a peering or a transit gateway, with routes"
    return f", which are in different VPCs ({here}, {there}: {way}),"


def _ends(pairs: Mapping[Resource, Sequence[NodeGroup]]) -> _Ends:
    """File systems with their users that have the same security groups."""
    for file_system, users in pairs.items():
        alike = grouped((user.security_groups or (), user) for user in users)
        yield from ((file_system, members) for members in alike.values())


def _closed_ways(file_system: Resource, side: _Side, nodes: _Side) -> list[str]:
    kind, efa = as_str(file_system.get("FileSystemType")), Lustre(file_system).efa
    if kind == OPENZFS:
        return _closed(nodes, side, "tcp", openzfs.NFS_PORTS)
    if kind != LUSTRE or efa is None:
        return []
    ways: Sequence[tuple[str, range]] = (("-1", ALL_PORTS),) if efa else (("tcp", lustre.LNET_PORTS), ("tcp", lustre.CLIENT_PORTS))
    pairs = ((nodes, side), (side, nodes))
    return [words for protocol, ports in ways for source, target in pairs for words in _closed(source, target, protocol, ports)]


@_mount_warning(
    "HP-FSN-006",
    on=lambda model: _ends({} if users_of_file_systems(model) else _beside(model)),
    title="nodes reach the file system beside them",
    why="mounts by scripts or by a driver hang",
    aliases=("HP-FSX-025",),
)
def nodes_reach_what_is_beside_them(file_system: Resource, users: Sequence[NodeGroup]) -> str | None:
    """The same for file systems in the nodes' subnets, if no group names the file systems that it mounts."""
    return nodes_reach_what_they_mount(file_system, users)


def _beside(model: Model) -> Mapping[Resource, Sequence[NodeGroup]]:
    """File systems with the groups whose nodes can be in their subnets."""
    users = users_of_subnets(model)
    systems = [*(system.resource for system in lustre_file_systems(model)), *file_systems_of(model, OPENZFS)]
    found = {one: [user for subnet in subnets_of(one) or () for user in users.get(subnet, ())] for one in systems}
    return {one: near for one, near in found.items() if near}


@warning(
    "HP-FSN-007",
    on=lustre_file_systems,
    at=("LustreConfiguration", "EfaEnabled"),
    title="a file system with EFA has nodes that use it",
    why="nodes without EFA mount it over TCP: a file system of tens of TiB is paid for, and its throughput is out of reach",
    fix="take instance types with EFA, or leave EfaEnabled out (it is fixed at creation)",
    allowed="at least one group with EFA",
    source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html",
    aliases=("HP-FSX-026",),
)
def efa_is_used(system: Lustre) -> str | None:
    users = users_of_file_systems(system.resource.template.model).get(system.resource, []) if system.efa else []
    unused = users and all(user.lacks_efa for user in users)
    return f"EfaEnabled, and none of the nodes of {labels(users)} has EFA" if unused else None
