"""Automatic security patches of a group's image."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs.cluster.deployment import DeploymentConfiguration


class PatchingStrategy(StrEnum):
    """The nodes that a patch takes."""

    WHEN_IDLE = "WhenIdle"
    """Each node as soon as it has no job. A node that never is without keeps its image."""
    WHEN_ALL_IDLE = "WhenAllIdle"
    """All nodes when none has a job, or no node at all."""


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class AutoPatchConfig:
    """Security patches of the image as they come out. A patch gives nodes new root volumes.

    The service takes no new jobs for the nodes while it waits for them. The date of the next patch is its own: CloudFormation reads
    `PatchSchedule` only.

    :param patching_strategy: the nodes that a patch takes.
    :param deployment_config: batches, waits and rollback. The service looks at it only with the strategy `DrainFirst`, which
        CloudFormation does not know; none unless given.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAutoPatchConfig.html
    """

    patching_strategy: PatchingStrategy
    deployment_config: DeploymentConfiguration | None = None

    def render(self) -> sagemaker.CfnCluster.AutoPatchConfigProperty:
        """The L1 struct."""
        deployment = self.deployment_config
        return sagemaker.CfnCluster.AutoPatchConfigProperty(
            patching_strategy=self.patching_strategy.value, deployment_config=None if deployment is None else deployment.render()
        )
