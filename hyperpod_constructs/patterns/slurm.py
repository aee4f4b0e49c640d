"""A Slurm cluster in one construct."""

from __future__ import annotations

from collections.abc import Mapping

import jsii
from aws_cdk import CfnOutput
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.values import ClusterName, NodeCount, TrainingPlanArn
from hyperpod_constructs.cluster.cluster import HyperPodCluster
from hyperpod_constructs.cluster.grants import ClusterGrants
from hyperpod_constructs.cluster.instance_group import EbsVolume, InstanceGroup, LustreMount
from hyperpod_constructs.cluster.instance_type import ClusterInstanceType
from hyperpod_constructs.custom_resources.readiness_gate import ReadinessGate
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.network import NodeNetwork
from hyperpod_constructs.node_software.lifecycle_scripts import LifecycleScripts
from hyperpod_constructs.node_software.node_type import SlurmNodeType
from hyperpod_constructs.storage.lustre import LustreSource

_VOLUME_GB = 500


@jsii.implements(ec2.IConnectable, iam.IGrantable)
class SlurmCluster(Construct):
    """A controller, an optional login node and a group of workers that share one Lustre file system at `/fsx`.

    Every node has a secondary volume of 500 GB at `/opt/sagemaker` for container images. The deployment waits until the controller
    and the login node are Running, and for the workers in `min_running`.

    The attribute `cluster` is the `HyperPodCluster` inside, for more groups and everything else.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: NodeNetwork,
        file_system: LustreSource,
        worker_type: ClusterInstanceType,
        worker_count: NodeCount,
        controller_type: ClusterInstanceType = ClusterInstanceType.M5_XLARGE,
        login_type: ClusterInstanceType | None = None,
        cluster_name: ClusterName | None = None,
        training_plan_arn: TrainingPlanArn | None = None,
        execution_role: iam.IRole | ExecutionRole | None = None,
        lifecycle_scripts: LifecycleScripts | None = None,
        min_running: Mapping[str, int] | None = None,
    ) -> None:
        """
        :param network: the nodes' network. A change **replaces** the cluster.
        :param file_system: the shared file system, mounted at `/fsx` on every node.
        :param worker_type: type of the group `workers`, partition `workers`. Do not change it later: see `InstanceGroup`.
        :param worker_count: number of workers.
        :param controller_type: type of the group `controller`, one node; ml.m5.xlarge unless given.
        :param login_type: type of the group `login`, one node; no login node when not given.
        :param cluster_name: name of the cluster; CloudFormation makes one when not given. A change **replaces** the cluster.
        :param training_plan_arn: reserved capacity for the workers; on-demand capacity when not given.
        :param execution_role: role of all nodes; a new role with the least permissions when not given.
        :param lifecycle_scripts: the nodes' scripts; the scripts of this library when not given.
        :param min_running: workers to wait for, such as `{"workers": 4}`; none unless given.
        :raises ValueError: see `HyperPodCluster` and `InstanceGroup`.
        """
        super().__init__(scope, id)
        self.cluster = HyperPodCluster(
            self,
            "Cluster",
            network=network,
            cluster_name=cluster_name,
            execution_role=execution_role,
            lifecycle_scripts=lifecycle_scripts,
        )
        nodes = (
            ("controller", SlurmNodeType.CONTROLLER, controller_type, 1, None),
            ("login", SlurmNodeType.LOGIN, login_type, 1, None),
            ("workers", SlurmNodeType.COMPUTE, worker_type, worker_count, training_plan_arn),
        )
        for name, node_type, instance_type, count, plan in nodes:
            if instance_type is not None:
                group = InstanceGroup(
                    name=name,
                    node_type=node_type,
                    instance_type=instance_type,
                    count=count,
                    training_plan_arn=plan,
                    ebs_volumes=(EbsVolume(size_gb=_VOLUME_GB),),
                    file_systems=(LustreMount(file_system=file_system),),
                )
                self.cluster.add_instance_group(group)
        self.readiness = ReadinessGate(self, "Readiness", cluster=self.cluster, min_running=min_running)
        CfnOutput(self, "ReadinessMessage", value=self.readiness.message, description="what runs, and what is missing")

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The role of all nodes: `bucket.grant_read_write(cluster)` lets them use a bucket.

        A group added with a role of its own needs a grant to that role.
        """
        return self.cluster.grant_principal

    @property
    def grants(self) -> ClusterGrants:
        """Permissions on the cluster: connect, read, manage nodes."""
        return self.cluster.grants

    @property
    def connections(self) -> ec2.Connections:
        """Rules from and to the nodes."""
        return self.cluster.connections
