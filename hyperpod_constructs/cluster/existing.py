"""A cluster from outside this app."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs._support.cluster_arn import cluster_id
from hyperpod_constructs._support.values import ClusterArn, ClusterName
from hyperpod_constructs.cluster.grants import ClusterGrants


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingCluster:
    """A cluster from outside this app; see `HyperPodCluster.from_cluster_arn` and `from_cluster_attributes`."""

    cluster_arn: ClusterArn
    cluster_name: ClusterName | None = None
    security_group: ec2.ISecurityGroup | None = None

    @property
    def cluster_id(self) -> str:
        """The last part of the ARN; Session Manager's targets and the log group contain it."""
        return cluster_id(self.cluster_arn)

    @property
    def grants(self) -> ClusterGrants:
        """Permissions on the cluster."""
        return ClusterGrants(self.cluster_arn)

    @property
    def connections(self) -> ec2.Connections:
        """Rules from and to the nodes; empty without a security group."""
        return ec2.Connections(security_groups=[] if self.security_group is None else [self.security_group])
