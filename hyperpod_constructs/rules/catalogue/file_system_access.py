"""Rules on the ways between nodes and file systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hyperpod_constructs.rules.facts.file_systems import OPENZFS, Lustre, file_systems_of, lustre_file_systems
from hyperpod_constructs.rules.facts.networks import Subnet, network_facts
from hyperpod_constructs.rules.facts.placement import NodeGroup, groups_of, named, node_groups, subnets_of
from hyperpod_constructs.rules.facts.reach import lets_through
from hyperpod_constructs.rules.facts.security_groups import ALL_PORTS, Direction, GroupRule, Peer, SecurityGroup, security_groups
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model, Resource

_LUSTRE_DOCS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html"
_CREATION_FAILS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/cannot-create-fs.html"
_EFA_DOCS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html"
_LNET = range(988, 989)
_OTHERS = range(1018, 1024)
_NFS = range(2049, 2050)
_DIRECTIONS: tuple[Direction, ...] = ("ingress", "egress")


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
    groups, model = groups_of(file_system), file_system.template.model
    if groups is None:
        return None
    subnets = tuple(network_facts(model).subnet(subnet) for subnet in subnets_of(file_system) or ())
    return _Side("the file system", tuple(security_groups(model).of(group) for group in groups), subnets)


def _nodes(group: NodeGroup) -> _Side | None:
    return _Side("the nodes", group.group_facts(), group.subnet_facts()) if group.group_facts() else None


def _closed(source: _Side, target: _Side, protocol: str, ports: range) -> list[str]:
    """What surely stops connections from the one to the other, in words."""
    what = "all traffic" if protocol == "-1" else f"TCP {_shown(ports)}"
    out = lets_through(source.groups, "egress", peers=target.ids, subnets=target.subnets, protocol=protocol, ports=ports)
    into = lets_through(target.groups, "ingress", peers=source.ids, subnets=source.subnets, protocol=protocol, ports=ports)
    return [
        *([f"{what} out of {source.name}"] if out is False else []),
        *([f"{what} into {target.name}"] if into is False else []),
    ]


def _shown(ports: range) -> str:
    return str(ports.start) if len(ports) == 1 else f"{ports.start}-{ports.stop - 1}"


@rule(
    "HP-FSX-020",
    Level.ERROR,
    title="the security group of a Lustre file system lets its own servers talk",
    why='FSx checks TCP 988 when it creates the file system, and refuses it with InvalidNetworkSettings: its security groups "do '
    'not permit Lustre LNET network traffic on port 988"',
    fix="add an ingress and an egress rule of the group to itself for TCP 988, and for TCP 1018-1023",
    allowed="TCP 988 from and to the file system's own group",
    source=f"{_CREATION_FAILS}#fs-create-fails-port988",
    silences=("HP-FSX-021", "HP-FSX-022", "HP-FSX-024", "HP-FSX-025"),
)
def lustre_admits_itself(model: Model) -> Iterator[Hit]:
    """TCP 988 is closed between the servers, in one direction or both."""
    for system in lustre_file_systems(model):
        side = _side(system.resource)
        closed = _closed(side, side, "tcp", _LNET) if side and system.efa is False else []
        if closed:
            yield _of_groups(system.resource, f"its security group does not let {' and '.join(closed)}, to itself")


@rule(
    "HP-FSX-021",
    Level.WARNING,
    title="the security group of a Lustre file system opens TCP 1018-1023 too",
    why="servers and clients call each other back on these ports; without them recovery after a fault hangs",
    fix="add an ingress and an egress rule of the group to itself for TCP 1018-1023",
    allowed="TCP 1018-1023 from and to the file system's own group",
    source=_LUSTRE_DOCS,
)
def lustre_admits_itself_on_all_ports(model: Model) -> Iterator[Hit]:
    """TCP 1018-1023 is closed between the servers."""
    for system in lustre_file_systems(model):
        side = _side(system.resource)
        closed = _closed(side, side, "tcp", _OTHERS) if side and system.efa is False else []
        if closed:
            yield _of_groups(system.resource, f"its security group does not let {' and '.join(closed)}, to itself")


@rule(
    "HP-FSX-022",
    Level.ERROR,
    title="a file system with EFA lets all traffic through to itself, by its group's id",
    why='EFA traffic has no ports, and no rule for a block lets it through: FSx answers "Insufficient security group permissions '
    'to create an EFA-enabled file system"',
    fix="add an ingress and an egress rule with IpProtocol -1 that name the group itself",
    allowed="all protocols from and to the group itself, by its id",
    source=f"{_CREATION_FAILS}#fs-create-fails-efa",
    silences=("HP-FSX-024", "HP-FSX-025"),
)
def efa_lustre_admits_itself(model: Model) -> Iterator[Hit]:
    """The self rule of a file system with EFA is missing in one direction or both."""
    for system in lustre_file_systems(model):
        side = _side(system.resource)
        if not system.efa or side is None or len(side.groups) > 1:
            continue
        lacking = [direction for direction in _DIRECTIONS if side.groups[0].allows_itself(direction) is False]
        if lacking:
            words = {"ingress": "in from itself", "egress": "out to itself"}
            message = f"its security group does not let all traffic {' nor '.join(words[one] for one in lacking)}, and it has EFA"
            yield _of_groups(system.resource, message)


@rule(
    "HP-FSX-023",
    Level.WARNING,
    title="Lustre file systems await the rules that their creation needs",
    why="FSx checks TCP 988 as soon as it is asked for the file system: rules that CloudFormation makes at the same time can come "
    "a second too late, and the creation fails with InvalidNetworkSettings",
    fix="name the rules in DependsOn of the file system (in the CDK: file_system.node.add_dependency(rule)), or write those for "
    "blocks into the group",
    allowed="DependsOn on a rule for TCP 988 in each direction",
    source="https://github.com/aws/aws-parallelcluster/issues/6181",
)
def lustre_awaits_its_rules(model: Model) -> Iterator[Hit]:
    """The only rules that open TCP 988 to the file system itself are resources that it does not await."""
    for system in lustre_file_systems(model):
        side = _side(system.resource)
        if side is None:
            continue
        late = [rule_ for direction in _DIRECTIONS for rule_ in _late(system.resource, side, direction)]
        if late:
            names = ", ".join(dict.fromkeys(rule_.resource.logical_id for rule_ in late))
            yield Hit(system.resource, (), f"it does not await {names}, without which its creation fails now and then")


def _late(file_system: Resource, side: _Side, direction: Direction) -> list[GroupRule]:
    """The rules for TCP 988, if it awaits none of them; none too where the group cannot be seen as a whole."""
    opening: list[GroupRule] = []
    for group in side.groups:
        if direction in group.uncertain or any(one.direction == direction for one in group.possible):
            return []
        opening += [one for one in group.in_direction(direction) if _opens(one, side)]
    awaited = [one for one in opening if one.resource in side.ids or file_system.awaits(one.resource)]
    return [] if awaited else opening


def _opens(one: GroupRule, side: _Side) -> bool:
    """Whether a rule can open TCP 988 to the file system; one that is not known can."""
    blocks = [str(subnet.cidr) for subnet in side.subnets if subnet.cidr is not None]
    peers: tuple[Peer, ...] = (*side.ids, *blocks)
    return any(one.covers(peer, "tcp", _LNET) is not False for peer in peers)


@rule(
    "HP-FSX-024",
    Level.WARNING,
    title="nodes reach the file systems that they mount",
    why="the mount times out: nodes come up without the file system, or not at all",
    fix="add rules between the two groups: Lustre TCP 988 and 1018-1023 out of and into both, NFS TCP 2049 out of the nodes and "
    "into the file system; with EFA all traffic, by group id",
    allowed="Lustre: TCP 988 and 1018-1023 both ways; NFS: TCP 2049 from the nodes",
    source=_LUSTRE_DOCS,
)
def nodes_reach_what_they_mount(model: Model) -> Iterator[Hit]:
    """One hit for each file system and set of nodes' groups, for mounts that the service makes."""
    yield from _unreachable(model, _mounted(model))


@rule(
    "HP-FSX-025",
    Level.WARNING,
    title="nodes reach the file system beside them",
    why="nodes that are to mount it, by their scripts or by a driver, hang",
    fix="add rules between the two groups: Lustre TCP 988 and 1018-1023 out of and into both, NFS TCP 2049 out of the nodes and "
    "into the file system; with EFA all traffic, by group id",
    allowed="Lustre: TCP 988 and 1018-1023 both ways; NFS: TCP 2049 from the nodes",
    source=_LUSTRE_DOCS,
)
def nodes_reach_what_is_beside_them(model: Model) -> Iterator[Hit]:
    """The same where no group says what it mounts, for file systems in the nodes' subnets."""
    if not _mounted(model):
        yield from _unreachable(model, _beside(model))


@rule(
    "HP-FSX-026",
    Level.WARNING,
    title="a file system with EFA has nodes that use it",
    why="nodes without EFA mount it over TCP: a file system of tens of TiB is paid for, and its throughput is out of reach",
    fix="take instance types with EFA, or leave EfaEnabled out (it is fixed at creation)",
    allowed="at least one group whose nodes have EFA",
    source=_EFA_DOCS,
)
def efa_is_used(model: Model) -> Iterator[Hit]:
    """All groups that mount a file system with EFA surely have none."""
    efa = {system.resource for system in lustre_file_systems(model) if system.efa}
    for file_system, users in _mounted(model).items():
        if file_system in efa and all(user.lacks_efa for user in users):
            message = f"EfaEnabled, and none of the nodes of {named(users)} has EFA"
            yield Hit(file_system, ("LustreConfiguration", "EfaEnabled"), message, found=True)


_Pairs = dict[Resource, list[NodeGroup]]


def _mounted(model: Model) -> _Pairs:
    found: _Pairs = {}
    for group in node_groups(model):
        for file_system in group.mounts:
            found.setdefault(file_system, []).append(group)
    return found


def _beside(model: Model) -> _Pairs:
    found: _Pairs = {}
    systems = [*(system.resource for system in lustre_file_systems(model)), *file_systems_of(model, OPENZFS)]
    for file_system in systems:
        subnets = set(subnets_of(file_system) or ())
        users = [group for group in node_groups(model) if subnets & set(group.subnets or ())]
        if users:
            found[file_system] = users
    return found


def _unreachable(model: Model, pairs: _Pairs) -> Iterator[Hit]:
    lustre = {system.resource: system for system in lustre_file_systems(model)}
    zfs = set(file_systems_of(model, OPENZFS))
    for file_system, users in pairs.items():
        by_groups: dict[tuple[Resource, ...], list[NodeGroup]] = {}
        for user in users:
            by_groups.setdefault(user.security_groups or (), []).append(user)
        for members in by_groups.values():
            side, nodes = _side(file_system), _nodes(members[0])
            if side is None or nodes is None:
                continue
            if file_system in lustre:
                closed = _lustre_ways(lustre[file_system], side, nodes)
            else:
                closed = _closed(nodes, side, "tcp", _NFS) if file_system in zfs else []
            if closed:
                message = f"between the nodes of {named(members)} and {file_system.logical_id} no rule lets {', '.join(closed)}"
                yield _of_groups(file_system, message)


def _lustre_ways(system: Lustre, side: _Side, nodes: _Side) -> list[str]:
    if system.efa is None:
        return []
    ways: Sequence[tuple[str, range]] = (("-1", ALL_PORTS),) if system.efa else (("tcp", _LNET), ("tcp", _OTHERS))
    pairs = ((nodes, side), (side, nodes))
    return [words for protocol, ports in ways for source, target in pairs for words in _closed(source, target, protocol, ports)]


def _of_groups(file_system: Resource, message: str) -> Hit:
    return Hit(file_system, ("SecurityGroupIds",), message, found=file_system.get("SecurityGroupIds"))
