"""The orchestrator of a cluster, which schedules its jobs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_constructs._support.arguments import checked, checked_value


class SlurmConfigStrategy(StrEnum):
    """The service's handling of manual edits to partitions; see `Orchestrator.slurm`."""

    OVERWRITE = "Overwrite"
    """The API's partitions replace manual edits."""
    MANAGED = "Managed"
    """A manual edit makes the next update of the cluster fail."""
    MERGE = "Merge"
    """Manual edits are kept."""


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class Orchestrator:
    """The orchestrator of a cluster; made by `Orchestrator.slurm`."""

    slurm_config_strategy: SlurmConfigStrategy | None = None

    @staticmethod
    @checked
    def slurm(*, config_strategy: SlurmConfigStrategy | None = None) -> Orchestrator:
        """Slurm, set up by the service through its API (`SlurmConfig` of each group), never through `provisioning_parameters.json`.

        :param config_strategy: the handling of manual edits to partitions; the service's default when not given (documented as
            Managed in one place, as Merge in another). With continuous provisioning the service always keeps edits and refuses the
            setting, so give it only with `node_provisioning_mode=None`.
        """
        return Orchestrator(slurm_config_strategy=config_strategy)

    def render(self) -> sagemaker.CfnCluster.OrchestratorProperty:
        """The L1 struct."""
        strategy = self.slurm_config_strategy
        return sagemaker.CfnCluster.OrchestratorProperty(
            slurm=sagemaker.CfnCluster.ClusterOrchestratorSlurmConfigProperty(
                slurm_config_strategy=None if strategy is None else strategy.value
            )
        )
