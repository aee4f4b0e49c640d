"""The network of one instance group: its own subnets and security groups, and the kind of its network interfaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs._support.values import SECURITY_GROUPS, SUBNETS


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class OverrideVpcConfig:
    """Subnets and security groups of one group, in place of the cluster's: for nodes in another zone of the same VPC.

    EFA and the bandwidth of a file system do not cross zones: give groups of one zone a partition of their own.

    :param subnets: 1 to 16, in the VPC of the cluster; the group can have nodes in each. Give an imported subnet with its CIDR
        block, so that its size can be checked.
    :param security_groups: 1 to 5. With EFA at least one must allow all traffic from and to itself, by group id. The cluster's own
        group is `network.security_group`. A file system admits another group by `lustre.allow_clients`.
    :raises ValueError: for too few or too many.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
    """

    subnets: Annotated[Sequence[ec2.ISubnet], SUBNETS]
    security_groups: Annotated[Sequence[ec2.ISecurityGroup], SECURITY_GROUPS]

    def render(self) -> sagemaker.CfnCluster.VpcConfigProperty:
        """The L1 struct."""
        return sagemaker.CfnCluster.VpcConfigProperty(
            subnets=[subnet.subnet_id for subnet in self.subnets],
            security_group_ids=[group.security_group_id for group in self.security_groups],
        )


class InterfaceType(StrEnum):
    """The kind of the network interfaces of nodes with EFA."""

    EFA = "efa"
    """Each network card carries EFA and IP, and takes an address of the subnet."""
    EFA_ONLY = "efa-only"
    """The cards beyond the first carry EFA alone, and take no address."""


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkInterface:
    """The network interfaces of the nodes of a group.

    :param interface_type: the kind; types without EFA take none.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterNetworkInterface.html
    """

    interface_type: InterfaceType

    def render(self) -> sagemaker.CfnCluster.ClusterNetworkInterfaceProperty:
        """The L1 struct."""
        return sagemaker.CfnCluster.ClusterNetworkInterfaceProperty(interface_type=self.interface_type.value)
