"""Security groups of nodes and file systems that are open to the world."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.placement import (
    FILE_SYSTEM,
    node_groups,
    security_groups_of,
)
from hyperpod_constructs.analysis.security_groups import (
    ALL_PORTS,
    GroupRule,
    security_groups,
)
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.rule import warning
from hyperpod_constructs.templates.model import Model

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_PREREQUISITES = f"{_GUIDE}sagemaker-hyperpod-prerequisites.html"
_SSH = 22


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
