"""Restricted instance groups with their environment: a service-managed file system for the training of Amazon Nova models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.values import (
    EnvironmentSize,
    EnvironmentThroughput,
    GroupName,
    NodeCount,
    ThreadsPerCore,
    TrainingPlanArn,
)
from hyperpod_constructs.cluster.group_network import OverrideVpcConfig
from hyperpod_constructs.cluster.instance_group import DeepHealthCheck, PlanSource
from hyperpod_constructs.cluster.instance_type import ClusterInstanceType
from hyperpod_constructs.cluster.storage_configs import EbsVolume
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.facts.mistake import Mistake


class FSxLustreDeletionPolicy(StrEnum):
    """The end of a shared file system."""

    KEEP = "Keep"
    """It stays when restricted groups are removed, with its cost."""
    DELETE_IF_NOT_USED = "DeleteIfNotUsed"
    """It goes, with its files, when no restricted group uses it any more."""


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class FSxLustreConfig:
    """An FSx for Lustre file system that the service makes and manages. FSx bills it to the account.

    :param size_in_gib: 1200 to 100800 GiB.
    :param per_unit_storage_throughput: 125 to 1000 MB/s per TiB.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_FSxLustreConfig.html
    """

    size_in_gib: EnvironmentSize
    per_unit_storage_throughput: EnvironmentThroughput

    def render(self) -> sagemaker.CfnCluster.FSxLustreConfigProperty:
        """The L1 struct."""
        return sagemaker.CfnCluster.FSxLustreConfigProperty(
            size_in_gib=self.size_in_gib, per_unit_storage_throughput=self.per_unit_storage_throughput
        )


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentConfig:
    """The environment of one restricted group.

    :param fsx_lustre_config: the group's own file system. It goes with the group, and stays with a group of no nodes.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_EnvironmentConfig.html
    """

    fsx_lustre_config: FSxLustreConfig

    def render(self) -> sagemaker.CfnCluster.EnvironmentConfigProperty:
        """The L1 struct."""
        return sagemaker.CfnCluster.EnvironmentConfigProperty(f_sx_lustre_config=self.fsx_lustre_config.render())


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class SharedEnvironmentConfig:
    """The environment that the restricted groups of a cluster share.

    :param fsx_lustre_config: the shared file system.
    :param fsx_lustre_deletion_policy: its end; it is kept unless given.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterSharedEnvironmentConfig.html
    """

    fsx_lustre_config: FSxLustreConfig
    fsx_lustre_deletion_policy: FSxLustreDeletionPolicy = FSxLustreDeletionPolicy.KEEP

    def render(self) -> sagemaker.CfnCluster.RestrictedInstanceGroupsConfigProperty:
        """The L1 struct: the cluster's `RestrictedInstanceGroupsConfig`, which holds nothing else."""
        return sagemaker.CfnCluster.RestrictedInstanceGroupsConfigProperty(
            shared_environment_config=sagemaker.CfnCluster.SharedEnvironmentConfigProperty(
                f_sx_lustre_config=self.fsx_lustre_config.render(),
                f_sx_lustre_deletion_policy=self.fsx_lustre_deletion_policy.value,
            )
        )


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class RestrictedInstanceGroup:
    """Nodes for the training of Amazon Nova models, in a cluster that EKS orchestrates.

    Nobody can open a shell on them, and they run images of Nova alone. They have no lifecycle scripts, no settings of Slurm or
    Kubernetes, and no file system but the service's.

    :param name: the group's name. A change removes the group, with its nodes and its own file system, and makes another.
    :param instance_type: the type, fixed at creation; one that Nova's recipes support, such as `ml.p5.48xlarge`.
    :param count: number of nodes, 0 to 6758. With 0 the group's own file system stays.
    :param environment_config: the group's own file system; the shared one of the cluster when not given.
    :param threads_per_core: 1 switches simultaneous multithreading off, fixed at creation; the type's default when not given.
    :param ebs_volumes: at most one secondary volume and one root volume; the service's root volume alone unless given.
    :param training_plan_arn: reserved capacity: an ARN or a `TrainingPlan`; on-demand capacity when not given.
    :param override_vpc_config: the one subnet in the zone of the capacity, with security groups, fixed at creation; the cluster's
        when not given.
    :param deep_health_checks: checks before a node takes work; none unless given. They need accelerators, and
        `INSTANCE_CONNECTIVITY` needs two nodes or more.
    :raises ValueError: for two volumes of one kind, or checks that the nodes cannot run.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterRestrictedInstanceGroupSpecification.html
    """

    name: GroupName
    instance_type: ClusterInstanceType
    count: NodeCount
    environment_config: EnvironmentConfig | None = None
    threads_per_core: ThreadsPerCore | None = None
    ebs_volumes: Sequence[EbsVolume] = ()
    training_plan_arn: TrainingPlanArn | PlanSource | None = None
    override_vpc_config: OverrideVpcConfig | None = None
    deep_health_checks: Sequence[DeepHealthCheck] = ()

    def __post_init__(self) -> None:
        mistake = self._mistake()
        if mistake is not None:
            raise ValueError(f"RestrictedInstanceGroup {self.name!r}: {mistake}")

    def render(self, *, role_arn: str) -> sagemaker.CfnCluster.ClusterRestrictedInstanceGroupProperty:
        """The L1 struct.

        :param role_arn: the role of the nodes, which holds all their permissions.
        """
        plan, environment, network = self.training_plan_arn, self.environment_config, self.override_vpc_config
        return sagemaker.CfnCluster.ClusterRestrictedInstanceGroupProperty(
            instance_group_name=self.name,
            instance_type=self.instance_type.name,
            instance_count=self.count,
            execution_role=role_arn,
            environment_config=None if environment is None else environment.render(),
            threads_per_core=self.threads_per_core,
            instance_storage_configs=[volume.render() for volume in self.ebs_volumes] or None,
            training_plan_arn=plan if plan is None or isinstance(plan, str) else plan.training_plan_arn,
            override_vpc_config=None if network is None else network.render(),
            on_start_deep_health_checks=[check.value for check in self.deep_health_checks] or None,
        )

    def _mistake(self) -> Mistake | None:
        for root, kind in ((True, "root volume"), (False, "secondary volume")):
            count = sum(volume.root is root for volume in self.ebs_volumes)
            if count > 1:
                return cluster_facts.too_many_of_kind(count, kind)
        known = self.instance_type.vcpus is not None
        if self.deep_health_checks and known and not self.instance_type.accelerator:
            return cluster_facts.checks_without_accelerator([self.instance_type.name])
        alone = not is_unknown(self.count) and self.count == 1
        return cluster_facts.CONNECTIVITY_OF_ONE if alone and _CONNECTIVITY in self.deep_health_checks else None


_CONNECTIVITY = DeepHealthCheck.INSTANCE_CONNECTIVITY
