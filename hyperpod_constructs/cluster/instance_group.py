"""Instance groups of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeVar

from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk.interfaces.aws_cloudwatch import IAlarmRef
from aws_cdk.interfaces.aws_kms import IKeyRef

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.values import (
    GroupName,
    ImageId,
    ImageReleaseVersion,
    MinimumCount,
    NodeCount,
    PartitionName,
    ThreadsPerCore,
    TrainingPlanArn,
)
from hyperpod_constructs.cluster.capacity import CapacityRequirements
from hyperpod_constructs.cluster.deployment import ScheduledUpdateConfig
from hyperpod_constructs.cluster.group_network import NetworkInterface, OverrideVpcConfig
from hyperpod_constructs.cluster.instance_type import ClusterInstanceType
from hyperpod_constructs.cluster.kubernetes_config import KubernetesConfig
from hyperpod_constructs.cluster.patching import AutoPatchConfig
from hyperpod_constructs.cluster.storage_configs import EbsVolume, FileSystemMount, LustreMount, OpenZfsMount
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.facts import orchestration
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.node_software.lifecycle_mode import LifecycleMode
from hyperpod_constructs.node_software.node_type import SlurmNodeType

Struct = TypeVar("Struct", covariant=True)


class PlanSource(Protocol):
    """A training plan in the template, such as `TrainingPlan`."""

    @property
    def training_plan_arn(self) -> str:
        """Its ARN."""
        ...


class DeepHealthCheck(StrEnum):
    """A check of a node with accelerators, before it takes work."""

    INSTANCE_STRESS = "InstanceStress"
    INSTANCE_CONNECTIVITY = "InstanceConnectivity"


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceGroup:
    """Nodes of one role in a Slurm cluster, or of one kind in a cluster on EKS.

    :param name: the group's name. A change removes the group with its nodes and makes another.
    :param instance_type: one type, or several in order of preference (up to 20; needs continuous provisioning). Do not change it
        for an existing group, because the documentation does not allow it: add a group and remove the old one.
    :param count: number of nodes, 0 to 6758. With a lower count the service chooses nodes and deletes them.
    :param min_count: nodes that the group needs to start; no minimum when not given. If they are not there within three hours, the
        service rolls the change back.
    :param node_type: role in Slurm; compute nodes unless given. It cannot be changed later. On EKS every node is a compute node.
    :param partition: partition of compute nodes: letters, digits and hyphens; the group's name unless given. Not on EKS.
    :param kubernetes_config: labels and taints of the nodes; none unless given. On EKS only.
    :param threads_per_core: 1 switches simultaneous multithreading off; the type's default when not given.
    :param ebs_volumes: at most one secondary volume and one root volume; the service's root volume alone unless given.
    :param file_systems: at most one Lustre and one OpenZFS file system; none unless given. The service mounts them. Only new nodes
        see a change. On EKS pods get file systems from persistent volumes instead.
    :param lifecycle_mode: time of the cluster's scripts. Unless given: after the image's own set-up with Slurm, `ON_CREATE` on EKS.
    :param training_plan_arn: reserved capacity in the subnet's zone: an ARN, or a `TrainingPlan`, whose check the cluster then
        awaits; on-demand capacity when not given.
    :param capacity_requirements: on demand or spot, fixed at creation; on demand when not given. Spot is for clusters on EKS with
        continuous provisioning.
    :param override_vpc_config: subnets and security groups of this group alone, fixed at creation; the cluster's when not given.
    :param network_interface: kind of the network interfaces of types with EFA; the service decides when not given. Only new nodes
        see a change.
    :param image_id: `default`, a public image of HyperPod, or one of your account, unencrypted and with one volume; the latest of
        the service when not given. A change **replaces the root volumes of all nodes**.
    :param image_release_version: release of the service's image, such as `1.2.3`; the latest when not given. A change **replaces
        the root volumes of all nodes**. For clusters on EKS.
    :param auto_patch_config: security patches as they come out; none unless given.
    :param scheduled_update_config: regular updates of the image; none unless given.
    :param deep_health_checks: checks before a node takes work; none unless given. They need accelerators, and
        `INSTANCE_CONNECTIVITY` needs two nodes or more.
    :param execution_role: role of these nodes; the cluster's role unless given.
    :raises ValueError: for a mistake within the group; the cluster checks the groups together.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html
    """

    name: GroupName
    instance_type: ClusterInstanceType | Sequence[ClusterInstanceType]
    count: NodeCount
    min_count: MinimumCount | None = None
    node_type: SlurmNodeType = SlurmNodeType.COMPUTE
    partition: PartitionName | None = None
    kubernetes_config: KubernetesConfig | None = None
    threads_per_core: ThreadsPerCore | None = None
    ebs_volumes: Sequence[EbsVolume] = ()
    file_systems: Sequence[FileSystemMount] = ()
    lifecycle_mode: LifecycleMode | None = None
    training_plan_arn: TrainingPlanArn | PlanSource | None = None
    capacity_requirements: CapacityRequirements | None = None
    override_vpc_config: OverrideVpcConfig | None = None
    network_interface: NetworkInterface | None = None
    image_id: ImageId | None = None
    image_release_version: ImageReleaseVersion | None = None
    auto_patch_config: AutoPatchConfig | None = None
    scheduled_update_config: ScheduledUpdateConfig | None = None
    deep_health_checks: Sequence[DeepHealthCheck] = ()
    execution_role: iam.IRole | ExecutionRole | None = None

    def __post_init__(self) -> None:
        self._check_types()
        self._check_counts()
        self._check_capacity()
        self._check_storage()
        self._check_slurm()
        self._check_health()

    @property
    def instance_types(self) -> tuple[ClusterInstanceType, ...]:
        """The type, or the types in order of preference."""
        if isinstance(self.instance_type, ClusterInstanceType):
            return (self.instance_type,)
        return tuple(self.instance_type)

    @property
    def volume_keys(self) -> list[IKeyRef]:
        """The keys that encrypt volumes."""
        return [volume.kms_key for volume in self.ebs_volumes if volume.kms_key is not None]

    @property
    def rollback_alarms(self) -> list[IAlarmRef]:
        """The alarms that roll an update back."""
        configured = (self.scheduled_update_config, self.auto_patch_config)
        deployments = [one.deployment_config for one in configured if one is not None and one.deployment_config is not None]
        return [alarm for one in deployments for alarm in one.auto_rollback_configuration or ()]

    @property
    def partition_name(self) -> str:
        """The partition of a compute group: the given one, or the group's name."""
        return self.name if self.partition is None else self.partition

    def mode(self, *, on_eks: bool) -> LifecycleMode:
        """The time of the cluster's scripts, with the orchestrator's default."""
        if self.lifecycle_mode is not None:
            return self.lifecycle_mode
        return LifecycleMode.ON_CREATE if on_eks else LifecycleMode.ON_INIT_COMPLETE

    def render(
        self, *, role_arn: str, scripts: sagemaker.CfnCluster.ClusterLifeCycleConfigProperty | None, on_eks: bool = False
    ) -> sagemaker.CfnCluster.ClusterInstanceGroupProperty:
        """The L1 struct, with the cluster's role and lifecycle scripts."""
        types = [kind.name for kind in self.instance_types]
        storage = [item.render() for item in (*self.ebs_volumes, *self.file_systems)]
        return sagemaker.CfnCluster.ClusterInstanceGroupProperty(
            instance_group_name=self.name,
            instance_type=types[0] if len(types) == 1 else None,
            instance_requirements=None
            if len(types) == 1
            else sagemaker.CfnCluster.InstanceRequirementsProperty(instance_types=types),
            instance_count=self.count,
            min_instance_count=self.min_count,
            execution_role=role_arn,
            life_cycle_config=scripts,
            threads_per_core=self.threads_per_core,
            instance_storage_configs=storage or None,
            slurm_config=None if on_eks else self._slurm_config(),
            kubernetes_config=_rendered(self.kubernetes_config),
            training_plan_arn=None if self.training_plan_arn is None else _plan_arn(self.training_plan_arn),
            capacity_requirements=_rendered(self.capacity_requirements),
            override_vpc_config=_rendered(self.override_vpc_config),
            network_interface=_rendered(self.network_interface),
            image_id=self.image_id,
            image_release_version=self.image_release_version,
            auto_patch_config=_rendered(self.auto_patch_config),
            scheduled_update_config=_rendered(self.scheduled_update_config),
            on_start_deep_health_checks=[check.value for check in self.deep_health_checks] or None,
        )

    def _slurm_config(self) -> sagemaker.CfnCluster.ClusterSlurmConfigProperty:
        return sagemaker.CfnCluster.ClusterSlurmConfigProperty(
            node_type=self.node_type.value,
            partition_names=[self.partition_name] if self.node_type is SlurmNodeType.COMPUTE else None,
        )

    def _fail(self, mistake: Mistake | str) -> None:
        raise ValueError(f"InstanceGroup {self.name!r}: {mistake}")

    def _check_types(self) -> None:
        if not 1 <= len(self.instance_types) <= 20:
            self._fail(f"instance_type lists {len(self.instance_types)} types; the service takes 1 to 20, in order of preference")
        repeated = cluster_facts.repeated_types([kind.name for kind in self.instance_types])
        if repeated is not None:
            self._fail(repeated)

    def _check_counts(self) -> None:
        if self.min_count is None or is_unknown(self.count) or is_unknown(self.min_count):
            return
        if self.min_count > self.count:
            self._fail(cluster_facts.minimum_above_count(self.min_count, self.count))

    def _check_capacity(self) -> None:
        if self.capacity_requirements is CapacityRequirements.SPOT and self.training_plan_arn is not None:
            self._fail(cluster_facts.spot_beside(self.name, "a training plan"))
        interface, types = self.network_interface, self.instance_types
        if interface is not None and all(kind.efa_interfaces == 0 for kind in types):
            self._fail(cluster_facts.interface_without_efa(interface.interface_type.value, [kind.name for kind in types]))

    def _check_storage(self) -> None:
        for volumes, what in (
            ([volume for volume in self.ebs_volumes if volume.root], "root volume"),
            ([volume for volume in self.ebs_volumes if not volume.root], "secondary volume"),
            ([mount for mount in self.file_systems if isinstance(mount, LustreMount)], "Lustre file system"),
            ([mount for mount in self.file_systems if isinstance(mount, OpenZfsMount)], "OpenZFS file system"),
        ):
            if len(volumes) > 1:
                self._fail(cluster_facts.too_many_of_kind(len(volumes), what))
        shared = cluster_facts.shared_mount_path([mount.mount_path for mount in self.file_systems])
        if shared is not None:
            self._fail(shared)

    def _check_slurm(self) -> None:
        named = {"the group": self.name, "its partition": self.partition}
        what = next((what for what, name in named.items() if name == cluster_facts.SERVICE_PARTITION), None)
        if what is not None:
            self._fail(cluster_facts.name_of_service_partition(what))
        if self.node_type is SlurmNodeType.CONTROLLER and not is_unknown(self.count) and self.count > 1:
            self._fail(cluster_facts.controller_count(self.count))
        if self.partition is not None and self.node_type is not SlurmNodeType.COMPUTE:
            self._fail(cluster_facts.misplaced_partition(self.node_type.value, self.partition))

    def _check_health(self) -> None:
        known = [kind for kind in self.instance_types if kind.vcpus is not None]
        if self.deep_health_checks and known and not any(kind.accelerator for kind in known):
            self._fail(cluster_facts.checks_without_accelerator([kind.name for kind in known]))
        alone = not is_unknown(self.count) and self.count == 1
        if alone and DeepHealthCheck.INSTANCE_CONNECTIVITY in self.deep_health_checks:
            self._fail(cluster_facts.CONNECTIVITY_OF_ONE)
        if self.deep_health_checks and self.kubernetes_config is not None and self.kubernetes_config.taints:
            self._fail(orchestration.taints_beside_checks(self.name))


def _plan_arn(plan: str | PlanSource) -> str:
    return plan if isinstance(plan, str) else plan.training_plan_arn


class _Renderable(Protocol[Struct]):
    def render(self) -> Struct: ...


def _rendered(part: _Renderable[Struct] | None) -> Struct | None:
    return None if part is None else part.render()
