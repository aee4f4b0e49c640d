"""Shared storage of a cluster: FSx for OpenZFS file systems, for homes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import jsii
from aws_cdk import Aws, CfnResource, CfnTag, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk.interfaces.aws_kms import IKeyRef
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.tree import placed
from hyperpod_constructs._support.values import BackupDays, DailyTime, FileSystemId, OpenZfsHost, VolumeId, WeeklyTime
from hyperpod_constructs.facts import openzfs
from hyperpod_constructs.network import NodeNetwork, node_place
from hyperpod_constructs.network.client_rules import client_rules
from hyperpod_constructs.rules.plugin import register_rules
from hyperpod_constructs.storage.data_loss import allow_data_loss as permit_data_loss
from hyperpod_constructs.storage.existing_openzfs import ExistingOpenZfs
from hyperpod_constructs.storage.openzfs_configuration import (
    OpenZfsClientConfiguration,
    OpenZfsCompressionType,
    OpenZfsDeploymentType,
    OpenZfsFigures,
)


@jsii.implements(ec2.IConnectable)
class OpenZfsStorage(Construct):
    """An FSx for OpenZFS file system in the nodes' subnet, for homes: two servers in one zone, backups, snapshots.

    It has a security group of its own, because the group of a file system cannot be changed later. Nodes reach it by rules between
    the groups on TCP 2049 (NFS). The file system awaits every rule, so that no node boots before it can mount.

    The data outlives the stack unless `removal_policy` says otherwise. A change of `network`, `kms_key`, `deployment_type` or of a
    parameter of the root volume **replaces** the file system: CloudFormation makes a new, empty one and retains the old one. Quotas
    change in place: see `OpenZfsQuotas`. Snapshots are taken by `OpenZfsSnapshots`.

    Source: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: NodeNetwork,
        deployment_type: OpenZfsDeploymentType = OpenZfsDeploymentType.SINGLE_AZ_HA_2,
        storage_capacity_gib: int = 64,
        throughput_capacity: int = 160,
        disk_iops: int | None = None,
        data_compression_type: OpenZfsCompressionType = OpenZfsCompressionType.LZ4,
        record_size_kib: int | None = None,
        client_configurations: Sequence[OpenZfsClientConfiguration] = (OpenZfsClientConfiguration(),),
        automatic_backup_retention_days: BackupDays = 30,
        daily_automatic_backup_start_time: DailyTime | None = None,
        copy_tags_to_backups: bool = False,
        copy_tags_to_volumes: bool = False,
        copy_tags_to_snapshots: bool = False,
        weekly_maintenance_start_time: WeeklyTime | None = None,
        kms_key: IKeyRef | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        allow_data_loss: str | None = None,
    ) -> None:
        """
        :param network: the network of the nodes. It gives the file system's subnet (a change **replaces** the file system) and the
            security group that may mount it.
        :param deployment_type: SINGLE_AZ_HA_2 unless given. A change **replaces** the file system.
        :param storage_capacity_gib: GiB on SSD, 64 to 524288; 64 unless given. It can grow, by 10 percent or more, never shrink.
        :param throughput_capacity: MB/s: 160 (unless given), 320, 640, 1280, 2560, 3840, 5120, 7680 or 10240 with SINGLE_AZ_2 and
            SINGLE_AZ_HA_2; 64, 128, 256, 512, 1024, 2048, 3072 or 4096 with the other two. You pay for it by the hour. A change
            exchanges the servers, and clients may wait for some minutes.
        :param disk_iops: 3 or more for every GiB; 3 unless given, which then grow with the capacity.
        :param data_compression_type: LZ4 unless given. A change **replaces** the file system.
        :param record_size_kib: 4, 8, 16, 32, 64, 128, 256, 512 or 1024 KiB; 128 by the service unless given. A change **replaces**
            the file system.
        :param client_configurations: the clients and their rights, 25 at most; by default every client that the security group
            admits reads and writes, and root stays root. A change **replaces** the file system.
        :param automatic_backup_retention_days: 0 (no backups) to 90; 30 unless given. You pay for backups by their size.
        :param daily_automatic_backup_start_time: UTC, `HH:MM`, for automatic backups; a time of the service's choice when not
            given.
        :param copy_tags_to_backups: whether backups get the file system's tags; no unless given.
        :param copy_tags_to_volumes: whether volumes get the file system's tags; no unless given.
        :param copy_tags_to_snapshots: whether snapshots get the tags of the root volume; no unless given. A change **replaces** the
            file system.
        :param weekly_maintenance_start_time: UTC, `d:HH:MM` with 1 for Monday to 7 for Sunday; a time of the service's choice when
            not given. Clients may wait for some seconds then, and for some minutes without HA.
        :param kms_key: encrypts the data at rest; the AWS managed key for FSx when not given. A change **replaces** the file
            system.
        :param removal_policy: by default the file system is kept on deletion and replacement, and removed after a failed first
            creation. With `DESTROY`, its snapshots go with it, and FSx keeps a last backup.
        :param allow_data_loss: the reason why a change may lose the files. Without a reason, `hyperpod plan` and a synthesis
            against the previous template (context `hyperpod:previous-template`) refuse such a change. The file system's metadata
            holds the reason.
        :raises ValueError: for an unsupported capacity, throughput, record size or number of IOPS, for no client, or for a time of
            backups without backups.

        Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        path = placed(self, scope, id)
        figures = OpenZfsFigures(
            deployment_type=deployment_type,
            storage_capacity_gib=storage_capacity_gib,
            throughput_capacity=throughput_capacity,
            disk_iops=disk_iops,
            record_size_kib=record_size_kib,
        )
        figures.check(path)
        #: GiB.
        self.storage_capacity_gib = storage_capacity_gib
        #: MB/s of the whole file system; `None` if it is not known at synthesis.
        self.throughput_mbps: float | None = None if is_unknown(throughput_capacity) else throughput_capacity
        _check_clients(path, client_configurations)
        if daily_automatic_backup_start_time is not None and automatic_backup_retention_days == 0:
            raise ValueError(
                f"{path}: daily_automatic_backup_start_time is {daily_automatic_backup_start_time!r} without automatic backups; "
                "write automatic_backup_retention_days=30, or leave the time out"
            )
        self._security_group = ec2.SecurityGroup(
            self, "SecurityGroup", vpc=network.vpc, allow_all_outbound=False, description="FSx for OpenZFS"
        )
        self._security_group.apply_removal_policy(removal_policy)
        self._group_id = self._security_group.security_group_id
        place = node_place(network)
        self._resource = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="OPENZFS",
            storage_type="SSD",
            storage_capacity=storage_capacity_gib,
            subnet_ids=[place.subnet_id],
            security_group_ids=[self._group_id],
            kms_key_id=kms_key.key_ref.key_arn if kms_key is not None else None,
            open_zfs_configuration=fsx.CfnFileSystem.OpenZFSConfigurationProperty(
                deployment_type=deployment_type.value,
                throughput_capacity=throughput_capacity,
                disk_iops_configuration=figures.disks(),
                automatic_backup_retention_days=automatic_backup_retention_days,
                daily_automatic_backup_start_time=daily_automatic_backup_start_time,
                copy_tags_to_backups=True if copy_tags_to_backups else None,
                copy_tags_to_volumes=True if copy_tags_to_volumes else None,
                weekly_maintenance_start_time=weekly_maintenance_start_time,
                options=["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"] if removal_policy is RemovalPolicy.DESTROY else None,
                root_volume_configuration=fsx.CfnFileSystem.RootVolumeConfigurationProperty(
                    copy_tags_to_snapshots=True if copy_tags_to_snapshots else None,
                    data_compression_type=data_compression_type.value,
                    record_size_kib=record_size_kib,
                    nfs_exports=[
                        fsx.CfnFileSystem.NfsExportsProperty(
                            client_configurations=[client.render() for client in client_configurations]
                        )
                    ],
                ),
            ),
            tags=[CfnTag(key="Name", value=path)],
        )
        self._resource.apply_removal_policy(removal_policy)
        if allow_data_loss is not None:
            permit_data_loss(self._resource, allow_data_loss)
        self._resource.node.add_dependency(*_nfs_rules(self, "Nodes", self._group_id, place.security_group_id))

    @staticmethod
    @checked
    def from_attributes(
        *, file_system_id: FileSystemId, root_volume_id: VolumeId | None = None, dns_name: OpenZfsHost | None = None
    ) -> ExistingOpenZfs:
        """Mount an existing file system.

        Its security group must already admit the nodes, and the nodes' group must let them out: give a `ClusterNetwork`
        `egress_ports=[Port.tcp(2049)]`.

        :param file_system_id: such as `fs-0123456789abcdef0`.
        :param root_volume_id: such as `fsvol-0123456789abcdef0`; `OpenZfsQuotas` and `OpenZfsSnapshots` need it.
        :param dns_name: `<id>.fsx.<region>.<suffix>` of the stack's region when not given.
        """
        default = f"{file_system_id}.fsx.{Aws.REGION}.{Aws.URL_SUFFIX}"
        return ExistingOpenZfs(
            file_system_id=file_system_id, root_volume_id=root_volume_id, dns_name=default if dns_name is None else dns_name
        )

    @property
    def resource(self) -> fsx.CfnFileSystem:
        """The L1."""
        return self._resource

    @cached_property
    def file_system_id(self) -> str:
        """Such as `fs-0123456789abcdef0`."""
        return self._resource.ref

    @cached_property
    def dns_name(self) -> str:
        """The host name by which nodes reach it."""
        return self._resource.attr_dns_name

    @cached_property
    def root_volume_id(self) -> str:
        """The id of the volume that nodes mount."""
        return self._resource.attr_root_volume_id

    @property
    def security_group(self) -> ec2.SecurityGroup:
        """The file system's own group."""
        return self._security_group

    @property
    def connections(self) -> ec2.Connections:
        """The file system's group, for rules beyond the mount; `allow_clients` opens the port of a mount."""
        return self._security_group.connections

    @checked
    def allow_clients(self, id: str, security_group: ec2.ISecurityGroup, *, scope: Construct | None = None) -> None:
        """Let members of a group mount the file system by NFS.

        The rules go into both groups, also into an imported one.

        :param id: names the rules; a change replaces them.
        :param security_group: the clients' group.
        :param scope: the parent of the rules. For a group of a stack that depends on this one, give that stack or a construct in
            it. By default the rules belong to this construct, and the file system awaits them.
        """
        rules = _nfs_rules(self if scope is None else scope, id, self._group_id, security_group.security_group_id)
        if scope is None:
            self._resource.node.add_dependency(*rules)


def _check_clients(path: str, clients: Sequence[OpenZfsClientConfiguration]) -> None:
    if not clients:
        raise ValueError(f"{path}: client_configurations is empty, so no client could mount the file system; leave it out")
    mistake = openzfs.EXPORTS.mistake("client_configurations", clients)
    if mistake is not None:
        raise ValueError(f"{path}: {mistake}")


def _nfs_rules(scope: Construct, id: str, group: str, peer: str) -> tuple[CfnResource, CfnResource]:
    return client_rules(scope, id, group, peer, port=openzfs.NFS_PORTS[0], description="NFS")
