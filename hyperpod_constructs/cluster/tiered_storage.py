"""Managed tiered checkpointing: memory of the nodes as the first tier of checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.values import MemoryPercentage
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.facts import orchestration


class TieredStorageMode(StrEnum):
    """Whether a cluster has tiered storage."""

    ENABLE = "Enable"
    """The service runs its memory daemon on the nodes."""
    DISABLE = "Disable"
    """The service takes the daemon away, with the checkpoints in memory."""


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class TieredStorage:
    """Memory of the nodes for checkpoints, which go to S3 less often.

    :param mode: enabled unless given.
    :param instance_memory_allocation_percentage: percent of each node's memory, 20 to 100; the service decides when not given.
    :raises ValueError: for a percentage below 20: the API takes it, and checkpoints may not fit.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/managed-tier-checkpointing-setup.html
    """

    mode: TieredStorageMode = TieredStorageMode.ENABLE
    instance_memory_allocation_percentage: MemoryPercentage | None = None

    def __post_init__(self) -> None:
        percentage = self.instance_memory_allocation_percentage
        if percentage is not None and not is_unknown(percentage) and percentage < cluster_facts.LEAST_TIERED_PERCENTAGE:
            raise ValueError(f"TieredStorage: {orchestration.tiered_share(percentage)}")

    def render(self) -> sagemaker.CfnCluster.TieredStorageConfigProperty:
        """The L1 struct."""
        return sagemaker.CfnCluster.TieredStorageConfigProperty(
            mode=self.mode.value, instance_memory_allocation_percentage=self.instance_memory_allocation_percentage
        )
