"""Network between nodes and file systems: their security groups, and the order of their rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from hyperpod_constructs.analysis.clusters import labels
from hyperpod_constructs.analysis.file_systems import Lustre, lustre_file_systems
from hyperpod_constructs.analysis.placement import users_of_file_systems
from hyperpod_constructs.analysis.reachability import side_of_file_system
from hyperpod_constructs.analysis.security_groups import Direction, GroupRule, Peer
from hyperpod_constructs.analysis.traffic import Side, Traffic, group_lets
from hyperpod_constructs.facts import lustre, openzfs
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import ORDER, error, warning
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource

_LUSTRE_DOCS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html"
_CREATION_FAILS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/cannot-create-fs.html"
_LNET, _CLIENT, _NFS = map(lustre.ports_in_words, (lustre.LNET_PORTS, lustre.CLIENT_PORTS, openzfs.NFS_PORTS))
_DIRECTIONS: tuple[Direction, ...] = ("ingress", "egress")
_SELF = {"ingress": "in from itself", "egress": "out to itself"}


def _lustre_sides(model: Model) -> Iterator[tuple[Lustre, Side]]:
    """The Lustre file systems with their own side, if their groups are in the model."""
    for system in lustre_file_systems(model):
        side = side_of_file_system(system.resource)
        if side.groups is not None:
            yield system, side


def _closed(side: Side, ports: range) -> list[str]:
    """The directions in which the side surely stops connections to itself, in words.

    Its servers may have any address of their subnet: a rule for a block counts if that is around the whole subnet.
    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/cannot-create-fs.html#fs-create-fails-port988 (as of 2026-11-30)
    """
    ways: dict[Direction, str] = {"egress": "out of", "ingress": "into"}
    itself = replace(side, anywhere=True)
    shut = [word for way, word in ways.items() if group_lets(side, way, itself, Traffic("tcp", ports)) is False]
    return [f"{lustre.ports_in_words(ports)} {word} the file system" for word in shut]


def _closed_to_itself(system: Lustre, side: Side, ports: range) -> Hit | None:
    closed = _closed(side, ports) if system.efa is False else []
    return _hit(system, side, f"its security group does not let {' and '.join(closed)}, to itself") if closed else None


def _hit(system: Lustre, side: Side, message: str) -> Hit:
    """A hit that silences the way of nodes through the same groups."""
    return hit(system.resource, message, "SecurityGroupIds", covers=side.resources)


_side_error, _side_warning = partial(error, on=_lustre_sides), partial(warning, on=_lustre_sides)


@_side_error(
    "HP-FSN-001",
    title="the security group of a Lustre file system lets its own servers talk",
    why=f'FSx checks {_LNET} when it creates the file system, and refuses it with InvalidNetworkSettings: its security groups "do '
    f'not permit Lustre LNET network traffic on port {lustre.LNET_PORTS.start}"',
    fix=f"add an ingress and an egress rule of the group to itself for {_LNET}, and for {_CLIENT}",
    allowed=f"{_LNET} from and to the file system's own group, or the block of its whole subnet",
    source=f"{_CREATION_FAILS}#fs-create-fails-port988",
    silences=("HP-FSN-002", "HP-FSN-003", "HP-REACH-002"),
    aliases=("HP-FSX-020",),
)
def lustre_admits_itself(system: Lustre, side: Side) -> Hit | None:
    return _closed_to_itself(system, side, lustre.LNET_PORTS)


@_side_warning(
    "HP-FSN-002",
    title=f"the security group of a Lustre file system opens {_CLIENT} too",
    why="servers and clients call each other back on these ports; without them recovery after a fault hangs",
    fix=f"add an ingress and an egress rule of the group to itself for {_CLIENT}",
    allowed=f"{_CLIENT} from and to the file system's own group",
    source=_LUSTRE_DOCS,
    aliases=("HP-FSX-021",),
)
def lustre_admits_itself_on_all_ports(system: Lustre, side: Side) -> Hit | None:
    return _closed_to_itself(system, side, lustre.CLIENT_PORTS)


@_side_error(
    "HP-FSN-003",
    title="a file system with EFA lets all traffic through to itself, by its group's id",
    why="EFA traffic has no ports and is matched only by security-group id; a rule for a block does not count: FSx answers "
    '"Insufficient security group permissions to create an EFA-enabled file system"',
    fix="add an ingress and an egress rule with IpProtocol -1 that name the group itself",
    allowed="all protocols from and to the group itself, by its id",
    source=f"{_CREATION_FAILS}#fs-create-fails-efa",
    silences=("HP-REACH-002",),
    aliases=("HP-FSX-022",),
)
def efa_lustre_admits_itself(system: Lustre, side: Side) -> Hit | None:
    groups = side.groups or ()
    if not system.efa or len(groups) != 1:
        return None
    lacking = [_SELF[direction] for direction in _DIRECTIONS if groups[0].allows_itself(direction) is False]
    message = f"its security group does not let all traffic {' nor '.join(lacking)}, and it has EFA"
    efa = (system.resource, ("LustreConfiguration", "EfaEnabled"))
    return replace(_hit(system, side, message), doubts=(efa,)) if lacking else None


@_side_warning(
    "HP-FSN-004",
    title="Lustre file systems await the rules that their creation needs",
    why=f"FSx checks {_LNET} as soon as it creates the file system: rules that CloudFormation makes at the same time can come "
    "a second too late, and the creation fails with InvalidNetworkSettings",
    fix="name the rules in DependsOn of the file system (in the CDK: file_system.node.add_dependency(rule)), or write those for "
    "blocks into the group",
    allowed=f"DependsOn on a rule for {_LNET} in each direction",
    source="https://github.com/aws/aws-parallelcluster/issues/6181",
    aliases=("HP-FSX-023",),
    because=ORDER,
)
def lustre_awaits_its_rules(system: Lustre, side: Side) -> Hit | None:
    late = [one.resource.logical_id for direction in _DIRECTIONS for one in _late(system.resource, side, direction)]
    names = ", ".join(dict.fromkeys(late))
    return hit(system.resource, f"it does not await {names}, without which its creation fails now and then") if late else None


def _late(file_system: Resource, side: Side, direction: Direction) -> list[GroupRule]:
    """The rules for the ports of LNET, if it awaits none of them; none if the rules of a group are not all known."""
    opening: list[GroupRule] = []
    for group in side.groups or ():
        if direction in group.uncertain or any(one.direction == direction for one in group.possible):
            return []
        opening += [one for one in group.in_direction(direction) if _opens(one, side)]
    awaited = [one for one in opening if one.resource in side.resources or awaits(file_system, one.resource)]
    return [] if awaited else opening


def _opens(one: GroupRule, side: Side) -> bool:
    """Whether a rule can open the ports of LNET to the file system; an unknown one can."""
    blocks = [str(subnet.cidr) for subnet in side.subnets or () if subnet.cidr is not None]
    peers: tuple[Peer, ...] = (*side.resources, *blocks)
    return any(one.covers(peer, "tcp", lustre.LNET_PORTS) is not False for peer in peers)


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
