"""The network of a cluster: one VPC, one availability zone for the nodes, and the security group that EFA needs."""

from hyperpod_constructs.network.cluster_network import ClusterNetwork as ClusterNetwork
from hyperpod_constructs.network.node_network import ExistingNetwork as ExistingNetwork
from hyperpod_constructs.network.node_network import NodeNetwork as NodeNetwork
from hyperpod_constructs.network.node_network import NodePlace as NodePlace
from hyperpod_constructs.network.places import node_place as node_place
from hyperpod_constructs.network.places import zone_of as zone_of
