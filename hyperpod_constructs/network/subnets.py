"""The subnets of a network, each with a route table of its own."""

from __future__ import annotations

from typing import NamedTuple

from aws_cdk import CfnTag
from aws_cdk import aws_ec2 as ec2
from constructs import Construct


class Side(NamedTuple):
    """The ids of a subnet and its route table. Each is read once, because an attribute of an L1 is a call into jsii."""

    subnet_id: str
    route_table_id: str


class Zone(NamedTuple):
    """A zone, by its id or by its name."""

    id: str | None
    name: str | None


def name_tags(path: str, role: str | None = None) -> list[CfnTag]:
    """The name of the network, or of a part of it."""
    return [CfnTag(key="Name", value=path if role is None else f"{path}/{role}")]


class Subnets:
    """Makes the subnets of a VPC in its construct, and knows their zones as the caller named them."""

    def __init__(self, scope: Construct, path: str, vpc_id: str) -> None:
        self._scope, self._path, self._vpc_id = scope, path, vpc_id
        self._zones: dict[str, str] = {}
        self._zones_of_own: dict[ec2.ISubnet, str] = {}

    def make(self, role: str, cidr: str, zone: Zone) -> ec2.CfnSubnet:
        """A subnet whose interfaces get no public addresses."""
        return ec2.CfnSubnet(
            self._scope,
            f"{role}Subnet",
            vpc_id=self._vpc_id,
            cidr_block=cidr,
            map_public_ip_on_launch=False,
            tags=name_tags(self._path, role),
            availability_zone=zone.name,
            availability_zone_id=zone.id,
        )

    def with_table(self, role: str, subnet: ec2.CfnSubnet) -> Side:
        """The subnet with a route table, which holds the VPC's own routes only."""
        table = ec2.CfnRouteTable(self._scope, f"{role}RouteTable", vpc_id=self._vpc_id, tags=name_tags(self._path, role))
        side = Side(subnet.attr_subnet_id, table.attr_route_table_id)
        ec2.CfnSubnetRouteTableAssociation(
            self._scope, f"{role}RouteTableAssociation", subnet_id=side.subnet_id, route_table_id=side.route_table_id
        )
        return side

    def private_side(self, role: str, subnet: ec2.CfnSubnet, zone: Zone, nat_gateway: ec2.CfnNatGateway | None) -> Side:
        """The subnet with a route table that leads out by the NAT gateway, if there is one."""
        side = self.with_table(role, subnet)
        if nat_gateway is not None:
            ec2.CfnRoute(
                self._scope,
                f"{role}DefaultRoute",
                route_table_id=side.route_table_id,
                destination_cidr_block="0.0.0.0/0",
                nat_gateway_id=nat_gateway.attr_nat_gateway_id,
            )
        self._zones[side.subnet_id] = zone.id or zone.name or ""
        return side

    def imported(self, role: str, side: Side, zone: str, cidr: str) -> ec2.ISubnet:
        """The subnet for other constructs; nodes may be in it.

        :param zone: the name of its zone.
        """
        subnet = self.alone(role, side, zone, cidr)
        self._zones_of_own[subnet] = self._zones[side.subnet_id]
        return subnet

    def alone(self, role: str, side: Side, zone: str, cidr: str) -> ec2.ISubnet:
        """The subnet for other constructs, without a way out."""
        return ec2.Subnet.from_subnet_attributes(
            self._scope,
            f"Imported{role}Subnet",
            subnet_id=side.subnet_id,
            availability_zone=zone,
            ipv4_cidr_block=cidr,
            route_table_id=side.route_table_id,
        )

    def imported_vpc(self, cidr: str, zone: str, nodes: Side, public: Side | None) -> ec2.IVpc:
        """The VPC for other constructs. Its subnet of nodes is private; isolated without a public one.

        :param zone: the name of the zone of both subnets.
        """
        ids, tables = [nodes.subnet_id], [nodes.route_table_id]
        return ec2.Vpc.from_vpc_attributes(
            self._scope,
            "ImportedVpc",
            vpc_id=self._vpc_id,
            vpc_cidr_block=cidr,
            availability_zones=[zone],
            public_subnet_ids=None if public is None else [public.subnet_id],
            public_subnet_route_table_ids=None if public is None else [public.route_table_id],
            private_subnet_ids=None if public is None else ids,
            private_subnet_route_table_ids=None if public is None else tables,
            isolated_subnet_ids=ids if public is None else None,
            isolated_subnet_route_table_ids=tables if public is None else None,
        )

    def zone_of(self, subnet: ec2.ISubnet) -> str | None:
        """The zone of a subnet of the network, as the caller named it; `None` for another subnet."""
        return self._zones_of_own.get(subnet) or self._zones.get(subnet.subnet_id)
