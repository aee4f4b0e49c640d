"""A HyperPod cluster as governance sees it: its L1, with the groups that a test wants."""

from __future__ import annotations

from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from hyperpod_constructs import ExistingControlPlane
from tests.eks import LAYER

ROLE = "arn:aws:iam::123456789012:role/nodes"


class Governed(Construct):
    """A cluster on EKS with groups by type and number."""

    def __init__(self, scope: Construct, id: str = "Cluster", *, orchestrator: str = "eks", **groups: tuple[str, Any]) -> None:
        super().__init__(scope, id)
        kinds = sagemaker.CfnCluster.OrchestratorProperty
        eks_config = sagemaker.CfnCluster.ClusterOrchestratorEksConfigProperty(
            cluster_arn="arn:aws:eks:us-west-2:123456789012:cluster/k"
        )
        slurm = sagemaker.CfnCluster.ClusterOrchestratorSlurmConfigProperty()
        self.resource = sagemaker.CfnCluster(
            self,
            "Resource",
            orchestrator=kinds(eks=eks_config) if orchestrator == "eks" else kinds(slurm=slurm),
            vpc_config=sagemaker.CfnCluster.VpcConfigProperty(security_group_ids=["sg-1"], subnets=["subnet-1"]),
            instance_groups=[
                sagemaker.CfnCluster.ClusterInstanceGroupProperty(
                    instance_group_name=name, instance_type=kind, instance_count=count, execution_role=ROLE
                )
                for name, (kind, count) in groups.items()
            ],
        )

    @property
    def cluster_arn(self) -> str:
        """The ARN."""
        return self.resource.attr_cluster_arn


def control_plane_of(stack: Stack) -> ExistingControlPlane:
    """An EKS cluster from outside, with a role and a layer for kubectl that are there too."""
    role = iam.Role.from_role_arn(stack, "KubectlRole", "arn:aws:iam::123456789012:role/kubectl")
    layer = lambda_.LayerVersion.from_layer_version_arn(stack, "Layer", LAYER)
    return ExistingControlPlane(stack, "Kubernetes", cluster_name="k", kubectl_role=role, kubectl_layer=layer)
