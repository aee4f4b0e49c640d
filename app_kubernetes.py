"""The half of the reference app for Kubernetes; `app.py` imports it only for a cluster on EKS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import CfnOutput, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from app_network import blocks_behind_the_public_subnet
from app_settings import Chart, Settings
from hyperpod_constructs import (
    ClusterNetwork,
    ComputeQuotaResource,
    EksCluster,
    EksControlPlane,
    HyperPodChart,
    LifecycleScripts,
    NodeInventory,
    Preflight,
    PriorityClass,
    Team,
)

if TYPE_CHECKING:
    from app import Foundation

LOCK = "hyperpod-chart.lock"
PRIORITIES = (
    PriorityClass(name="high", weight=90),
    PriorityClass(name="normal", weight=50),
    PriorityClass(name="low", weight=10),
)
_CONTROL_PLANE_PREFIX = 28


def control_plane_subnets(network: ClusterNetwork, settings: Settings) -> list[ec2.ISubnet]:
    """The subnets of the control plane: the first addresses behind the public subnet, which is the first /24 of the VPC.

    :raises ValueError: if the VPC's block has no room for them.
    """
    blocks = blocks_behind_the_public_subnet(settings.cidr, _CONTROL_PLANE_PREFIX, "the control plane's subnets")
    return [
        network.add_control_plane_subnet(f"ControlPlane{letter}", cidr=block, availability_zone_id=zone)
        for letter, zone, block in zip("AB", settings.control_plane_zone_ids, blocks, strict=False)
    ]


class KubernetesCluster(Stack):
    """The control plane, HyperPod's nodes behind it, and the teams that share them."""

    def __init__(self, scope: Construct, id: str, *, settings: Settings, foundation: Foundation, env: Environment) -> None:
        super().__init__(scope, id, env=env, stack_name=f"HyperPod-{id}", description="HyperPod: Kubernetes cluster")
        self.control_plane = EksControlPlane(
            self,
            "ControlPlane",
            network=foundation.network,
            subnets=foundation.control_plane_subnets,
            version=settings.kubernetes_version,
            default_capacity=settings.system_node_count,
            encryption_key=foundation.key,
        )
        self.kubernetes = EksCluster(
            self,
            "Kubernetes",
            network=foundation.network,
            control_plane=self.control_plane,
            chart=HyperPodChart.stand_in() if settings.chart is Chart.STAND_IN else HyperPodChart.from_cache(lock=LOCK),
            file_system=foundation.file_system,
            instance_groups=[group.render(threads_per_core=settings.threads_per_core) for group in settings.workers],
            cluster_name=settings.cluster_name,
            node_recovery=settings.node_recovery,
            alarms_topic=foundation.alarms,
            encryption_key=foundation.key,
            priority_classes=PRIORITIES,
            lifecycle_scripts=LifecycleScripts.from_asset(bucket=foundation.scripts),
            min_running={name: count for name, count in settings.min_running.items() if count} or None,
        )
        self.admins = self._admit_admins(settings.admin_role_arn)
        self.teams = self._add_teams(settings)
        cluster = self.kubernetes.cluster
        if settings.preflight:
            Preflight(self, "Preflight", cluster=cluster)
        inventory = NodeInventory(self, "Inventory", cluster=cluster, awaits=[self.kubernetes.readiness])
        # Nodes delete through the file system, so the versions that protect the data are out of their reach.
        nodes = self.kubernetes.grant_principal
        foundation.data.grant_read(nodes)
        foundation.data.grant_put(nodes)
        self._create_outputs(foundation, inventory.cluster_name)

    def _admit_admins(self, given: str | None) -> iam.IRole:
        """The role of the administrators, who may do everything in the Kubernetes API. Nobody else has access but the teams."""
        if given is None:
            role: iam.IRole = iam.Role(self, "Admins", assumed_by=iam.AccountRootPrincipal())
            self.kubernetes.grants.read(role)
            iam.Grant.add_to_principal(
                grantee=role, actions=["eks:DescribeCluster"], resource_arns=[self.control_plane.cluster_arn]
            )
        else:
            role = iam.Role.from_role_arn(self, "Admins", given, mutable=False)
        self.control_plane.access.grant_admin(role)
        return role

    def _add_teams(self, settings: Settings) -> list[Team]:
        """The teams, each with whole instances of the first group's type."""
        return [
            self.kubernetes.add_team(
                f"Team{team.name.title()}",
                name=team.name,
                resources=[ComputeQuotaResource(instance_type=settings.shared_type, count=team.nodes)],
            )
            for team in settings.teams
        ]

    def _create_outputs(self, foundation: Foundation, cluster_name: str) -> None:
        """What `hyp`, the command of HyperPod for Kubernetes, reads from a stack, and the roles of people.

        Source: https://github.com/aws/sagemaker-hyperpod-cluster-setup
        """
        network, cluster = foundation.network, self.kubernetes.cluster
        read_by_hyp = {
            "OutputVpcId": network.vpc.vpc_id,
            "OutputPrivateSubnetIds": network.node_subnet.subnet_id,
            "OutputSecurityGroupId": network.security_group.security_group_id,
            "OutputEKSClusterArn": self.control_plane.cluster_arn,
            "OutputEKSClusterName": self.control_plane.cluster_name,
            "OutputSageMakerIAMRoleArn": cluster.execution_role.role_arn,
            "OutputS3BucketName": foundation.scripts.bucket_name,
            "OutputHyperPodClusterName": cluster_name,
            "OutputHyperPodClusterArn": cluster.cluster_arn,
        }
        for name, value in read_by_hyp.items():
            CfnOutput(self, name, value=value)
        CfnOutput(self, "AdminRoleArn", value=self.admins.role_arn, description="the role of the administrators of Kubernetes")
        command = "aws eks update-kubeconfig --name {} --region {} --role-arn {}"
        CfnOutput(
            self,
            "AdminKubeconfig",
            value=command.format(self.control_plane.cluster_name, self.region, self.admins.role_arn),
            description="lets kubectl find the cluster, as an administrator",
        )
