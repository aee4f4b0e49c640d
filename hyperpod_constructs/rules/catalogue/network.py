"""Network of the nodes: their security groups, their routes, and the endpoints of a closed network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.answers import any_of
from hyperpod_constructs.analysis.clusters import labels
from hyperpod_constructs.analysis.naming import Naming
from hyperpod_constructs.analysis.networks import Subnet, network_facts
from hyperpod_constructs.analysis.placement import (
    FILE_SYSTEM,
    NodeGroup,
    node_groups,
    security_groups_of,
    users_of_subnets,
)
from hyperpod_constructs.analysis.reach import admit_each_other
from hyperpod_constructs.analysis.security_groups import (
    ALL_PORTS,
    Direction,
    GroupRule,
    SecurityGroup,
    is_resource,
    security_groups,
)
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.hits import hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, as_items

_EFA_DOCS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security"
_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_PREREQUISITES = f"{_GUIDE}sagemaker-hyperpod-prerequisites.html"
_PRIVATE_CLUSTERS = "https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html"
_SSH = 22
_HTTPS = 443
_DIRECTIONS: tuple[Direction, ...] = ("ingress", "egress")
_IN = "an AWS::EC2::SecurityGroupIngress with IpProtocol -1 and SourceSecurityGroupId of the group itself"
_OUT = "an AWS::EC2::SecurityGroupEgress with IpProtocol -1 and DestinationSecurityGroupId of the group itself"
_WORDS = {"ingress": "in from itself", "egress": "out to itself"}
_EFA_FAILS = (
    "EFA traffic is matched only by security-group id; a rule for 0.0.0.0/0 does not count: the health check of the nodes fails, "
    "and the creation with it"
)
_OF_FILE_SYSTEMS = ("HP-FSN-001", "HP-FSN-002", "HP-FSN-003", "HP-FSN-005", "HP-FSN-006")
_NO_PUBLIC_ADDRESS = "nodes have no public addresses, so a route to an internet gateway takes them nowhere"
_PRIVATE = "a subnet whose default route leads to a NAT gateway, or that has none"
_MAKE_PRIVATE = "put the nodes into a private subnet, with a default route to a NAT gateway or with endpoints"
_CLOSED = "the nodes have no way to the internet"
_ADD_ENDPOINTS = "add an AWS::EC2::VPCEndpoint of type Interface for each, with PrivateDnsEnabled, or a route to a NAT gateway"
# Without images and addresses no pod starts.
_EKS_NEEDS = ("ec2", "ecr.api", "ecr.dkr")
_OPERATION = ("logs", "ssm", "ssmmessages")


def _efa_groups(model: Model) -> Iterable[tuple[tuple[Resource, ...], list[NodeGroup]]]:
    """The sets of security groups of EFA nodes, with those nodes."""
    efa = (group for group in node_groups(model) if group.has_efa)
    return grouped((group.security_groups, group) for group in efa if group.security_groups is not None).items()


def _efa_hit(resources: tuple[Resource, ...], users: Sequence[NodeGroup], *missing: Direction) -> Hit | None:
    """A hit if rules to the nodes' own groups are missing in exactly these directions."""
    groups = users[0].security_group_facts()
    if tuple(direction for direction in _DIRECTIONS if admit_each_other(groups, direction) is False) != missing:
        return None
    lacking = " nor ".join(_WORDS[direction] for direction in missing)
    block = next((one for one in _blocks(groups, missing[0])), None)
    instead = "" if block is None else "; its rule for a CIDR block does not count, because EFA traffic is matched by group id"
    message = f"the security group of {labels(users)}, which have EFA, does not let all traffic {lacking}{instead}"
    covers = (*resources[1:], *_file_systems_in(resources))
    return Hit(resources[0], (), message, ABSENT if block is None else block.cidr, covers=covers)


def _file_systems_in(groups: tuple[Resource, ...]) -> Iterator[Resource]:
    """File systems in the nodes' own groups: they lack the same rules."""
    model = groups[0].template.model
    found = model.resources(FILE_SYSTEM)
    naming = model.cached(_file_systems_in, lambda: Naming(found, lambda one: as_items(one.get("SecurityGroupIds"))))
    for file_system in naming.of(*groups):
        if set(security_groups_of(file_system) or (file_system,)) <= set(groups):
            yield file_system


def _blocks(groups: Sequence[SecurityGroup], direction: Direction) -> Iterator[GroupRule]:
    rules = (one for group in groups for one in group.in_direction(direction))
    return (one for one in rules if one.protocol == "-1" and one.cidr is not ABSENT and one.cidr is not UNKNOWN)


_efa_error = partial(error, on=_efa_groups, source=_EFA_DOCS, silences=_OF_FILE_SYSTEMS)


@_efa_error(
    "HP-NET-001",
    title="nodes with EFA let all traffic in from their own security group",
    why=_EFA_FAILS,
    fix=f"add {_IN}",
    allowed="all protocols from the group itself, by its id",
)
def efa_group_admits_itself(groups: tuple[Resource, ...], users: Sequence[NodeGroup]) -> Hit | None:
    """Only the ingress half is missing."""
    return _efa_hit(groups, users, "ingress")


@_efa_error(
    "HP-NET-002",
    title="nodes with EFA let all traffic out to their own security group",
    why="EFA traffic is matched only by security-group id; a rule for 0.0.0.0/0 does not count: jobs hang or health checks fail",
    fix=f"add {_OUT}",
    allowed="all protocols to the group itself, by its id",
)
def efa_group_reaches_itself(groups: tuple[Resource, ...], users: Sequence[NodeGroup]) -> Hit | None:
    """Only the egress half is missing."""
    return _efa_hit(groups, users, "egress")


@_efa_error(
    "HP-NET-003",
    title="nodes with EFA have both rules to their own security group",
    why=_EFA_FAILS,
    fix=f"add {_IN}, and {_OUT}",
    allowed="all protocols from and to the group itself, by its id",
)
def efa_group_has_self_rules(groups: tuple[Resource, ...], users: Sequence[NodeGroup]) -> Hit | None:
    """Both halves are missing."""
    return _efa_hit(groups, users, "ingress", "egress")


def _open_rules(model: Model) -> Iterator[GroupRule]:
    """The ingress rules for everybody, of the security groups of nodes and file systems."""
    used = {group: None for nodes in node_groups(model) for group in nodes.security_groups or ()}
    used |= {group: None for system in model.resources(FILE_SYSTEM) for group in security_groups_of(system) or ()}
    return (one for group in used for one in security_groups(model).of(group).in_direction("ingress") if one.is_open)


def _is_everything(opened: GroupRule) -> bool:
    ports = opened.ports
    return opened.protocol in ("-1", "tcp", "udp") and ports is not None and ports.start <= 1 and ports.stop >= ALL_PORTS.stop - 1


@warning(
    "HP-NET-004",
    on=_open_rules,
    title="nodes and file systems are not open to the world",
    why="an intruder into the VPC, by a peering or a public address, reaches every port of every node",
    fix="name the group of the clients (SourceSecurityGroupId) or their block, and the ports that they need",
    allowed="rules for some ports from a security group or a block of yours",
    source=_PREREQUISITES,
)
def not_everything_is_open(opened: GroupRule) -> Hit | None:
    if not _is_everything(opened):
        return None
    return Hit(opened.resource, opened.path, "all ports are open to the world", found=opened.cidr)


@warning(
    "HP-NET-005",
    on=_open_rules,
    title="SSH is not open to the world",
    why="nodes are reached through Session Manager, which needs no inbound rule; an open port 22 is scanned within minutes once "
    "a path to it exists",
    fix="remove the rule and connect with aws ssm start-session, or name the group of your bastion in SourceSecurityGroupId",
    allowed="no rule for TCP 22 from 0.0.0.0/0 or ::/0",
    source=f"{_GUIDE}sagemaker-hyperpod-run-jobs-slurm-access-nodes.html",
)
def ssh_is_not_open(opened: GroupRule) -> Hit | None:
    if opened.protocol != "tcp" or _SSH not in (opened.ports or ()) or _is_everything(opened):
        return None
    return Hit(opened.resource, opened.path, "SSH (TCP 22) is open to the world", found=opened.cidr)


@error(
    "HP-NET-006",
    title="nodes may open connections to services of AWS",
    why="nodes fetch their scripts from S3, and join their EKS cluster, over TCP 443: without an egress rule they do not come up",
    fix='add an egress rule: {IpProtocol: tcp, FromPort: 443, ToPort: 443, CidrIp: "0.0.0.0/0"}; routes limit its reach',
    allowed="TCP 443 out, to 0.0.0.0/0 or to prefix lists and groups of endpoints",
    source=_PREREQUISITES,
)
def nodes_reach_services(model: Model) -> Iterator[Hit]:
    """No rule of any group of some nodes lets TCP 443 out, but for those to the nodes' own groups.

    Slurm without scripts needs nothing but its image.
    """
    needing = (group for group in node_groups(model) if group.has_scripts or group.cluster.on_eks)
    first = {group.security_groups: group for group in reversed(list(needing)) if group.security_groups is not None}
    for groups, user in first.items():
        if not any(_can_reach_out(facts, groups) for facts in user.security_group_facts()):
            message = f"no egress rule of the security group of {user.label} lets TCP 443 out of the group itself"
            yield hit(groups[0], message, covers=groups[1:])


def _can_reach_out(group: SecurityGroup, own: tuple[Resource, ...]) -> bool:
    """Whether a rule lets TCP 443 out to anything else, or may."""
    if "egress" in group.uncertain or any(one.direction == "egress" for one in group.possible):
        return True
    return any(
        one.protocol in ("tcp", "-1", None)
        and (one.ports is None or _HTTPS in one.ports)
        and not any(is_resource(one.peer_group, resource) is True for resource in own)
        for one in group.in_direction("egress")
    )


_Users = Sequence[NodeGroup]


def _subnets(model: Model) -> Iterator[tuple[Subnet, _Users]]:
    return ((network_facts(model).subnet(subnet), users) for subnet, users in users_of_subnets(model).items())


def _reaches_s3(subnet: Subnet) -> bool | None:
    """Whether nodes in a subnet reach S3: by a gateway endpoint, an interface endpoint or a NAT gateway."""
    facts, vpc = network_facts(subnet.resource.template.model), subnet.vpc
    by_interface = None if vpc is None else facts.has_interface_endpoint(vpc, "s3")
    return any_of([subnet.has_gateway_endpoint("s3"), subnet.reaches_internet, by_interface])


def _public(subnet: Subnet, users: _Users, *, fatal: bool) -> Hit | None:
    """A hit for a public subnet, if it surely is or is not fatal: on EKS, or if scripts have no other way from S3.

    Slurm without scripts needs nothing but its image.
    """
    cut_off = any(user.cluster.on_eks for user in users) or (
        any(user.has_scripts for user in users) and _reaches_s3(subnet) is False
    )
    if not subnet.is_public or cut_off is not fatal:
        return None
    message = f"the nodes of {labels(users)} are in public subnet {subnet.resource.logical_id}; {_NO_PUBLIC_ADDRESS}"
    return hit(users[0].cluster, message, *users[0].network_path, "Subnets", covers=(subnet.resource,))


@error(
    "HP-NET-010",
    on=_subnets,
    title="nodes are in private subnets",
    why=f"{_NO_PUBLIC_ADDRESS}: they reach neither their scripts nor any service, and the creation fails",
    fix=_MAKE_PRIVATE,
    allowed=_PRIVATE,
    source=f"{_GUIDE}sagemaker-hyperpod-eks-prerequisites.html",
    silences=("HP-NET-012",),
)
def nodes_are_not_cut_off_in_public(subnet: Subnet, users: _Users) -> Hit | None:
    return _public(subnet, users, fatal=True)


@warning(
    "HP-NET-011",
    on=_subnets,
    title="nodes are not in a public subnet, even where they come up in it",
    why=f"{_NO_PUBLIC_ADDRESS}: package mirrors, registries and every service without an endpoint time out",
    fix=_MAKE_PRIVATE,
    allowed=_PRIVATE,
    source=_PREREQUISITES,
)
def nodes_are_not_in_public(subnet: Subnet, users: _Users) -> Hit | None:
    return _public(subnet, users, fatal=False)


@error(
    "HP-NET-012",
    on=_subnets,
    title="nodes reach S3",
    why="lifecycle scripts come from S3: nodes without them fail with an empty log, and so does the creation",
    fix="add an AWS::EC2::VPCEndpoint of type Gateway for com.amazonaws.<region>.s3 with the subnet's route table in RouteTableIds",
    allowed="a gateway endpoint for S3 on the subnet's route table, or a default route to a NAT gateway",
    source=_PREREQUISITES,
)
def nodes_reach_s3(subnet: Subnet, users: _Users) -> Hit | None:
    scripted = [user for user in users if user.has_scripts]
    if not scripted or _reaches_s3(subnet) is not False:
        return None
    id = subnet.resource.logical_id
    return hit(subnet.resource, f"the nodes of {labels(scripted)} take their scripts from S3, to which {id} has no route")
