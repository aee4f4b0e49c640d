"""What is asked of a network again and again. A `ClusterNetwork` knows it; another network is asked by calls into jsii."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2

from hyperpod_constructs.network.cluster_network import ClusterNetwork
from hyperpod_constructs.network.node_network import NodeNetwork, NodePlace


def node_place(network: NodeNetwork) -> NodePlace:
    """The ids of a network."""
    if isinstance(network, ClusterNetwork):
        return network._place
    return NodePlace(network.node_subnet.subnet_id, network.security_group.security_group_id)


def zone_of(network: NodeNetwork, subnet: ec2.ISubnet) -> str:
    """The zone of a subnet, as the caller named it where a `ClusterNetwork` made the subnet."""
    known = network._subnets.zone_of(subnet) if isinstance(network, ClusterNetwork) else None
    return subnet.availability_zone if known is None else known
