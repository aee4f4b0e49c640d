"""Reachability: the nodes reach what they need, hop by hop. `hyperpod reach` shows each way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import listed
from hyperpod_constructs.analysis.blocks import outside_of
from hyperpod_constructs.analysis.clusters import labels
from hyperpod_constructs.analysis.naming import Naming
from hyperpod_constructs.analysis.networks import ENDPOINT, VPC
from hyperpod_constructs.analysis.placement import FILE_SYSTEM, node_groups, security_groups_of
from hyperpod_constructs.analysis.reachability import Connection, connections
from hyperpod_constructs.analysis.ways import Hop, Way
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.hits import hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import Value, as_items

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_MOST_REASONS = 3
_OF_FILE_SYSTEMS = ("HP-FSN-001", "HP-FSN-002", "HP-FSN-003")
_OF_POLICIES = ("HP-PERM-001", "HP-PERM-002")
_PREREQUISITES = f"{_GUIDE}sagemaker-hyperpod-prerequisites.html"
_OPEN = (
    "open the place at which the way ends: with a rule in the security group or the network ACL, a route to a NAT gateway, or an "
    "interface endpoint with PrivateDnsEnabled that admits the nodes; hyperpod reach FILE shows each hop"
)


def _stops(model: Model) -> dict[Resource, list[Connection]]:
    """The connections that surely end, by the place at which they do; EFA has a rule of its own."""
    return model.cached(_stops, lambda: grouped((_end(one).resource, one) for one in _ended(model) if not _is_efa(one)))


def _ended(model: Model) -> Iterator[Connection]:
    """The connections that end; those of a subnet outside of its VPC are the mistake of its block."""
    ended = (one for one in connections(model) if one.target.wanted and one.ended)
    return (one for one in ended if one.subnet is None or outside_of(one.subnet.resource) is None)


def _is_efa(one: Connection) -> bool:
    return one.target.name == "nodes"


def _end(one: Connection) -> Hop:
    end = one.ended[0].end
    assert end is not None
    return end


def _is_fatal(stopped: Sequence[Connection]) -> bool:
    return any(one.target.fatal or _end(one).refused for one in stopped)


def _hits(model: Model, *, fatal: bool) -> Iterator[Hit]:
    """One hit for each place at which ways end."""
    for place, stopped in _stops(model).items():
        if _is_fatal(stopped) is fatal:
            end = _end(stopped[0])
            yield hit(place, _message(stopped), *end.path, covers=end.covers)


def _message(stopped: Sequence[Connection]) -> str:
    targets = listed(dict.fromkeys(one.target.label for one in stopped))
    elsewhere = (way for one in stopped[1:] for way in one.ended if way.end and way.end.resource is not _end(stopped[0]).resource)
    first, *others = dict.fromkeys(map(_reason, (*stopped[0].ended, *elsewhere)))
    more = f"; also {listed(others, most=_MOST_REASONS)}" if others else ""
    way = " > ".join(dict.fromkeys(stopped[0].ended[0].places))
    return f"{labels(one.group for one in stopped)} cannot reach {targets}: the way {way} ends, as {first}{more}"


def _reason(way: Way) -> str:
    return "" if way.end is None else f"{way.end.resource.logical_id} {way.end.says}"


@error(
    "HP-REACH-001",
    title="nodes reach what they do not come up without",
    why="nodes without their scripts, their images or their control plane never come up, and a controller without its database "
    "accounts for no job: the creation fails",
    allowed="a way from the nodes to S3 for scripts; on EKS also to EC2, ECR and the Kubernetes API; from the controller to its "
    "database",
    aliases=(
        "HP-NET-006",
        "HP-NET-010",
        "HP-NET-012",
        "HP-NET-013",
        "HP-NET-020",
        "HP-END-013",
        "HP-END-020",
        "HP-EKS-013",
        "HP-SLM-023",
    ),
    silences=("HP-END-002", "HP-CTL-006", *_OF_POLICIES),
    fix=_OPEN,
    source=_PREREQUISITES,
)
def nodes_come_up(model: Model) -> Iterator[Hit]:
    return _hits(model, fatal=True)


@warning(
    "HP-REACH-002",
    title="nodes reach what they and their features use",
    why="nodes come up, but without logs, sessions, a file system, or the accounting of jobs: whatever they cannot reach times out",
    allowed="a way from the nodes to each of them",
    silences=_OF_POLICIES,
    aliases=(
        "HP-NET-011",
        "HP-NET-021",
        "HP-NET-022",
        "HP-END-001",
        "HP-END-021",
        "HP-END-022",
        "HP-FSN-005",
        "HP-FSN-006",
        "HP-FSX-024",
        "HP-FSX-025",
        "HP-SLM-024",
    ),
    fix=_OPEN,
    source=_PREREQUISITES,
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
        yield hit(groups[0], message, covers=(*groups[1:], *_file_systems_in(groups)))


# Properties by which resources name others that must be in one VPC with each other, and with themselves.
_TOGETHER = {
    FILE_SYSTEM: ("SubnetIds", "SecurityGroupIds"),
    ENDPOINT: ("SubnetIds", "SecurityGroupIds", "RouteTableIds"),
    "AWS::EC2::SubnetNetworkAclAssociation": ("SubnetId", "NetworkAclId"),
    "AWS::EC2::SubnetRouteTableAssociation": ("SubnetId", "RouteTableId"),
}


def _together(model: Model) -> Iterator[tuple[Resource, ...]]:
    """Resources that must be in one VPC."""
    for group in node_groups(model):
        yield (*(group.subnets or ()), *(group.security_groups or ()))
    for one in model.resources(*_TOGETHER):
        values = [value for key in _TOGETHER[one.type] for value in _listed(one.get(key))]
        named = (resource_of(value) for value in values)
        yield (one, *(other for other in named if other is not None))


def _apart(model: Model) -> dict[tuple[Resource, Resource], None]:
    """Pairs of resources that work together and are in two VPCs."""
    placed = ([(one, vpc) for one in named if (vpc := _vpc(one)) is not None] for named in _together(model))
    return {(known[0][0], one): None for known in placed for one, vpc in known[1:] if vpc != known[0][1]}


def _listed(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else (value,)


@error(
    "HP-REACH-004",
    title="subnets, security groups, route tables and network ACLs that work together are in one VPC",
    why="AWS refuses to join what is in two VPCs (InvalidGroup.NotFound, InvalidParameterValue), and the stack rolls back",
    fix="take both from one VPC",
    allowed="resources of one VPC",
    source="https://docs.aws.amazon.com/vpc/latest/userguide/vpc-security-groups.html",
)
def the_vpc_is_one(model: Model) -> Iterator[Hit]:
    """One hit for each resource that is apart from others; of two, on the one that is apart from more."""
    pairs = _apart(model)
    times = Counter(one for pair in pairs for one in pair)
    odd = {(first if times[first] > times[other] else other): (first, other) for first, other in reversed(pairs)}
    for one, (first, other) in odd.items():
        text = f"{first.logical_id} is in {_name(first)}, and {other.logical_id}, with which it works, in {_name(other)}"
        yield hit(one, text, "VpcId")


def _vpc(one: Resource) -> Resource | str | None:
    value = one.get("VpcId")
    return value if isinstance(value, str) else resource_of(value, VPC)


def _name(one: Resource) -> str:
    vpc = _vpc(one)
    return vpc.logical_id if isinstance(vpc, Resource) else str(vpc)


def _file_systems_in(groups: tuple[Resource, ...]) -> Iterator[Resource]:
    model = groups[0].template.model
    found = model.resources(FILE_SYSTEM)
    naming = model.cached(_file_systems_in, lambda: Naming(found, lambda one: as_items(one.get("SecurityGroupIds"))))
    return (one for one in naming.of(*groups) if set(security_groups_of(one) or (one,)) <= set(groups))
