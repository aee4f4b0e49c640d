"""The orchestrator of a cluster, which schedules its jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from aws_cdk import aws_sagemaker as sagemaker
from constructs import IDependable

from hyperpod_constructs._support.arguments import checked, checked_value
from hyperpod_constructs.cluster.accounting_database import AccountingDatabase


class SlurmConfigStrategy(StrEnum):
    """The service's handling of manual edits to partitions; see `Orchestrator.slurm`."""

    OVERWRITE = "Overwrite"
    """The API's partitions replace manual edits."""
    MANAGED = "Managed"
    """A manual edit makes the next update of the cluster fail."""
    MERGE = "Merge"
    """Manual edits are kept."""


class ControlPlaneSource(Protocol):
    """An EKS cluster that the nodes join."""

    @property
    def cluster_arn(self) -> str:
        """The ARN of the EKS cluster."""
        ...

    @property
    def cluster_name(self) -> str:
        """The name of the EKS cluster."""
        ...

    @property
    def awaited(self) -> Sequence[IDependable]:
        """The prerequisites of the HyperPod cluster: the service's chart, access entries, add-ons that need no nodes."""
        ...


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class Orchestrator:
    """The orchestrator of a cluster; made by `Orchestrator.slurm` or `Orchestrator.eks`."""

    slurm_config_strategy: SlurmConfigStrategy | None = None
    accounting_database: AccountingDatabase | None = None
    control_plane: ControlPlaneSource | None = None

    def __post_init__(self) -> None:
        slurm = ("slurm_config_strategy", "accounting_database")
        given = [name for name in slurm if getattr(self, name) is not None]
        if given and self.control_plane is not None:
            raise ValueError(
                f"Orchestrator has settings of Slurm ({', '.join(given)}) beside a control plane; the service takes one "
                "orchestrator: write Orchestrator.eks(...) or Orchestrator.slurm(...)"
            )

    @staticmethod
    @checked
    def slurm(
        *, config_strategy: SlurmConfigStrategy | None = None, accounting_database: AccountingDatabase | None = None
    ) -> Orchestrator:
        """Slurm, set up by the service through its API (`SlurmConfig` of each group), never through `provisioning_parameters.json`.

        :param config_strategy: the handling of manual edits to partitions; the service's default when not given (documented as
            Managed in one place, as Merge in another). With continuous provisioning the service always keeps edits and refuses the
            setting, so give it only with `node_provisioning_mode=None`.
        :param accounting_database: a database of your own for accounting, with continuous provisioning only; MariaDB on the
            controller when not given. Once given it can be changed, but never left out.
        """
        return Orchestrator(slurm_config_strategy=config_strategy, accounting_database=accounting_database)

    @staticmethod
    @checked
    def eks(control_plane: ControlPlaneSource) -> Orchestrator:
        """Kubernetes: the nodes join an EKS cluster.

        :param control_plane: the EKS cluster, in the VPC of the nodes. The HyperPod cluster awaits its prerequisites. A change to
            another EKS cluster **replaces** the HyperPod cluster, with every node.
        """
        return Orchestrator(control_plane=control_plane)

    @property
    def on_eks(self) -> bool:
        """Whether Kubernetes schedules the jobs."""
        return self.control_plane is not None

    def render(self) -> sagemaker.CfnCluster.OrchestratorProperty:
        """The L1 struct."""
        if self.control_plane is not None:
            return sagemaker.CfnCluster.OrchestratorProperty(
                eks=sagemaker.CfnCluster.ClusterOrchestratorEksConfigProperty(cluster_arn=self.control_plane.cluster_arn)
            )
        strategy = self.slurm_config_strategy
        return sagemaker.CfnCluster.OrchestratorProperty(
            slurm=sagemaker.CfnCluster.ClusterOrchestratorSlurmConfigProperty(
                slurm_config_strategy=None if strategy is None else strategy.value,
                accounting_database=None if self.accounting_database is None else self.accounting_database.render(),
            )
        )
