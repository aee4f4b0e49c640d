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
from hyperpod_constructs.cluster.scheduling import Account, Partition, Priority, Qos, Scheduling


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
    partitions: Sequence[Partition] = ()
    qos: Sequence[Qos] = ()
    accounts: Sequence[Account] = ()
    priority: Priority | None = None

    def __post_init__(self) -> None:
        slurm = ("slurm_config_strategy", "accounting_database")
        given = [name for name in slurm if getattr(self, name) is not None] + self.scheduling.given
        if given and self.control_plane is not None:
            raise ValueError(
                f"Orchestrator has settings of Slurm ({', '.join(given)}) beside a control plane; the service takes one "
                "orchestrator: write Orchestrator.eks(...) or Orchestrator.slurm(...)"
            )
        mistake = self.scheduling.mistake()
        if mistake is not None:
            raise ValueError(f"Orchestrator.slurm: {mistake}")

    @staticmethod
    @checked
    def slurm(
        *,
        config_strategy: SlurmConfigStrategy | None = None,
        accounting_database: AccountingDatabase | None = None,
        partitions: Sequence[Partition] = (),
        qos: Sequence[Qos] = (),
        accounts: Sequence[Account] = (),
        priority: Priority | None = None,
    ) -> Orchestrator:
        """Slurm, set up by the service through its API (`SlurmConfig` of each group), never through `provisioning_parameters.json`.

        :param config_strategy: the handling of manual edits to partitions; the service's default when not given (documented as
            Managed in one place, as Merge in another). With continuous provisioning the service always keeps edits and refuses the
            setting, so give it only with `node_provisioning_mode=None`.
        :param accounting_database: a database of your own for accounting, with continuous provisioning only; MariaDB on the
            controller when not given. Once given it can be changed, but never left out.
        :param partitions: partitions over several groups, beside the service's own; none unless given. This and the following need
            this library's scripts on the controller, which applies a change when it is replaced or updated.
        :param qos: qualities of service: priorities, limits, preemption; Slurm's own unless given. With QOS or accounts Slurm
            refuses jobs of users without an account, and jobs beyond a limit.
        :param accounts: accounts with shares, limits and users; one account for all users unless given. What leaves the settings
            stays in the database.
        :param priority: the weights of a waiting job's priority; the defaults of `Priority` with QOS or accounts, first come first
            served without them.
        :raises ValueError: for two of one name, a name that is not defined, QOS that preempt each other, or accounts that are each
            other's parents.
        """
        return Orchestrator(
            slurm_config_strategy=config_strategy,
            accounting_database=accounting_database,
            partitions=partitions,
            qos=qos,
            accounts=accounts,
            priority=priority,
        )

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

    @property
    def scheduling(self) -> Scheduling:
        """Slurm's partitions, QOS and accounts, which no property of the service has: the scripts apply them."""
        return Scheduling(partitions=self.partitions, qos=self.qos, accounts=self.accounts, priority=self.priority)

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
