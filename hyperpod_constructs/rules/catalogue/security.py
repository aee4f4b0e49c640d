"""Rules on the security groups of nodes."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.rules.facts.naming import Naming
from hyperpod_constructs.rules.facts.placement import FILE_SYSTEM, NodeGroup, groups_of, named, node_groups
from hyperpod_constructs.rules.facts.security_groups import (
    ALL_PORTS,
    Direction,
    GroupRule,
    SecurityGroup,
    is_resource,
    security_groups,
)
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import ABSENT, UNKNOWN, as_items

_EFA_DOCS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security"
_PREREQUISITES = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html"
_SSH = 22
_HTTPS = 443
_RULE = {
    "ingress": "an AWS::EC2::SecurityGroupIngress with IpProtocol -1 and SourceSecurityGroupId of the group itself",
    "egress": "an AWS::EC2::SecurityGroupEgress with IpProtocol -1 and DestinationSecurityGroupId of the group itself",
}
_OF_FILE_SYSTEMS = ("HP-FSX-020", "HP-FSX-021", "HP-FSX-022", "HP-FSX-024", "HP-FSX-025")
_WORDS = {"ingress": "in from itself", "egress": "out to itself"}


def _by_group(model: Model, groups: tuple[SecurityGroup, ...]) -> dict[Direction, bool | None]:
    """Whether nodes with these groups let all traffic of each other through, by rules that name a group."""
    directions: tuple[Direction, ...] = ("ingress", "egress")
    found: dict[Direction, bool | None] = {}
    for direction in directions:
        answers = [group.allows_itself(direction) for group in groups]
        if any(_between(group, direction, groups) for group in groups):
            answers.append(None)
        found[direction] = True if True in answers else None if None in answers else False
    return found


def _between(group: SecurityGroup, direction: Direction, groups: tuple[SecurityGroup, ...]) -> bool:
    """Whether a rule names another group of the same nodes."""
    return any(
        is_resource(rule.peer_group, other.resource) is True
        for rule in group.in_direction(direction)
        for other in groups
        if other is not group
    )


def _efa_hits(model: Model, missing: tuple[Direction, ...]) -> Iterator[Hit]:
    """One hit for each set of security groups of EFA nodes that lacks its rules in exactly these directions."""
    sets: dict[tuple[Resource, ...], list[NodeGroup]] = {}
    for group in node_groups(model):
        if group.has_efa and group.security_groups is not None:
            sets.setdefault(group.security_groups, []).append(group)
    for resources, users in sets.items():
        groups = users[0].group_facts()
        answers = _by_group(model, groups)
        if tuple(direction for direction, answer in answers.items() if answer is False) != missing:
            continue
        lacking = " nor ".join(_WORDS[direction] for direction in missing)
        block = next((rule for rule in _blocks(groups, missing[0])), None)
        instead = "" if block is None else "; its rule for a CIDR block does not count, because EFA traffic is matched by group id"
        message = f"the security group of {named(users)}, which have EFA, does not let all traffic {lacking}{instead}"
        found = ABSENT if block is None else block.cidr
        fix = "add " + ", and ".join(_RULE[direction] for direction in missing)
        yield Hit(resources[0], (), message, found=found, fix=fix, covers=(*resources[1:], *_file_systems_in(model, resources)))


def _file_systems_in(model: Model, groups: tuple[Resource, ...]) -> Iterator[Resource]:
    """File systems in the nodes' own groups: they lack the same rules."""
    found = model.resources(FILE_SYSTEM)
    naming = model.cached(_file_systems_in, lambda: Naming(found, lambda one: as_items(one.get("SecurityGroupIds"))))
    for file_system in naming.of(*groups):
        if set(groups_of(file_system) or (file_system,)) <= set(groups):
            yield file_system


def _blocks(groups: tuple[SecurityGroup, ...], direction: Direction) -> Iterator[GroupRule]:
    for group in groups:
        for rule_ in group.in_direction(direction):
            if rule_.protocol == "-1" and rule_.cidr is not ABSENT and rule_.cidr is not UNKNOWN:
                yield rule_


@rule(
    "HP-NET-001",
    Level.ERROR,
    title="nodes with EFA let all traffic in from their own security group",
    why="EFA drops packets that no rule by group id admits: the health check of the nodes fails, and the creation with it",
    fix="add " + _RULE["ingress"],
    allowed="all protocols from the group itself, by its id",
    source=_EFA_DOCS,
    silences=_OF_FILE_SYSTEMS,
)
def efa_group_admits_itself(model: Model) -> Iterator[Hit]:
    """The ingress half is missing."""
    yield from _efa_hits(model, ("ingress",))


@rule(
    "HP-NET-002",
    Level.ERROR,
    title="nodes with EFA let all traffic out to their own security group",
    why="EFA drops packets that no rule by group id lets out, and one for 0.0.0.0/0 is none; jobs hang, or the health check fails",
    fix="add " + _RULE["egress"],
    allowed="all protocols to the group itself, by its id",
    source=_EFA_DOCS,
    silences=_OF_FILE_SYSTEMS,
)
def efa_group_reaches_itself(model: Model) -> Iterator[Hit]:
    """The egress half is missing."""
    yield from _efa_hits(model, ("egress",))


@rule(
    "HP-NET-003",
    Level.ERROR,
    title="nodes with EFA have both rules to their own security group",
    why="EFA drops packets that no rule by group id admits: the health check of the nodes fails, and the creation with it",
    fix=f"add {_RULE['ingress']}, and {_RULE['egress']}",
    allowed="all protocols from and to the group itself, by its id",
    source=_EFA_DOCS,
    silences=_OF_FILE_SYSTEMS,
)
def efa_group_has_self_rules(model: Model) -> Iterator[Hit]:
    """Both halves are missing."""
    yield from _efa_hits(model, ("ingress", "egress"))


@rule(
    "HP-NET-004",
    Level.WARNING,
    title="nodes and file systems are not open to the world",
    why="whoever finds a way into the VPC, by a peering or a public address, reaches every port of every node",
    fix="name the group of the clients (SourceSecurityGroupId) or their block, and the ports that they need",
    allowed="rules for some ports from a security group or a block of yours",
    source=_PREREQUISITES,
)
def not_everything_is_open(model: Model) -> Iterator[Hit]:
    """A rule lets everybody in on all ports."""
    for opened in _open_rules(model):
        if _is_everything(opened):
            yield Hit(opened.resource, opened.path, "all ports are open to the world", found=opened.cidr)


def _is_everything(opened: GroupRule) -> bool:
    ports = opened.ports
    return opened.protocol in ("-1", "tcp", "udp") and ports is not None and ports.start <= 1 and ports.stop >= ALL_PORTS.stop - 1


@rule(
    "HP-NET-005",
    Level.WARNING,
    title="SSH is not open to the world",
    why="nodes are reached through Session Manager, which needs no inbound rule; an open port 22 is scanned within minutes once "
    "a path to it exists",
    fix="remove the rule and connect with aws ssm start-session, or name the group of your bastion in SourceSecurityGroupId",
    allowed="no rule for TCP 22 from 0.0.0.0/0 or ::/0",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-run-jobs-slurm-access-nodes.html",
)
def ssh_is_not_open(model: Model) -> Iterator[Hit]:
    """A rule lets everybody in on port 22."""
    for opened in _open_rules(model):
        ports = opened.ports
        if opened.protocol == "tcp" and ports is not None and _SSH in ports and not _is_everything(opened):
            yield Hit(opened.resource, opened.path, "SSH (TCP 22) is open to the world", found=opened.cidr)


@rule(
    "HP-NET-006",
    Level.ERROR,
    title="nodes may open connections to services of AWS",
    why="nodes fetch their scripts from S3, and those of EKS join their cluster, over TCP 443: without a rule out none comes up",
    fix='add an egress rule: {IpProtocol: tcp, FromPort: 443, ToPort: 443, CidrIp: "0.0.0.0/0"}; routes decide what that reaches',
    allowed="TCP 443 out, to 0.0.0.0/0 or to prefix lists and groups of endpoints",
    source=_PREREQUISITES,
)
def nodes_reach_services(model: Model) -> Iterator[Hit]:
    """No rule of any group of some nodes lets TCP 443 out, but for those to the nodes' own groups.

    Slurm without scripts needs nothing but its image.
    """
    done: set[tuple[Resource, ...]] = set()
    for group in node_groups(model):
        needed = group.has_scripts or group.owner.on_eks
        if not needed or group.security_groups is None or group.security_groups in done:
            continue
        done.add(group.security_groups)
        if not any(_can_reach_out(facts, group.security_groups) for facts in group.group_facts()):
            message = f"no egress rule of the security group of {group.name} lets TCP 443 out of the group itself"
            yield Hit(group.security_groups[0], (), message, covers=group.security_groups[1:])


def _can_reach_out(group: SecurityGroup, own: tuple[Resource, ...]) -> bool:
    """Whether a rule lets TCP 443 out to anything else, or may."""
    if "egress" in group.uncertain or any(one.direction == "egress" for one in group.possible):
        return True
    for one in group.in_direction("egress"):
        to_itself = any(is_resource(one.peer_group, resource) is True for resource in own)
        protocol, ports = one.protocol, one.ports
        if not to_itself and protocol in ("tcp", "-1", None) and (ports is None or _HTTPS in ports):
            return True
    return False


def _open_rules(model: Model) -> Iterator[GroupRule]:
    """The ingress rules for everybody of the groups that nodes or file systems have."""
    used: dict[Resource, None] = {}
    for group in node_groups(model):
        used.update(dict.fromkeys(group.security_groups or ()))
    for file_system in model.resources(FILE_SYSTEM):
        used.update(dict.fromkeys(groups_of(file_system) or ()))
    groups = security_groups(model)
    for resource in used:
        yield from (one for one in groups.of(resource).in_direction("ingress") if one.is_open)
