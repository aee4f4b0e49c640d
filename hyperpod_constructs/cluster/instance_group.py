"""Instance groups of a cluster, with their value types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk.interfaces.aws_kms import IKeyRef

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.values import (
    GroupName,
    LustreMountPath,
    MinimumCount,
    NodeCount,
    OpenZfsHost,
    OpenZfsMountPath,
    PartitionName,
    ThreadsPerCore,
    TrainingPlanArn,
    VolumeSize,
)
from hyperpod_constructs.cluster.instance_type import ClusterInstanceType
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.node_software.lifecycle_mode import LifecycleMode
from hyperpod_constructs.node_software.node_type import SlurmNodeType
from hyperpod_constructs.storage.lustre import LustreSource


class DeepHealthCheck(StrEnum):
    """A check of a node with accelerators, before it takes work."""

    INSTANCE_STRESS = "InstanceStress"
    INSTANCE_CONNECTIVITY = "InstanceConnectivity"


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class EbsVolume:
    """A volume of each node: a secondary one at `/opt/sagemaker`, or the encrypted root volume.

    :param size_gb: GB of a secondary volume, 1 to 16384.
    :param kms_key: encrypts the volume; an AWS owned key when not given.
    :param root: the volume is the root volume, and the service decides its size; a secondary volume unless given.
    :raises ValueError: for a secondary volume without a size, or a root volume with a size or without a key.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterEbsVolumeConfig.html
    """

    size_gb: VolumeSize | None = None
    kms_key: IKeyRef | None = None
    root: bool = False

    def __post_init__(self) -> None:
        if self.root and (self.size_gb is not None or self.kms_key is None):
            key = None if self.kms_key is None else "given"
            raise ValueError(f"EbsVolume(root=True, size_gb={self.size_gb}, kms_key={key}): {cluster_facts.ROOT_VOLUME}")
        if not self.root and self.size_gb is None:
            raise ValueError(f"EbsVolume: {cluster_facts.SECONDARY_VOLUME}")

    def render(self) -> sagemaker.CfnCluster.ClusterInstanceStorageConfigProperty:
        """The L1 struct."""
        return sagemaker.CfnCluster.ClusterInstanceStorageConfigProperty(
            ebs_volume_config=sagemaker.CfnCluster.ClusterEbsVolumeConfigProperty(
                volume_size_in_gb=self.size_gb,
                volume_kms_key_id=None if self.kms_key is None else self.kms_key.key_ref.key_arn,
                root_volume=True if self.root else None,
            )
        )


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class LustreMount:
    """A Lustre file system; the service mounts it on each node.

    :param file_system: the file system.
    :param mount_path: an absolute path; `/fsx` unless given.
    :raises ValueError: for a path that hides a place of the image, such as `/home`, `/opt/ml` or `/opt/sagemaker`.
    """

    file_system: LustreSource
    mount_path: LustreMountPath = "/fsx"

    def __post_init__(self) -> None:
        _check_mount_path(self, self.mount_path, "/fsx")

    def render(self) -> sagemaker.CfnCluster.ClusterInstanceStorageConfigProperty:
        """The L1 struct."""
        return sagemaker.CfnCluster.ClusterInstanceStorageConfigProperty(
            fsx_lustre_config=sagemaker.CfnCluster.ClusterFsxLustreConfigProperty(
                dns_name=self.file_system.dns_name,
                mount_name=self.file_system.mount_name,
                mount_path=self.mount_path,
            )
        )

    def describe(self) -> dict[str, Any]:
        """The mount in `config.json`, for the node's own check, and for its set-up of EFA."""
        return {
            "type": "lustre",
            "path": self.mount_path,
            "dns_name": self.file_system.dns_name,
            "mount_name": self.file_system.mount_name,
            **({"efa_enabled": True} if self.file_system.efa_enabled else {}),
        }


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class OpenZfsMount:
    """An FSx for OpenZFS file system; the service mounts it on each node.

    The nodes' security group must allow traffic to it: give a `ClusterNetwork` `egress_ports=[Port.tcp(2049)]`.

    :param dns_name: of the file system.
    :param mount_path: an absolute path; `/home` unless given.
    :raises ValueError: for a path that hides a place of the image, such as `/opt/ml` or `/opt/sagemaker`.
    """

    dns_name: OpenZfsHost
    mount_path: OpenZfsMountPath = "/home"

    def __post_init__(self) -> None:
        _check_mount_path(self, self.mount_path, cluster_facts.DEFAULT_OPENZFS_PATH)

    def render(self) -> sagemaker.CfnCluster.ClusterInstanceStorageConfigProperty:
        """The L1 struct."""
        return sagemaker.CfnCluster.ClusterInstanceStorageConfigProperty(
            fsx_open_zfs_config=sagemaker.CfnCluster.ClusterFsxOpenZfsConfigProperty(
                dns_name=self.dns_name, mount_path=self.mount_path
            )
        )

    def describe(self) -> dict[str, Any]:
        """The mount in `config.json`, for the node's own check."""
        return {"type": "openzfs", "path": self.mount_path, "dns_name": self.dns_name}


FileSystemMount = LustreMount | OpenZfsMount


def _check_mount_path(mount: FileSystemMount, path: str, usual: str) -> None:
    mistake = None if is_unknown(path) else cluster_facts.mount_over_place(path, usual)
    if mistake is not None:
        raise ValueError(f"{type(mount).__name__}: {mistake}")


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceGroup:
    """Nodes of one role in a Slurm cluster.

    :param name: the group's name. A change removes the group with its nodes and makes another.
    :param instance_type: one type, or several in order of preference (up to 20; needs continuous provisioning). Do not change it
        for an existing group, because the documentation does not allow it: add a group and remove the old one.
    :param count: number of nodes, 0 to 6758. With a lower count the service chooses nodes and deletes them.
    :param min_count: nodes that the group needs to start; no minimum when not given. If they are not there within three hours, the
        service rolls the change back.
    :param node_type: role in Slurm; compute nodes unless given. It cannot be changed later.
    :param partition: partition of compute nodes: letters, digits and hyphens; the group's name unless given.
    :param threads_per_core: 1 switches simultaneous multithreading off; the type's default when not given.
    :param ebs_volumes: at most one secondary volume and one root volume; the service's root volume alone unless given.
    :param file_systems: at most one Lustre and one OpenZFS file system; none unless given. The service mounts them. Only new nodes
        see a change.
    :param lifecycle_mode: time of the cluster's scripts; after the image's own set-up unless given.
    :param training_plan_arn: reserved capacity in the subnet's zone; on-demand capacity when not given.
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
    threads_per_core: ThreadsPerCore | None = None
    ebs_volumes: Sequence[EbsVolume] = ()
    file_systems: Sequence[FileSystemMount] = ()
    lifecycle_mode: LifecycleMode = LifecycleMode.ON_INIT_COMPLETE
    training_plan_arn: TrainingPlanArn | None = None
    deep_health_checks: Sequence[DeepHealthCheck] = ()
    execution_role: iam.IRole | ExecutionRole | None = None

    def __post_init__(self) -> None:
        self._check_types()
        self._check_counts()
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
    def partition_name(self) -> str:
        """The partition of a compute group: the given one, or the group's name."""
        return self.name if self.partition is None else self.partition

    def render(
        self, *, role_arn: str, scripts: sagemaker.CfnCluster.ClusterLifeCycleConfigProperty | None
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
            slurm_config=sagemaker.CfnCluster.ClusterSlurmConfigProperty(
                node_type=self.node_type.value,
                partition_names=[self.partition_name] if self.node_type is SlurmNodeType.COMPUTE else None,
            ),
            training_plan_arn=self.training_plan_arn,
            on_start_deep_health_checks=[check.value for check in self.deep_health_checks] or None,
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
