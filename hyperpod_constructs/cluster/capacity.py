"""The kind of capacity of an instance group."""

from __future__ import annotations

from enum import StrEnum

from aws_cdk import aws_sagemaker as sagemaker


class CapacityRequirements(StrEnum):
    """The kind of capacity of a group, fixed at its creation.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-spot.html
    """

    ON_DEMAND = "OnDemand"
    """Capacity that stays until you give it back."""
    SPOT = "Spot"
    """Spare capacity, which AWS takes back when it needs it: on EKS with continuous provisioning, and not with a training plan."""

    def render(self) -> sagemaker.CfnCluster.ClusterCapacityRequirementsProperty:
        """The L1 struct."""
        if self is CapacityRequirements.SPOT:
            return sagemaker.CfnCluster.ClusterCapacityRequirementsProperty(spot={})
        return sagemaker.CfnCluster.ClusterCapacityRequirementsProperty(on_demand={})
