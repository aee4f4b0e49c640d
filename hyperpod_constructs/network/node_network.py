"""The network of a cluster as its users see it: a VPC, the subnet of the nodes, and their security group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from aws_cdk import aws_ec2 as ec2

from hyperpod_constructs._support.arguments import checked_value


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


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingNetwork:
    """A network from outside this app; see `ClusterNetwork.from_attributes`."""

    vpc: ec2.IVpc
    node_subnet: ec2.ISubnet
    security_group: ec2.ISecurityGroup
