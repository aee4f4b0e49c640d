"""Autoscaling of a cluster on EKS by the service's Karpenter, and the role by which it adds and deletes nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk.interfaces.aws_kms import IKeyRef
from constructs import Construct

from hyperpod_constructs._support.arguments import checked, checked_value
from hyperpod_constructs.facts.node_permissions import CLUSTER_PRINCIPAL, SCALE_CLUSTER, USE_VOLUME_KEYS
from hyperpod_constructs.rules.plugin import register_rules


class AutoScalingMode(StrEnum):
    """Whether a cluster scales by itself."""

    ENABLE = "Enable"
    DISABLE = "Disable"


class AutoScalerType(StrEnum):
    """The program that scales a cluster."""

    KARPENTER = "Karpenter"


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class AutoScaling:
    """Nodes by demand: the service runs Karpenter, which fills the groups of a `HyperpodNodeClass` from 0 nodes.

    It needs continuous provisioning and automatic node recovery. While it is enabled, the service refuses another `cluster_role`:
    to change the role, or to end autoscaling, deploy `AutoScalingMode.DISABLE` first.

    :param mode: enabled unless given.
    :param auto_scaler_type: Karpenter, the only one.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling.html
    """

    mode: AutoScalingMode = AutoScalingMode.ENABLE
    auto_scaler_type: AutoScalerType = AutoScalerType.KARPENTER

    def render(self) -> sagemaker.CfnCluster.ClusterAutoScalingConfigProperty:
        """The L1 struct."""
        return sagemaker.CfnCluster.ClusterAutoScalingConfigProperty(
            mode=self.mode.value, auto_scaler_type=self.auto_scaler_type.value
        )


class ClusterRole(Construct):
    """The role by which HyperPod adds and deletes nodes of the clusters of this account and region.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        volume_keys: Sequence[IKeyRef] = (),
        permissions_boundary: iam.IManagedPolicy | None = None,
    ) -> None:
        """
        :param volume_keys: the keys that encrypt volumes of the nodes; none unless given. A cluster with a role of its own adds
            those of its groups.
        :param permissions_boundary: limits the role; none when not given.
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        self._role = iam.Role(
            self,
            "Resource",
            assumed_by=iam.ServicePrincipal(CLUSTER_PRINCIPAL),
            description="SageMaker HyperPod autoscaling",
            permissions_boundary=permissions_boundary,
        )
        clusters = Stack.of(self).format_arn(service="sagemaker", resource="cluster", resource_name="*")
        self._role.add_to_policy(iam.PolicyStatement(actions=list(SCALE_CLUSTER), resources=[clusters]))
        self.add_volume_keys(volume_keys)

    @property
    def role(self) -> iam.Role:
        """The role itself."""
        return self._role

    @checked
    def add_volume_keys(self, keys: Sequence[IKeyRef]) -> None:
        """Let new nodes have volumes with these keys, used by SageMaker alone."""
        if keys:
            self._role.add_to_policy(
                iam.PolicyStatement(
                    actions=list(USE_VOLUME_KEYS),
                    resources=[key.key_ref.key_arn for key in keys],
                    conditions={"StringLike": {"kms:ViaService": f"sagemaker.*.{Stack.of(self).url_suffix}"}},
                )
            )
