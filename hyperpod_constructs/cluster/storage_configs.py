"""Volumes and file systems of an instance group: `InstanceStorageConfigs`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk.interfaces.aws_kms import IKeyRef

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.values import LustreMountPath, OpenZfsHost, OpenZfsMountPath, VolumeSize
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.storage.existing_lustre import LustreSource
from hyperpod_constructs.storage.existing_openzfs import OpenZfsSource


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

    :param file_system: an `OpenZfsStorage`, or an imported file system; or else give `dns_name`. The nodes' security group must
        allow traffic to an imported one: give a `ClusterNetwork` `egress_ports=[Port.tcp(2049)]`.
    :param dns_name: of a file system from outside the app.
    :param mount_path: an absolute path; `/home` unless given.
    :raises ValueError: for both a file system and a name, for none of them, or for a path that hides a place of the image, such as
        `/opt/ml` or `/opt/sagemaker`.
    """

    file_system: OpenZfsSource | None = None
    dns_name: OpenZfsHost | None = None
    mount_path: OpenZfsMountPath = "/home"

    def __post_init__(self) -> None:
        if (self.file_system is None) == (self.dns_name is None):
            found = "neither file_system nor dns_name" if self.file_system is None else "file_system and dns_name"
            raise ValueError(f"OpenZfsMount: found {found}; write file_system=OpenZfsStorage(...), or the dns_name of another one")
        _check_mount_path(self, self.mount_path, cluster_facts.DEFAULT_OPENZFS_PATH)

    def render(self) -> sagemaker.CfnCluster.ClusterInstanceStorageConfigProperty:
        """The L1 struct."""
        return sagemaker.CfnCluster.ClusterInstanceStorageConfigProperty(
            fsx_open_zfs_config=sagemaker.CfnCluster.ClusterFsxOpenZfsConfigProperty(
                dns_name=self._host, mount_path=self.mount_path
            )
        )

    def describe(self) -> dict[str, Any]:
        """The mount in `config.json`, for the node's own check."""
        return {"type": "openzfs", "path": self.mount_path, "dns_name": self._host}

    @property
    def _host(self) -> str:
        if self.file_system is not None:
            return self.file_system.dns_name
        assert self.dns_name is not None  # __post_init__ has checked it
        return self.dns_name


FileSystemMount = LustreMount | OpenZfsMount


def _check_mount_path(mount: FileSystemMount, path: str, usual: str) -> None:
    mistake = None if is_unknown(path) else cluster_facts.mount_over_place(path, usual)
    if mistake is not None:
        raise ValueError(f"{type(mount).__name__}: {mistake}")
