"""Security groups, network ACLs and control planes that are open to the world."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.open_rules import is_everything, open_entries, open_rules
from hyperpod_constructs.analysis.security_groups import GroupRule
from hyperpod_constructs.facts.private_services import ADMINISTRATION, EVERYBODY
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import warning
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_bool, as_items, as_str, at

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_CONTROLS = "https://docs.aws.amazon.com/securityhub/latest/userguide/ec2-controls.html"
_NAMES = dict(zip(ADMINISTRATION, ("SSH", "Remote Desktop"), strict=True))


def _of_administration(opened: GroupRule) -> list[int]:
    """The ports of administration in a rule that is not for all ports."""
    ports = opened.ports if opened.protocol == "tcp" and not is_everything(opened) else None
    return [port for port in ADMINISTRATION if port in (ports or ())]


@warning(
    "HP-NET-004",
    on=open_rules,
    title="nodes, file systems, databases and other private services are not open to the world",
    why="an intruder into the VPC, by a peering or a public address, reaches the port of every node and every service",
    fix="name the group of the clients (SourceSecurityGroupId) or their block, and the ports that they need",
    allowed="rules for some ports from a security group or a block of yours; 80 and 443 where no data are given there",
    source=_CONTROLS,
)
def not_everything_is_open(opened: GroupRule) -> Hit | None:
    if _of_administration(opened):
        return None
    ports = opened.ports or range(0)
    shown = "all ports" if is_everything(opened) else f"{opened.protocol} {ports.start}" + (f"-{ports[-1]}" if ports[1:] else "")
    text = f"{shown} {'are' if ports[1:] else 'is'} open to the world"
    # A group may have been meant.
    doubts = tuple((opened.resource, (*opened.path, key)) for key in ("CidrIp", "CidrIpv6", "SourceSecurityGroupId"))
    return Hit(opened.resource, opened.path, text, found=opened.cidr, doubts=doubts)


@warning(
    "HP-NET-005",
    on=open_rules,
    title="SSH and Remote Desktop are not open to the world",
    why="nodes are reached through Session Manager, which needs no inbound rule; an open port 22 is scanned within minutes once "
    "a path to it exists",
    fix="remove the rule and connect with aws ssm start-session, or name the group of your bastion in SourceSecurityGroupId",
    allowed="no rule for TCP 22 or 3389 from 0.0.0.0/0 or ::/0",
    source=f"{_GUIDE}sagemaker-hyperpod-run-jobs-slurm-access-nodes.html",
)
def ssh_is_not_open(opened: GroupRule) -> Hit | None:
    ports = _of_administration(opened)
    shown = f"{_NAMES[ports[0]]} (TCP {ports[0]}) is open to the world" if ports else ""
    return Hit(opened.resource, opened.path, shown, found=opened.cidr) if ports else None


@warning(
    "HP-NET-007",
    on=open_entries,
    title="network ACLs do not open SSH and Remote Desktop to the world",
    why="the ACL is before every node of its subnets: one wrong security group then opens them all",
    fix="name the block of your bastion",
    allowed="no entry of its own for TCP 22 or 3389 from 0.0.0.0/0 or ::/0",
    source=_CONTROLS,
)
def acls_let_nobody_administer(entry: Resource, ports: range) -> Hit | None:
    """An entry for a wide range of ports is meant for answers."""
    found = [port for port in ADMINISTRATION if port in ports] if len(ports) <= _MOST_PORTS else []
    return hit(entry, f"{_NAMES[found[0]]} (TCP {found[0]}) is open to the world", "PortRange") if found else None


_MOST_PORTS = 100


@warning(
    "HP-NET-008",
    on="AWS::EKS::Cluster",
    title="the endpoint of a control plane is not open to the world by its blocks",
    why="everybody can try tokens and known weaknesses at the Kubernetes API",
    fix="name the blocks of your offices, or write EndpointPublicAccess: false",
    allowed="blocks of yours",
    source="https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
)
def control_planes_have_blocks(control: Resource) -> Iterator[Hit]:
    """The written blocks are judged.

    Without any, EKS lets everybody come to its endpoint, where IAM decides. That default is a choice of many correct templates,
    `EksCluster` among them, so it is no finding.
    """
    network = control.get("ResourcesVpcConfig")
    closed = as_bool(at(network, "EndpointPublicAccess")) is False
    for index, block in enumerate(() if closed else as_items(at(network, "PublicAccessCidrs")) or ()):
        if as_str(block) in EVERYBODY:
            yield hit(control, f"the Kubernetes API is open to {as_str(block)}", "ResourcesVpcConfig", "PublicAccessCidrs", index)
