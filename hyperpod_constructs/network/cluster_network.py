"""The network of a cluster: one VPC, one availability zone for the nodes, and the security group that EFA needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import jsii
from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.network_checks import (
    check_blocks,
    check_further_block,
    check_part,
    check_zone,
    first_block,
    last_block,
)
from hyperpod_constructs._support.tree import placed, region_of
from hyperpod_constructs._support.values import NodeCount
from hyperpod_constructs.facts.connections import ENDPOINTS, KUBERNETES_ENDPOINTS
from hyperpod_constructs.facts.instance_types import InstanceType
from hyperpod_constructs.facts.orchestration import TAG_OF_NODE_SUBNETS
from hyperpod_constructs.facts.prometheus import WRITE_ENDPOINT
from hyperpod_constructs.network.flow_log import create_flow_log
from hyperpod_constructs.network.interface_endpoints import InterfaceEndpoints
from hyperpod_constructs.network.look_up import looked_up
from hyperpod_constructs.network.node_network import ExistingNetwork, NodePlace
from hyperpod_constructs.network.public_side import PublicSide, create_public_side
from hyperpod_constructs.network.s3_endpoint import S3Endpoint
from hyperpod_constructs.network.security import create_security_group
from hyperpod_constructs.network.sizing import node_block
from hyperpod_constructs.network.subnets import Side, Subnets, Zone, name_tags
from hyperpod_constructs.rules.plugin import register_rules


@jsii.implements(ec2.IConnectable)
class ClusterNetwork(Construct):
    """A VPC whose nodes share one private subnet in one availability zone.

    One zone, because EFA traffic and the file system's bandwidth do not cross zones. The VPC holds a public subnet with a NAT
    gateway. The nodes' subnet fills a secondary CIDR block. Its size is fixed and independent of the instance groups,
    because a subnet's CIDR cannot change. It reaches S3 through a gateway endpoint.

    With `internet=False` the VPC has no way to the internet: no internet gateway, no public subnet, no NAT gateway. Services of AWS
    are reached by interface endpoints in a subnet of their own, and S3 by a gateway endpoint whose policy admits the account's own
    buckets and those of AWS that nodes read.

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
        node_cidr: str | None = None,
        max_nodes: Mapping[InstanceType, NodeCount] | None = None,
        pods: bool = False,
        internet: bool = True,
        endpoint_services: Sequence[str] | None = None,
        egress_ports: Sequence[ec2.Port] = (),
        encryption_key: kms.IKey | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        """
        :param availability_zone_id: zone by id, such as `usw2-az4`. An id means the same place in every account, and capacity is
            sold by it. Give exactly one of `availability_zone_id` and `availability_zone`. A change replaces the subnets.
        :param availability_zone: zone by name, such as `us-west-2b`; names differ between accounts. A change replaces the subnets.
        :param cidr: the VPC's primary block, /16 to /28; the public subnet is its first /24 (or all of a smaller block).
            A change replaces the VPC.
        :param node_cidr: the nodes' block, /16 to /28, outside `cidr`: 10.1.0.0/16 unless given. It is from the same private range,
            or from 100.64.0.0/10. A block of 10.0.0.0/16 cannot be added to a VPC whose `cidr` is in 10.0.0.0/15. /16 holds 2,047
            ml.p5.48xlarge nodes at 32 addresses each. A change replaces the subnet.
        :param max_nodes: the most nodes that the cluster will ever have, by type, in place of `node_cidr`: the nodes' block is then
            the smallest that holds them, with 64 addresses for file systems. A change to another size of the block replaces the
            subnet; raise a number within the block's size, and nothing changes.
        :param pods: whether pods take addresses too, as on EKS: with `max_nodes` a node then counts up to 50 more.
        :param internet: whether nodes reach the internet, by a NAT gateway; yes unless given. It can be changed later; running
            nodes then have the new ways.
        :param endpoint_services: services of AWS that are reached by interface endpoints, by their names behind the region, such as
            `ecr.dkr`. Unless given: none with internet; without it those that nodes use, and for a cluster on EKS those of
            Kubernetes. Each endpoint is billed by the hour. One that is left out is missed by `hyperpod check` where nodes need it.
        :param egress_ports: ports to open outwards to any IPv4 address, beside TCP 443 and 80.
        :param encryption_key: encrypts the log of rejected traffic; a key of CloudWatch Logs unless given. See `cluster_key`.
        :param removal_policy: of the VPC, its node block and the node subnet. By default they outlive the stack, because a
            retained file system keeps its interfaces in them. With `DESTROY` for the network and the file systems, all are deleted.
        :raises ValueError: for two zones or no zone, a zone id of another region, blocks that are malformed, overlap, or do not
            go together in one VPC, for nodes that no block holds, or a service that is none.
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        self._path = placed(self, scope, id)
        self._region = region_of(self)
        check_zone(self._path, self._region, availability_zone_id, availability_zone)
        node_cidr = node_block(self._path, node_cidr, max_nodes, pods=pods, existing=[cidr])
        check_blocks(self._path, cidr, node_cidr)
        self._blocks, self._parts = [cidr, node_cidr], [first_block(cidr)] if internet else []
        self._removal_policy = removal_policy
        self._private_subnets: list[ec2.CfnSubnet] = []
        self._admits_load_balancers = False
        tags, zone = name_tags(self._path), Zone(availability_zone_id, availability_zone)
        self._zone = zone
        self._vpc_resource = ec2.CfnVPC(
            self, "Resource", cidr_block=cidr, enable_dns_hostnames=True, enable_dns_support=True, tags=tags
        )
        self._vpc_resource.apply_removal_policy(removal_policy)
        self._vpc_id = self._vpc_resource.attr_vpc_id
        self._subnets = Subnets(self, self._path, self._vpc_id)
        self._public_side: PublicSide | None = None
        if internet:
            self._public_side = create_public_side(self, self._subnets, tags, self._vpc_id, first_block(cidr), zone)
        node_side, zone_name = self._create_private_side("Node", node_cidr, zone)
        self._node_subnet = self._subnets.imported("Node", node_side, zone_name, node_cidr)
        public = None if self._public_side is None else self._public_side.side
        self._vpc = self._subnets.imported_vpc(cidr, zone_name, node_side, public)
        self._s3_endpoint = S3Endpoint(self, self._region, self._vpc_id, node_side.route_table_id, tags, internet=internet)
        self._security_group = create_security_group(self, self._vpc, egress_ports)
        self._place = NodePlace(node_side.subnet_id, self._security_group.security_group_id)
        create_flow_log(self, self._vpc_id, tags, encryption_key)
        self._chooses_endpoints = endpoint_services is None and not internet
        self._endpoints: InterfaceEndpoints | None = None
        services = (() if internet else ENDPOINTS) if endpoint_services is None else endpoint_services
        if services:
            self._add_endpoints(services)

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

    @staticmethod
    @checked
    def from_lookup(scope: Construct, id: str, *, vpc_id: str, node_subnet_id: str, security_group_id: str) -> ExistingNetwork:
        """Use an existing network by its ids. CDK looks it up once, and keeps the answer in `cdk.context.json`: commit that file.

        The stack needs an account and a region. The size of the subnet is then known, and checked against the groups.

        :param vpc_id: the VPC.
        :param node_subnet_id: the private subnet of the nodes, in that VPC.
        :param security_group_id: the nodes' group; see `from_attributes`.
        :raises ValueError: for a subnet that is public or not in the VPC.

        Source: https://docs.aws.amazon.com/cdk/v2/guide/context.html
        """
        construct = Construct(scope, id)
        return looked_up(construct, construct.node.path, vpc_id, node_subnet_id, security_group_id)

    @property
    def internet(self) -> bool:
        """Whether nodes reach the internet."""
        return self._public_side is not None

    @property
    def vpc(self) -> ec2.IVpc:
        """The VPC; `select_subnets` yields the public subnet and, as private, the node subnet; as isolated without internet."""
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
        """The L1 of the public subnet.

        :raises ValueError: for a network without internet.
        """
        if self._public_side is None:
            raise ValueError(f"{self._path}: a network with internet=False has no public subnet; ask its property internet first")
        return self._public_side.subnet

    @property
    def s3_endpoint(self) -> ec2.CfnVPCEndpoint:
        """The S3 gateway endpoint on the node subnet's route table."""
        return self._s3_endpoint.resource

    @property
    def connections(self) -> ec2.Connections:
        """Rules from and to the nodes."""
        return self._security_group.connections

    @checked
    def add_node_subnet(
        self,
        id: str,
        *,
        cidr: str | None = None,
        max_nodes: Mapping[InstanceType, NodeCount] | None = None,
        pods: bool = False,
        availability_zone_id: str | None = None,
        availability_zone: str | None = None,
    ) -> ec2.ISubnet:
        """Add a private subnet for the nodes of some groups, in another zone: see `OverrideVpcConfig`.

        It leaves by the network's NAT gateway, if there is one, and reaches S3 by the network's endpoint, and other services by
        those in the first zone; traffic between zones is billed. It is kept like the first node subnet. A change of zone or block
        **replaces** it, and the groups in it are fixed to it.

        :param cidr: a further block of the VPC, /16 to /28, outside its other blocks. Give exactly one of `cidr` and `max_nodes`.
        :param max_nodes: the most nodes that these groups will ever have, by type: the block is the smallest that holds them, with
            64 addresses for file systems, at the start of the next free /16. So add further subnets below this one in your code.
        :param pods: whether pods take addresses too, as on EKS.
        :param availability_zone_id: zone by id, such as `usw2-az1`. Give exactly one of `availability_zone_id` and
            `availability_zone`.
        :param availability_zone: zone by name.
        :raises ValueError: for two zones or no zone, a zone of another region, or a block that the VPC cannot have.
        """
        path = f"{self._path}/{id}"
        check_zone(path, self._region, availability_zone_id, availability_zone)
        if cidr is None and max_nodes is None:
            raise ValueError(f'{path}: neither cidr nor max_nodes is given; write cidr="10.2.0.0/16", or the most nodes by type')
        cidr = node_block(path, cidr, max_nodes, pods=pods, existing=self._blocks, name="cidr")
        check_further_block(path, cidr, self._blocks)
        self._blocks.append(cidr)
        if self._endpoints is not None:
            self._endpoints.admit(cidr)
        side, zone = self._create_private_side(id, cidr, Zone(availability_zone_id, availability_zone))
        return self._reachable_subnet(id, side, zone, cidr)

    @checked
    def add_control_plane_subnet(
        self, id: str, *, cidr: str, availability_zone_id: str | None = None, availability_zone: str | None = None
    ) -> ec2.ISubnet:
        """Add a private subnet for the control plane of a Kubernetes cluster, which needs subnets in two zones.

        It leaves by the network's NAT gateway, and reaches S3 by the network's endpoint. It goes with its stack: nothing that is
        kept lies in it, and left behind it would take its block from the next one. A change of zone or block **replaces** it.

        :param cidr: a part of the VPC's `cidr`, /28 or larger, beside its first /24, which is the public subnet, and its last /26,
            which interface endpoints take. EKS recommends 16 addresses.
        :param availability_zone_id: zone by id, such as `usw2-az1`. Give exactly one of `availability_zone_id` and
            `availability_zone`.
        :param availability_zone: zone by name.
        :raises ValueError: for two zones or no zone, a zone of another region, or a block outside `cidr` or in use.

        Source: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
        """
        zone = Zone(availability_zone_id, availability_zone)
        subnet = self._part(id, cidr, zone)
        side = self._private_routes(id, subnet, zone)
        return self._reachable_subnet(id, side, subnet.attr_availability_zone, cidr)

    @checked
    def add_database_subnet(
        self, id: str, *, cidr: str, availability_zone_id: str | None = None, availability_zone: str | None = None
    ) -> ec2.ISubnet:
        """Add a private subnet for a database, which needs subnets in two zones, one of them that of the nodes.

        It has no way out of the VPC. It is kept like the nodes' subnet, because a retained database keeps its interfaces there. A
        change of zone or block **replaces** it.

        :param cidr: a part of the VPC's `cidr`, /28 or larger, beside its first /24, which is the public subnet, and its last /26,
            which interface endpoints take.
        :param availability_zone_id: zone by id, such as `usw2-az1`. Give exactly one of `availability_zone_id` and
            `availability_zone`.
        :param availability_zone: zone by name.
        :raises ValueError: for two zones or no zone, a zone of another region, or a block outside `cidr` or in use.

        Source: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_VPC.WorkingWithRDSInstanceinaVPC.html
        """
        subnet = self._part(id, cidr, Zone(availability_zone_id, availability_zone))
        subnet.apply_removal_policy(self._removal_policy)
        return self._subnets.alone(id, self._subnets.with_table(id, subnet), subnet.attr_availability_zone, cidr)

    def _part(self, id: str, cidr: str, zone: Zone) -> ec2.CfnSubnet:
        """A subnet in a part of the VPC's primary block."""
        path = f"{self._path}/{id}"
        check_zone(path, self._region, zone.id, zone.name)
        check_part(path, cidr, self._blocks[0], self._parts)
        self._parts.append(cidr)
        return self._subnets.make(id, cidr, zone)

    def _reachable_subnet(self, id: str, side: Side, zone: str, cidr: str) -> ec2.ISubnet:
        """The subnet, whose route table has the S3 endpoint."""
        self._s3_endpoint.add_route_table(side.route_table_id)
        return self._subnets.imported(id, side, zone, cidr)

    def admit_load_balancers(self) -> None:
        """Tag the subnets of nodes, later ones too, so that Kubernetes makes internal load balancers in them.

        A cluster on EKS calls it for its network.
        """
        self._admits_load_balancers = True
        for subnet in self._private_subnets:
            subnet.tags.set_tag(*TAG_OF_NODE_SUBNETS)

    @checked
    def add_service_endpoint(self, service: str) -> ec2.CfnVPCEndpoint:
        """Reach a service by an interface endpoint in the VPC. The same service twice is one endpoint.

        :param service: its name behind the region, such as `aps-workspaces`.
        :raises ValueError: for a name that is none, for `s3`, or if the endpoints' subnet is full.
        """
        (endpoint,) = self._add_endpoints([service])
        return endpoint

    @checked
    def admit_bucket(self, bucket: s3.IBucket) -> None:
        """Let nodes of a network without internet reach a bucket of another account. Those of the account are admitted already.

        :param bucket: what nodes may do with it is said by their role and by its own policy.
        """
        self._s3_endpoint.admit_bucket(bucket)

    def serve_kubernetes(self) -> None:
        """Add the endpoints of a cluster on EKS to a network without internet, unless `endpoint_services` names all of them.

        A cluster on EKS calls it for its network.
        """
        if self._chooses_endpoints:
            self._add_endpoints(KUBERNETES_ENDPOINTS)
        self._s3_endpoint.serve_kubernetes()

    def serve_metrics(self) -> None:
        """Let nodes of a network without internet write samples to Prometheus, unless `endpoint_services` names all endpoints.

        A cluster whose nodes do so calls it for its network.
        """
        if self._chooses_endpoints:
            self._add_endpoints([WRITE_ENDPOINT])

    def _add_endpoints(self, services: Iterable[str]) -> list[ec2.CfnVPCEndpoint]:
        if self._endpoints is None:
            self._endpoints = self._create_endpoints()
        return [self._endpoints.add(service) for service in services]

    def _create_endpoints(self) -> InterfaceEndpoints:
        """Endpoints in a subnet of their own, in the nodes' zone: they take no addresses from nodes, and go with the stack."""
        cidr = last_block(self._blocks[0])
        check_part(f"{self._path}/Endpoint", cidr, self._blocks[0], self._parts)
        self._parts.append(cidr)
        side = self._subnets.with_table("Endpoint", self._subnets.make("Endpoint", cidr, self._zone))
        endpoints = InterfaceEndpoints(self, self._path, self._region, vpc=self._vpc, subnet_id=side.subnet_id, cidr=cidr)
        for block in self._blocks:
            endpoints.admit(block)
        return endpoints

    def _create_private_side(self, role: str, cidr: str, zone: Zone) -> tuple[Side, str]:
        """A subnet that fills a further block; with the name of its zone."""
        block = ec2.CfnVPCCidrBlock(self, f"{role}Block", vpc_id=self._vpc_id, cidr_block=cidr)
        subnet = self._subnets.make(role, cidr, zone)
        subnet.add_resource_dependency(block)
        self._private_subnets.append(subnet)
        if self._admits_load_balancers:
            subnet.tags.set_tag(*TAG_OF_NODE_SUBNETS)
        for resource in (block, subnet):
            resource.apply_removal_policy(self._removal_policy)
        return self._private_routes(role, subnet, zone), subnet.attr_availability_zone

    def _private_routes(self, role: str, subnet: ec2.CfnSubnet, zone: Zone) -> Side:
        nat_gateway = None if self._public_side is None else self._public_side.nat_gateway
        return self._subnets.private_side(role, subnet, zone, nat_gateway)
