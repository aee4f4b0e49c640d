"""The nodes' security group."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct


def create_security_group(scope: Construct, vpc: ec2.IVpc, egress_ports: Sequence[ec2.Port]) -> ec2.SecurityGroup:
    """Make the group. Its self rules are L1s, because the L2 would put the stack's path into their logical ids."""
    group = ec2.SecurityGroup(scope, "SecurityGroup", vpc=vpc, allow_all_outbound=False, description="HyperPod nodes")
    anywhere = ec2.Peer.any_ipv4()
    for port in (ec2.Port.tcp(443), ec2.Port.tcp(80), *egress_ports):
        group.add_egress_rule(anywhere, port, "outwards")
    itself = group.security_group_id
    ec2.CfnSecurityGroupIngress(
        scope,
        "SelfIngress",
        group_id=itself,
        source_security_group_id=itself,
        ip_protocol="-1",
        description="EFA: all traffic from the nodes",
    )
    ec2.CfnSecurityGroupEgress(
        scope,
        "SelfEgress",
        group_id=itself,
        destination_security_group_id=itself,
        ip_protocol="-1",
        description="EFA: all traffic to the nodes",
    )
    return group
