"""Addresses that a template chooses in a subnet, by type: the items that have one, its property, and that of its subnet.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html (as of 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The place of a chosen address.

    :param items: the list whose items have address and subnet; empty where the resource itself has both.
    :param address: the property with the address.
    :param subnet: the property with the subnet.
    """

    items: str = ""
    address: str
    subnet: str = "SubnetId"


CHOSEN: Mapping[str, Chosen] = {
    "AWS::EC2::Instance": Chosen(address="PrivateIpAddress"),
    "AWS::EC2::NatGateway": Chosen(address="PrivateIpAddress"),
    "AWS::EC2::NetworkInterface": Chosen(address="PrivateIpAddress"),
    "AWS::EC2::VPCEndpoint": Chosen(items="SubnetConfigurations", address="Ipv4"),
    "AWS::EFS::MountTarget": Chosen(address="IpAddress"),
    "AWS::ElasticLoadBalancingV2::LoadBalancer": Chosen(items="SubnetMappings", address="PrivateIPv4Address"),
    "AWS::Route53Resolver::ResolverEndpoint": Chosen(items="IpAddresses", address="Ip"),
}
