"""The network of a cluster: one VPC, one availability zone for the nodes, and the security group that EFA needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import jsii
from aws_cdk import CfnTag, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_constructs._support.arguments import checked, checked_value
from hyperpod_constructs._support.network_checks import check_blocks, check_further_block, check_part, check_zone, first_block
from hyperpod_constructs._support.tree import placed, region_of
from hyperpod_constructs.facts.orchestration import TAG_OF_NODE_SUBNETS
from hyperpod_constructs.rules.plugin import register_rules


class _Side(NamedTuple):
    """The ids of a subnet and its route table. Each is read once, because an attribute of an L1 is a call into jsii."""

    subnet_id: str
    route_table_id: str


class NodeNetwork(Protocol):
    """The network of a cluster and its file systems."""

    @property
    def vpc(self) -> ec2.IVpc: ...
    @property
    def node_subnet(self) -> ec2.ISubnet: ...
    @property
    def security_group(self) -> ec2.ISecurityGroup: ...


class NodePlace(NamedTuple):
    """The ids of the nodes' subnet and security group."""

    subnet_id: str
    security_group_id: str


def node_place(network: NodeNetwork) -> NodePlace:
    """The ids of a network. A `ClusterNetwork` knows its own; another is asked by calls into jsii."""
    if isinstance(network, ClusterNetwork):
        return network._place
    return NodePlace(network.node_subnet.subnet_id, network.security_group.security_group_id)


def zone_of(network: NodeNetwork, subnet: ec2.ISubnet) -> str:
    """The zone of a subnet, as the caller named it where a `ClusterNetwork` made the subnet."""
    if not isinstance(network, ClusterNetwork):
        return subnet.availability_zone
    known = network._zones_of_own.get(subnet) or network._zones.get(subnet.subnet_id)
    return subnet.availability_zone if known is None else known


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingNetwork:
    """A network from outside this app; see `ClusterNetwork.from_attributes`."""

    vpc: ec2.IVpc
    node_subnet: ec2.ISubnet
    security_group: ec2.ISecurityGroup


@jsii.implements(ec2.IConnectable)
class ClusterNetwork(Construct):
    """A VPC whose nodes share one private subnet in one availability zone.

    One zone, because EFA traffic and the file system's bandwidth do not cross zones. The VPC holds a public subnet with a NAT
    gateway. The nodes' subnet fills a secondary CIDR block. Its size is fixed and independent of the instance groups,
    because a subnet's CIDR cannot change. It reaches S3 through a gateway endpoint.

    The security group allows all traffic from itself and to itself, by group id, as EFA requires. A CIDR rule does not satisfy EFA,
    and a missing self rule is the first cause of failed cluster creations. Outwards the group also allows TCP 443 and 80.

    A change of `availability_zone_id`, `availability_zone`, `cidr` or `node_cidr` **replaces** the subnet (and, for `cidr`, the
    VPC), and with it the cluster and every file system in it: choose them once.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        availability_zone_id: str | None = None,
        availability_zone: str | None = None,
        cidr: str = "10.0.0.0/16",
        node_cidr: str = "10.1.0.0/16",
        egress_ports: Sequence[ec2.Port] = (),
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        """
        :param availability_zone_id: zone by id, such as `usw2-az4`. An id means the same place in every account, and capacity is
            sold by it. Give exactly one of `availability_zone_id` and `availability_zone`. A change replaces the subnets.
        :param availability_zone: zone by name, such as `us-west-2b`; names differ between accounts. A change replaces the subnets.
        :param cidr: the VPC's primary block, /16 to /28; the public subnet is its first /24 (or all of a smaller block).
            A change replaces the VPC.
        :param node_cidr: the nodes' block, /16 to /28, outside `cidr`: from the same private range, or from 100.64.0.0/10. A block
            of 10.0.0.0/16 cannot be added to a VPC whose `cidr` is in 10.0.0.0/15. /16 holds 2,047 ml.p5.48xlarge nodes at 32
            addresses each. A change replaces the subnet.
        :param egress_ports: ports to open outwards to any IPv4 address, beside TCP 443 and 80.
        :param removal_policy: of the VPC, its node block and the node subnet. By default they outlive the stack, because a
            retained file system keeps its interfaces in them. With `DESTROY` for the network and the file systems, all are deleted.
        :raises ValueError: for two zones or no zone, a zone id of another region, or blocks that are malformed, overlap, or do not
            go together in one VPC.
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        self._path = placed(self, scope, id)
        self._region = region_of(self)
        check_zone(self._path, self._region, availability_zone_id, availability_zone)
        check_blocks(self._path, cidr, node_cidr)
        self._blocks, self._parts = [cidr, node_cidr], [first_block(cidr)]
        self._zones: dict[str, str] = {}
        self._zones_of_own: dict[ec2.ISubnet, str] = {}
        self._zone_name, self._zone_id = availability_zone, availability_zone_id
        self._removal_policy = removal_policy
        self._private_subnets: list[ec2.CfnSubnet] = []
        self._admits_load_balancers = False
        self._vpc_resource = ec2.CfnVPC(
            self, "Resource", cidr_block=cidr, enable_dns_hostnames=True, enable_dns_support=True, tags=self._tags()
        )
        self._vpc_resource.apply_removal_policy(removal_policy)
        self._vpc_id = self._vpc_resource.attr_vpc_id
        self._nat_gateway = self._create_public_side(cidr)
        self._create_node_side(node_cidr)
        self._import_vpc(cidr)
        self._s3_endpoint = ec2.CfnVPCEndpoint(
            self,
            "S3Endpoint",
            vpc_id=self._vpc_id,
            vpc_endpoint_type="Gateway",
            service_name=f"com.amazonaws.{self._region}.s3",
            route_table_ids=self._node_tables,
            tags=self._tags(),
        )
        self._security_group = self._create_security_group(egress_ports)
        self._create_flow_log()

    @staticmethod
    @checked
    def from_attributes(*, vpc: ec2.IVpc, node_subnet: ec2.ISubnet, security_group: ec2.ISecurityGroup) -> ExistingNetwork:
        """Use an existing network.

        :param vpc: the VPC.
        :param node_subnet: the private subnet of the nodes; give it with its CIDR block, so that its size can be checked.
        :param security_group: the nodes' group. It must allow all traffic from and to itself by group id, or EFA fails: this
            library does not change the group.
        """
        return ExistingNetwork(vpc=vpc, node_subnet=node_subnet, security_group=security_group)

    @property
    def vpc(self) -> ec2.IVpc:
        """The VPC; `select_subnets` yields the public subnet and, as private, the node subnet."""
        return self._vpc

    @property
    def node_subnet(self) -> ec2.ISubnet:
        """The private subnet of the nodes."""
        return self._node_subnet

    @property
    def security_group(self) -> ec2.SecurityGroup:
        """The nodes' security group, with EFA's self rules."""
        return self._security_group

    @property
    def public_subnet_resource(self) -> ec2.CfnSubnet:
        """The L1 of the public subnet."""
        return self._public_subnet

    @property
    def s3_endpoint(self) -> ec2.CfnVPCEndpoint:
        """The S3 gateway endpoint on the node subnet's route table."""
        return self._s3_endpoint

    @property
    def connections(self) -> ec2.Connections:
        """Rules from and to the nodes."""
        return self._security_group.connections

    @checked
    def add_node_subnet(
        self, id: str, *, cidr: str, availability_zone_id: str | None = None, availability_zone: str | None = None
    ) -> ec2.ISubnet:
        """Add a private subnet for the nodes of some groups, in another zone: see `OverrideVpcConfig`.

        It leaves by the network's NAT gateway, whose traffic between zones is billed, and reaches S3 by the network's endpoint. It
        is kept like the first node subnet. A change of zone or block **replaces** it, and the groups in it are fixed to it.

        :param cidr: a further block of the VPC, /16 to /28, outside its other blocks.
        :param availability_zone_id: zone by id, such as `usw2-az1`. Give exactly one of `availability_zone_id` and
            `availability_zone`.
        :param availability_zone: zone by name.
        :raises ValueError: for two zones or no zone, a zone of another region, or a block that the VPC cannot have.
        """
        path = f"{self._path}/{id}"
        check_zone(path, self._region, availability_zone_id, availability_zone)
        check_further_block(path, cidr, self._blocks)
        self._blocks.append(cidr)
        side, zone = self._create_private_side(id, cidr, availability_zone, availability_zone_id)
        return self._reachable_subnet(id, side, zone, cidr)

    @checked
    def add_control_plane_subnet(
        self, id: str, *, cidr: str, availability_zone_id: str | None = None, availability_zone: str | None = None
    ) -> ec2.ISubnet:
        """Add a private subnet for the control plane of a Kubernetes cluster, which needs subnets in two zones.

        It leaves by the network's NAT gateway, and reaches S3 by the network's endpoint. It goes with its stack: nothing that is
        kept lies in it, and left behind it would take its block from the next one. A change of zone or block **replaces** it.

        :param cidr: a part of the VPC's `cidr`, /28 or larger, beside its first /24, which is the public subnet. EKS recommends 16
            addresses.
        :param availability_zone_id: zone by id, such as `usw2-az1`. Give exactly one of `availability_zone_id` and
            `availability_zone`.
        :param availability_zone: zone by name.
        :raises ValueError: for two zones or no zone, a zone of another region, or a block outside `cidr` or in use.

        Source: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
        """
        path = f"{self._path}/{id}"
        check_zone(path, self._region, availability_zone_id, availability_zone)
        check_part(path, cidr, self._blocks[0], self._parts)
        self._parts.append(cidr)
        subnet = self._create_subnet(id, cidr, availability_zone, availability_zone_id)
        side = self._create_private_routes(id, subnet, availability_zone, availability_zone_id)
        return self._reachable_subnet(id, side, subnet.attr_availability_zone, cidr)

    def _reachable_subnet(self, id: str, side: _Side, zone: str, cidr: str) -> ec2.ISubnet:
        """The subnet, whose route table has the S3 endpoint."""
        self._node_tables.append(side.route_table_id)
        self._s3_endpoint.route_table_ids = self._node_tables
        return self._import_subnet(id, side, zone, cidr)

    def admit_load_balancers(self) -> None:
        """Tag the subnets of nodes, later ones too, so that Kubernetes makes internal load balancers in them.

        A cluster on EKS calls it for its network.
        """
        self._admits_load_balancers = True
        for subnet in self._private_subnets:
            subnet.tags.set_tag(*TAG_OF_NODE_SUBNETS)

    def _tags(self, role: str | None = None) -> list[CfnTag]:
        return [CfnTag(key="Name", value=self._path if role is None else f"{self._path}/{role}")]

    def _create_public_side(self, cidr: str) -> ec2.CfnNatGateway:
        gateway = ec2.CfnInternetGateway(self, "InternetGateway", tags=self._tags())
        gateway_id = gateway.attr_internet_gateway_id
        attachment = ec2.CfnVPCGatewayAttachment(
            self, "InternetGatewayAttachment", vpc_id=self._vpc_id, internet_gateway_id=gateway_id
        )
        self._public_subnet = self._create_subnet("Public", first_block(cidr), self._zone_name, self._zone_id)
        self._public_side = self._create_side("Public", self._public_subnet)
        route = ec2.CfnRoute(
            self,
            "PublicDefaultRoute",
            route_table_id=self._public_side.route_table_id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=gateway_id,
        )
        route.add_resource_dependency(attachment)
        address = ec2.CfnEIP(self, "NatAddress", domain="vpc", tags=self._tags())
        address.add_resource_dependency(attachment)
        nat_gateway = ec2.CfnNatGateway(
            self,
            "NatGateway",
            subnet_id=self._public_side.subnet_id,
            allocation_id=address.attr_allocation_id,
            tags=self._tags(),
        )
        nat_gateway.add_resource_dependency(route)
        return nat_gateway

    def _create_node_side(self, node_cidr: str) -> None:
        self._node_side, self._zone = self._create_private_side("Node", node_cidr, self._zone_name, self._zone_id)
        self._node_tables = [self._node_side.route_table_id]
        self._node_subnet = self._import_subnet("Node", self._node_side, self._zone, node_cidr)

    def _create_private_side(self, role: str, cidr: str, zone_name: str | None, zone_id: str | None) -> tuple[_Side, str]:
        """A subnet that fills a further block and leaves by the NAT gateway; with the name of its zone."""
        block = ec2.CfnVPCCidrBlock(self, f"{role}Block", vpc_id=self._vpc_id, cidr_block=cidr)
        subnet = self._create_subnet(role, cidr, zone_name, zone_id)
        subnet.add_resource_dependency(block)
        self._private_subnets.append(subnet)
        if self._admits_load_balancers:
            subnet.tags.set_tag(*TAG_OF_NODE_SUBNETS)
        for resource in (block, subnet):
            resource.apply_removal_policy(self._removal_policy)
        side = self._create_private_routes(role, subnet, zone_name, zone_id)
        return side, subnet.attr_availability_zone

    def _create_private_routes(self, role: str, subnet: ec2.CfnSubnet, zone_name: str | None, zone_id: str | None) -> _Side:
        """The route table of a private subnet, with the way out by the NAT gateway."""
        side = self._create_side(role, subnet)
        ec2.CfnRoute(
            self,
            f"{role}DefaultRoute",
            route_table_id=side.route_table_id,
            destination_cidr_block="0.0.0.0/0",
            nat_gateway_id=self._nat_gateway.attr_nat_gateway_id,
        )
        self._zones[side.subnet_id] = zone_id or zone_name or ""
        return side

    def _import_subnet(self, role: str, side: _Side, zone: str, cidr: str) -> ec2.ISubnet:
        subnet = ec2.Subnet.from_subnet_attributes(
            self,
            f"Imported{role}Subnet",
            subnet_id=side.subnet_id,
            availability_zone=zone,
            ipv4_cidr_block=cidr,
            route_table_id=side.route_table_id,
        )
        self._zones_of_own[subnet] = self._zones[side.subnet_id]
        return subnet

    def _create_subnet(self, role: str, cidr: str, zone_name: str | None, zone_id: str | None) -> ec2.CfnSubnet:
        return ec2.CfnSubnet(
            self,
            f"{role}Subnet",
            vpc_id=self._vpc_id,
            cidr_block=cidr,
            map_public_ip_on_launch=False,
            tags=self._tags(role),
            availability_zone=zone_name,
            availability_zone_id=zone_id,
        )

    def _create_side(self, role: str, subnet: ec2.CfnSubnet) -> _Side:
        table = ec2.CfnRouteTable(self, f"{role}RouteTable", vpc_id=self._vpc_id, tags=self._tags(role))
        side = _Side(subnet.attr_subnet_id, table.attr_route_table_id)
        ec2.CfnSubnetRouteTableAssociation(
            self, f"{role}RouteTableAssociation", subnet_id=side.subnet_id, route_table_id=side.route_table_id
        )
        return side

    def _import_vpc(self, cidr: str) -> None:
        self._vpc = ec2.Vpc.from_vpc_attributes(
            self,
            "ImportedVpc",
            vpc_id=self._vpc_id,
            vpc_cidr_block=cidr,
            availability_zones=[self._zone],
            public_subnet_ids=[self._public_side.subnet_id],
            public_subnet_route_table_ids=[self._public_side.route_table_id],
            private_subnet_ids=[self._node_side.subnet_id],
            private_subnet_route_table_ids=[self._node_side.route_table_id],
        )

    def _create_security_group(self, egress_ports: Sequence[ec2.Port]) -> ec2.SecurityGroup:
        """Make the group. Its self rules are L1s, because the L2 would put the stack's path into their logical ids."""
        group = ec2.SecurityGroup(self, "SecurityGroup", vpc=self._vpc, allow_all_outbound=False, description="HyperPod nodes")
        anywhere = ec2.Peer.any_ipv4()
        for port in (ec2.Port.tcp(443), ec2.Port.tcp(80), *egress_ports):
            group.add_egress_rule(anywhere, port, "outwards")
        itself = group.security_group_id
        self._place = NodePlace(self._node_side.subnet_id, itself)
        ec2.CfnSecurityGroupIngress(
            self,
            "SelfIngress",
            group_id=itself,
            source_security_group_id=itself,
            ip_protocol="-1",
            description="EFA: all traffic from the nodes",
        )
        ec2.CfnSecurityGroupEgress(
            self,
            "SelfEgress",
            group_id=itself,
            destination_security_group_id=itself,
            ip_protocol="-1",
            description="EFA: all traffic to the nodes",
        )
        return group

    def _create_flow_log(self) -> None:
        """Log rejected traffic, because it shows a missing rule."""
        group = logs.LogGroup(
            self,
            "RejectedTraffic",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        role = iam.Role(self, "FlowLogRole", assumed_by=iam.ServicePrincipal("vpc-flow-logs.amazonaws.com"))
        granted = group.grant(role, "logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams")
        flow_log = ec2.CfnFlowLog(
            self,
            "FlowLog",
            resource_type="VPC",
            resource_id=self._vpc_id,
            traffic_type="REJECT",
            log_destination_type="cloud-watch-logs",
            log_group_name=group.log_group_name,
            deliver_logs_permission_arn=role.role_arn,
            tags=self._tags(),
        )
        granted.apply_before(flow_log)
