"""The way out of a network: a public subnet with a NAT gateway."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import CfnTag
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_constructs.network.subnets import Side, Subnets, Zone


@dataclass(frozen=True, slots=True)
class PublicSide:
    """The public subnet with its NAT gateway."""

    subnet: ec2.CfnSubnet
    side: Side
    nat_gateway: ec2.CfnNatGateway


def create_public_side(
    scope: Construct, subnets: Subnets, tags: Sequence[CfnTag], vpc_id: str, cidr: str, zone: Zone
) -> PublicSide:
    """Make an internet gateway, the public subnet and the NAT gateway in it."""
    gateway = ec2.CfnInternetGateway(scope, "InternetGateway", tags=list(tags))
    gateway_id = gateway.attr_internet_gateway_id
    attachment = ec2.CfnVPCGatewayAttachment(scope, "InternetGatewayAttachment", vpc_id=vpc_id, internet_gateway_id=gateway_id)
    subnet = subnets.make("Public", cidr, zone)
    side = subnets.with_table("Public", subnet)
    route = ec2.CfnRoute(
        scope,
        "PublicDefaultRoute",
        route_table_id=side.route_table_id,
        destination_cidr_block="0.0.0.0/0",
        gateway_id=gateway_id,
    )
    route.add_resource_dependency(attachment)
    address = ec2.CfnEIP(scope, "NatAddress", domain="vpc", tags=list(tags))
    address.add_resource_dependency(attachment)
    nat_gateway = ec2.CfnNatGateway(
        scope, "NatGateway", subnet_id=side.subnet_id, allocation_id=address.attr_allocation_id, tags=list(tags)
    )
    nat_gateway.add_resource_dependency(route)
    return PublicSide(subnet, side, nat_gateway)
