"""Reachability: the nodes reach what they need, hop by hop. `hyperpod reach` shows each way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import enumerated, listed
from hyperpod_constructs.analysis.blocks import outside_of
from hyperpod_constructs.analysis.clusters import labels
from hyperpod_constructs.analysis.database import side_of
from hyperpod_constructs.analysis.ended_ways import ended_ways
from hyperpod_constructs.analysis.half_rules import HalfRule, half_rules
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.inspection import Astray, astray
from hyperpod_constructs.analysis.joined_networks import OneWay, one_way
from hyperpod_constructs.analysis.listeners import Lonely, Mute, lonely_listeners, mute_balancers
from hyperpod_constructs.analysis.naming import Naming
from hyperpod_constructs.analysis.near_misses import borrows, groups_of_others, idle_groups
from hyperpod_constructs.analysis.networks import NAT, SUBNET, VPC, network_facts
from hyperpod_constructs.analysis.placement import FILE_SYSTEM, security_groups_of
from hyperpod_constructs.analysis.reachability import Connection, connections
from hyperpod_constructs.analysis.vpcs import Stray, name_of, strays
from hyperpod_constructs.analysis.ways import TABLE, Hop, Way, has_gateway
from hyperpod_constructs.facts.slurm_ports import PROGRAMS
from hyperpod_constructs.rules.finding import Hit, Level, hit
from hyperpod_constructs.rules.rule import error, rule, warning
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import as_bool, as_items

_MOST_REASONS = 3
_OF_FILE_SYSTEMS = ("HP-FSN-001", "HP-FSN-002", "HP-FSN-003")
_OF_POLICIES = ("HP-PERM-001", "HP-PERM-002", "HP-POL-008")
_way = partial(
    rule,
    fix="open the place at which the way ends: with a rule in the security group or the network ACL, a route to a NAT gateway, or "
    "an interface endpoint with PrivateDnsEnabled that admits the nodes; hyperpod reach FILE shows each hop",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html",
)


def _stops(model: Model) -> dict[Resource, list[Connection]]:
    """The connections that surely end, by the cause of it; EFA has a rule of its own.

    Between nodes the groups of both are in doubt: what has one of its own comes first.
    """
    return model.cached(_stops, lambda: _by_cause(sorted(_ended(model), key=_is_of_slurm)))


def _by_cause(ended: Sequence[Connection]) -> dict[Resource, list[Connection]]:
    """The connections by the causes for which they end.

    A VPC lacks an endpoint for subnets without a way out. Where others have one, and the internet is missed too, the route table of
    these subnets is the cause of both.
    """
    found = grouped((_end(one).cause, one) for one in ended if not _is_efa(one))
    for vpc in [one for one in found if one.type == VPC and network_facts(one.template.model).leads_out(one)]:
        subnets = {_end(one).resource for one in found[vpc]}
        tables = [one for one in found if one.type == TABLE and subnets <= {_end(way).resource for way in found[one]}]
        if len(tables) == 1:
            found[tables[0]] += found.pop(vpc)
    return found


def _ended(model: Model) -> Iterator[Connection]:
    """The connections that end; those of a subnet outside of its VPC are the mistake of its block."""
    ended = (one for one in connections(model) if one.target.wanted and one.ended)
    return (one for one in ended if one.subnet is None or outside_of(one.subnet.resource) is None)


def _is_of_slurm(one: Connection) -> bool:
    return one.target.name.partition("@")[0] in PROGRAMS


def _is_efa(one: Connection) -> bool:
    return one.target.name == "nodes"


def _end(one: Connection) -> Hop:
    end = one.ended[0].end
    assert end is not None
    return end


def _causes(end: Hop) -> tuple[Resource, ...]:
    return (end.resource, *end.covers)


def _ends(model: Model) -> set[Resource]:
    """The resources at which ways of nodes end, and those with the same cause."""
    return {place for stopped in _stops(model).values() for one in stopped for place in _causes(_end(one))}


def _is_fatal(stopped: Sequence[Connection]) -> bool:
    return any(one.target.fatal or _end(one).refused for one in stopped)


def _hits(model: Model, *, fatal: bool) -> Iterator[Hit]:
    """One hit for each cause for which ways end."""
    for stopped in _stops(model).values():
        if _is_fatal(stopped) is fatal:
            end = _end(stopped[0])
            place, covers = end.resource, tuple(dict.fromkeys(cause for one in stopped for cause in _causes(_end(one))))
            # Of nodes in a public subnet, its route or their place is the mistake.
            places = [(one.group.resource, (*one.group.network_path, "Subnets")) for one in stopped if end.doubts]
            chosen = places[0] if places and _is_meant_to_be_public(place) else None
            doubts = (*end.doubts, *dict.fromkeys(places), *_other_groups(model, stopped))
            if chosen is None:
                yield hit(place, _message(stopped), *end.path, covers=covers, doubts=doubts)
            else:
                yield Hit(*chosen, _message(stopped), covers=covers, doubts=doubts)


def _is_meant_to_be_public(subnet: Resource) -> bool:
    """Whether a subnet has a NAT gateway, or gives public addresses: it is right, and no place for nodes."""
    gateways = subnet.template.model.resources(NAT) if subnet.type == SUBNET else ()
    return any(resource_of(one.get("SubnetId")) is subnet for one in gateways) or as_bool(subnet.get("MapPublicIpOnLaunch")) is True


def _other_groups(
    model: Model, stopped: Sequence[Connection], others: Sequence[Resource] = ()
) -> Iterator[tuple[Resource, tuple[str | int, ...]]]:
    """The places of the nodes' groups, which may be the wrong ones: where nothing has another group, or others have these.

    :param others: further groups that nothing has, and that may be meant.
    """
    groups = [one for one in stopped if others or idle_groups(model) or borrows(one.group)]
    yield from dict.fromkeys((one.group.resource, (*one.group.network_path, "SecurityGroupIds")) for one in groups)


def _message(stopped: Sequence[Connection]) -> str:
    targets = listed(dict.fromkeys(one.target.label for one in stopped))
    elsewhere = (way for one in stopped[1:] for way in one.ended if way.end and way.end.resource is not _end(stopped[0]).resource)
    first, *others = dict.fromkeys(map(_reason, (*stopped[0].ended, *elsewhere)))
    more = f"; also {listed(others, most=_MOST_REASONS)}" if others else ""
    way = " > ".join(dict.fromkeys(stopped[0].ended[0].places))
    return f"{labels(one.group for one in stopped)} cannot reach {targets}: the way {way} ends, as {first}{more}"


def _reason(way: Way) -> str:
    return "" if way.end is None else f"{way.end.resource.logical_id} {way.end.says}"


@_way(
    "HP-REACH-001",
    Level.ERROR,
    title="nodes reach what they do not come up without",
    why="nodes without their scripts, their images or their control plane never come up, and a controller without its database "
    "accounts for no job: the creation fails",
    allowed="a way from the nodes to S3 for scripts; on EKS also to EC2, ECR and the Kubernetes API; from the controller to its "
    "database",
    aliases=(
        *("HP-NET-006", "HP-NET-010", "HP-NET-012", "HP-NET-013", "HP-NET-020"),
        *("HP-END-013", "HP-END-020", "HP-EKS-013", "HP-SLM-023"),
    ),
    silences=("HP-DEP-005", "HP-END-002", "HP-CTL-006", "HP-POL-002", "HP-REACH-007", *_OF_POLICIES),
)
def nodes_come_up(model: Model) -> Iterator[Hit]:
    return _hits(model, fatal=True)


@_way(
    "HP-REACH-002",
    Level.WARNING,
    title="nodes reach what they and their features use",
    why="nodes come up, but without logs, sessions, a file system, or the accounting of jobs: whatever they cannot reach times out",
    allowed="a way from the nodes to each of them",
    silences=("HP-DEP-005", "HP-POL-002", "HP-REACH-007", *_OF_POLICIES),
    aliases=(
        *("HP-NET-011", "HP-NET-021", "HP-NET-022", "HP-END-001", "HP-END-021", "HP-END-022", "HP-FSN-005", "HP-FSN-006"),
        *("HP-FSX-024", "HP-FSX-025", "HP-SLM-024"),
    ),
)
def nodes_are_of_use(model: Model) -> Iterator[Hit]:
    return _hits(model, fatal=False)


@error(
    "HP-REACH-003",
    title="nodes with EFA reach each other",
    why="EFA traffic is matched only by security-group id; a rule for 0.0.0.0/0 does not count: the health check of the nodes "
    "fails, and the creation with it, or jobs hang",
    fix="add an AWS::EC2::SecurityGroupIngress with IpProtocol -1 and SourceSecurityGroupId of the group itself, and an "
    "AWS::EC2::SecurityGroupEgress with DestinationSecurityGroupId",
    allowed="all protocols from and to the group itself, by its id",
    source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security",
    silences=("HP-REACH-001", "HP-REACH-002", *_OF_FILE_SYSTEMS),
    aliases=("HP-NET-001", "HP-NET-002", "HP-NET-003"),
)
def efa_nodes_reach_each_other(model: Model) -> Iterator[Hit]:
    """One hit for each set of security groups; file systems in the same groups lack the same rules."""
    for groups, stopped in grouped((one.group.security_groups or (), one) for one in _ended(model) if _is_efa(one)).items():
        reasons = listed(dict.fromkeys(_reason(way) for way in stopped[0].ended))
        message = f"{labels(one.group for one in stopped)} have EFA and cannot reach each other: {reasons}"
        doubts = _other_groups(model, stopped, groups_of_others(model))
        yield hit(groups[0], message, covers=(*groups[1:], *_file_systems_in(groups)), doubts=doubts)


@error(
    "HP-REACH-004",
    on=strays,
    title="subnets, security groups, route tables and network ACLs that work together are in one VPC",
    why="AWS refuses to join what is in two VPCs (InvalidGroup.NotFound, InvalidParameterValue), and the stack rolls back",
    fix="take both from one VPC",
    allowed="resources of one VPC",
    source="https://docs.aws.amazon.com/vpc/latest/userguide/vpc-security-groups.html",
)
def the_vpc_is_one(stray: Stray) -> Hit:
    (one, its), (other, others) = ((member.resource.logical_id, name_of(member.vpc)) for member in (stray.one, stray.other))
    # Of two things that a resource joins, nobody knows which is the wrong one.
    joined = (stray.one.path, stray.other.path) if stray.joining is stray.resource else ()
    text = f"{one} is in {its}, and {other}, with which it works, in {others}"
    return hit(stray.resource, text, *stray.path, doubts=((stray.resource, path) for path in joined))


@error(
    "HP-REACH-005",
    on=("AWS::RDS::DBInstance",),
    at=("PubliclyAccessible",),
    title="a database for the internet is in a VPC with an internet gateway",
    why="RDS refuses an instance with a public address in a VPC without one, and nodes reach their database inside the VPC anyway",
    fix="write PubliclyAccessible: false",
    allowed="false, unless the VPC has an internet gateway",
    source="https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_VPC.WorkingWithRDSInstanceinaVPC.html",
    silences=("HP-EXP-004",),
)
def public_databases_have_a_gateway(database: Resource) -> str | None:
    vpcs = side_of(database).vpcs if as_bool(database.get("PubliclyAccessible")) else set()
    closed = [vpc for vpc in vpcs if vpc is not None and has_gateway(vpc) is False]
    return f"{database.logical_id} has a public address, and {closed[0].logical_id} no internet gateway" if closed else None


@warning(
    "HP-REACH-006",
    title="functions, builds, apps and load balancers in a VPC have the ways that they need",
    why="their interfaces have no public address: the call times out, and the function or the custom resource fails",
    fix="give them private subnets with a route to a NAT gateway, or the endpoints of these services, and open their groups",
    allowed="a way from their subnets to each service and database that they name",
    source="https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc-internet.html",
    aliases=("HP-END-004",),
    silences=("HP-DEP-005", "HP-POL-002", "HP-REACH-007"),
)
def functions_reach_what_they_name(model: Model) -> Iterator[Hit]:
    """One hit for each cause, unless the nodes have it too: at the hop if it is a group, a table or an endpoint, else at a user.

    The network of a function is not in doubt whose role may not make interfaces there: that is another mistake.
    """
    said = set(_ends(model))
    ended = [one for one in ended_ways(model) if one.way.end]
    for first, *others in grouped((one.way.end.cause if one.way.end else None, one) for one in ended).values():
        end, users = first.way.end, dict.fromkeys(one.user for one in (first, *others))
        assert end is not None
        if said.intersection(_causes(end)):
            continue
        said.update(_causes(end))
        targets = listed(dict.fromkeys(one.target for one in (first, *others)))
        way = " > ".join(dict.fromkeys(first.way.places))
        names = enumerated(one.logical_id for one in users)
        text = f"{names} cannot reach {targets}: the way {way} ends, as {_reason(first.way)}"
        place, path = (first.user, first.path) if end.resource.type in (SUBNET, VPC) else (end.resource, end.path)
        doubts = ((one, first.path) for one in users if not _may_not_join(one))
        yield hit(place, text, *path, covers=(*end.covers, *users), doubts=doubts)


def _may_not_join(user: Resource) -> bool:
    """Whether the role of a function surely may not make interfaces."""
    role = resource_of(user.get("Role"), ROLE)
    return role is not None and role_facts(role).may("ec2:CreateNetworkInterface", "*") is False


@warning(
    "HP-REACH-007",
    on=lambda model: ((one,) for one in lonely_listeners(model) if not _is_said(model, one)),
    title="what listens in a VPC lets in somebody who is there",
    why="nobody reaches it: mounts and connections time out",
    fix="write a rule for its port, from the group or the block of its clients",
    allowed="a rule for its port from a group of clients, or from a block of the VPC or of a network that routes lead to",
    source="https://docs.aws.amazon.com/vpc/latest/userguide/vpc-security-groups.html",
)
def listeners_let_somebody_in(one: Lonely) -> Hit:
    others, here = enumerated(group.logical_id for group in one.silent), one.place.logical_id
    but, silent = (f" but {others}", f", and {others} lets none of it out to {here}") if others else ("", "")
    listens = f"on which {one.listener.name} ({one.resource.logical_id}) listens"
    text = f"{here} lets nobody{but} in on {one.traffic}, {listens}{silent}"
    return hit(one.place, text, *one.path, covers=(one.resource,))


@warning(
    "HP-REACH-008",
    on=lambda model: ((one,) for one in one_way(model) if _all_ends(model).isdisjoint(one.tables)),
    title="what joins two networks leads both ways",
    why="requests get there and answers do not come back, or nothing leads there at all: connections time out",
    fix="add the route of the other side, or the association and the propagation of the attachment",
    allowed="a route on both sides; for a transit gateway without default tables also an association and a propagation or a route",
    source="https://docs.aws.amazon.com/vpc/latest/peering/vpc-peering-routing.html",
    silences=("HP-REACH-007",),
)
def joined_networks_lead_both_ways(one: OneWay) -> Hit:
    return hit(one.resource, one.message, covers=one.covers)


@warning(
    "HP-REACH-009",
    on=astray,
    title="traffic passes a firewall there and back, and has a way on from it",
    why="the firewall drops what it sees in one direction only, and what it lets through comes back to it or goes nowhere",
    fix="lead the subnets to the firewall, its own subnets on to the gateway, and the subnet of the gateway back to the firewall",
    allowed="routes through the firewall in both directions",
    source="https://docs.aws.amazon.com/network-firewall/latest/developerguide/vpc-config-route-tables.html",
)
def firewalls_are_passed_both_ways(one: Astray) -> Hit:
    return hit(one.resource, one.message)


@warning(
    "HP-REACH-010",
    on=lambda model: ((one,) for one in half_rules(model) if _said_of_groups(model).isdisjoint(one.places)),
    title="what a group lets out to another one is let in there",
    why="the other group drops it: connections time out",
    fix="write the rule of the other group: its ingress from this group, for the same ports",
    allowed="a rule in both groups",
    source="https://docs.aws.amazon.com/vpc/latest/userguide/vpc-security-groups.html",
)
def rules_have_both_halves(one: HalfRule) -> Hit:
    ports = one.rule.ports or range(0)
    traffic = "all" if one.rule.protocol == "-1" else f"{(one.rule.protocol or '').upper()} {ports.start}"
    text = f"{one.group.logical_id} lets {traffic} out to {one.target.logical_id}, which lets none of it in"
    return Hit(one.wrong, (), text, covers=one.places)


@warning(
    "HP-REACH-011",
    on=lambda model: ((one,) for one in mute_balancers(model)),
    title="a load balancer lets out what its targets wait for",
    why="no target is ever healthy: requests are answered by an error, or time out",
    fix="write the port for which the groups of the load balancer have a rule, or add the rule",
    allowed="a port that an egress rule of the load balancer's groups covers",
    source="https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-update-security-groups.html",
    silences=("HP-REACH-010",),
)
def balancers_reach_their_targets(one: Mute) -> Hit:
    """It is at the groups if what they let out to another one does not come in there."""
    names = enumerated(group.logical_id for group in one.groups)
    text = f"{names} of {one.balancer.logical_id} lets no {one.traffic} out, for which {one.targets.logical_id} waits"
    halves = [half for half in half_rules(one.balancer.template.model) if half.group in one.groups]
    if not halves:
        return hit(one.targets, text, "Port", covers=(one.balancer, *one.groups))
    places = (place for half in halves for place in half.places)
    return Hit(halves[0].group, (), text, covers=(one.balancer, one.targets, *places))


def _said_of_groups(model: Model) -> set[Resource]:
    """The places at which ways end, and the groups of what lets nobody in, with those that let nothing out to it."""
    lonely = {group for one in lonely_listeners(model) for group in (one.place, *one.groups, *one.silent)}
    return _all_ends(model) | lonely | {_end(one).resource for one in _ended(model) if _is_efa(one)}


def _is_said(model: Model, one: Lonely) -> bool:
    """Whether a way to a listener, or from a group that it lets in, ends: that is another finding."""
    if not one.silent or one.resource in _ends(model):
        return not _ends(model).isdisjoint((one.resource, one.place))
    targets = {*(way.target.name for way in _ended(model)), *(way.target for way in ended_ways(model))}
    return one.resource.logical_id in targets or not _all_ends(model).isdisjoint(one.silent)


def _all_ends(model: Model) -> set[Resource]:
    """The resources at which ways end, of nodes and of what else is in a VPC, and those with the same cause."""
    return _ends(model).union(*(_causes(way.way.end) for way in ended_ways(model) if way.way.end))


def _file_systems_in(groups: tuple[Resource, ...]) -> Iterator[Resource]:
    model = groups[0].template.model
    found = model.resources(FILE_SYSTEM)
    naming = model.cached(_file_systems_in, lambda: Naming(found, lambda one: as_items(one.get("SecurityGroupIds"))))
    return (one for one in naming.of(*groups) if set(security_groups_of(one) or (one,)) <= set(groups))
