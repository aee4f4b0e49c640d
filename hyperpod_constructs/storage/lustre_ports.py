"""The rules between a Lustre file system's security group and those of its clients."""

from __future__ import annotations

from aws_cdk import CfnResource
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_constructs.facts import lustre


def lustre_rules(scope: Construct, id: str, group: str, peer: str, *, all_traffic: bool) -> list[CfnResource]:
    """The rules of both groups for traffic between them, or of one group for traffic between its members.

    :param group: the id of the file system's group.
    :param peer: the id of the other group, or of the same.
    :param all_traffic: every protocol, as EFA needs it, instead of Lustre's ports.
    """
    rules: list[CfnResource] = []
    for low, high in ((None, None),) if all_traffic else _ports():
        suffix = "All" if low is None else str(low)
        rules += _rule(scope, f"{id}{suffix}", group, peer, low, high)
        if peer != group:
            rules += _rule(scope, f"{id}{suffix}Peer", peer, group, low, high)
    return rules


def _rule(scope: Construct, id: str, group: str, peer: str, low: int | None, high: int | None) -> list[CfnResource]:
    """The two rules of `group` for traffic from and to `peer`."""
    protocol = "-1" if low is None else "tcp"
    ingress = ec2.CfnSecurityGroupIngress(
        scope,
        f"{id}Ingress",
        group_id=group,
        source_security_group_id=peer,
        ip_protocol=protocol,
        from_port=low,
        to_port=high,
        description="Lustre",
    )
    egress = ec2.CfnSecurityGroupEgress(
        scope,
        f"{id}Egress",
        group_id=group,
        destination_security_group_id=peer,
        ip_protocol=protocol,
        from_port=low,
        to_port=high,
        description="Lustre",
    )
    return [ingress, egress]


def _ports() -> tuple[tuple[int, int], ...]:
    """The first and the last port of each of Lustre's TCP ranges."""
    return tuple((ports[0], ports[-1]) for ports in (lustre.LNET_PORTS, lustre.CLIENT_PORTS))
