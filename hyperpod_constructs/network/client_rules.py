"""The rules between the security group of a server and that of its clients."""

from __future__ import annotations

from aws_cdk import CfnResource
from aws_cdk import aws_ec2 as ec2
from constructs import Construct


def client_rules(
    scope: Construct, id: str, group: str, peer: str, *, port: int, description: str
) -> tuple[CfnResource, CfnResource]:
    """The rules that let members of the peer's group connect to a TCP port: into the server's group, and out of theirs."""
    ingress = ec2.CfnSecurityGroupIngress(
        scope,
        f"{id}Ingress",
        group_id=group,
        source_security_group_id=peer,
        ip_protocol="tcp",
        from_port=port,
        to_port=port,
        description=description,
    )
    egress = ec2.CfnSecurityGroupEgress(
        scope,
        f"{id}Egress",
        group_id=peer,
        destination_security_group_id=group,
        ip_protocol="tcp",
        from_port=port,
        to_port=port,
        description=description,
    )
    return ingress, egress
