"""Orchestrators: what each renders, and what excludes what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from aws_cdk import App, CfnParameter, Stack
from aws_cdk import aws_sagemaker as sagemaker
from constructs import IDependable

from hyperpod_constructs import Orchestrator, SlurmConfigStrategy
from tests.conftest import only

EKS_ARN = "arn:aws:eks:us-west-2:123456789012:cluster/k"


@dataclass(frozen=True)
class ControlPlane:
    """A control plane, as small as the protocol allows."""

    cluster_arn: str = EKS_ARN
    cluster_name: str = "k"
    awaited: Sequence[IDependable] = ()


def test_eks_renders_the_arn_of_the_control_plane() -> None:
    stack = Stack(App(), "Stack")
    name = CfnParameter(stack, "Name").value_as_string
    arn = stack.format_arn(service="eks", resource="cluster", resource_name=name)
    orchestrator = Orchestrator.eks(ControlPlane(cluster_arn=arn))
    sagemaker.CfnCluster(stack, "Cluster", orchestrator=orchestrator.render())
    assert only(stack, "AWS::SageMaker::Cluster")["Properties"]["Orchestrator"] == {"Eks": {"ClusterArn": stack.resolve(arn)}}
    assert orchestrator.on_eks
    assert not Orchestrator.slurm().on_eks


def test_fails_on_what_is_no_control_plane() -> None:
    with pytest.raises(TypeError, match=r"control_plane is 'arn.* allowed: an EksControlPlane"):
        Orchestrator.eks(EKS_ARN)  # type: ignore[arg-type]


def test_fails_on_settings_of_slurm_beside_a_control_plane() -> None:
    with pytest.raises(ValueError, match=r"Orchestrator has settings of Slurm .* beside a control plane"):
        Orchestrator(control_plane=ControlPlane(), slurm_config_strategy=SlurmConfigStrategy.MERGE)
