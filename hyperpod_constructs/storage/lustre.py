"""Shared storage of a cluster: FSx for Lustre file systems with links to S3."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import jsii
from aws_cdk import Aws, CfnResource, CfnTag, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_s3 as s3
from aws_cdk.interfaces.aws_kms import IKeyRef
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.tree import placed
from hyperpod_constructs._support.values import (
    BackupDays,
    ChunkSize,
    DailyTime,
    FileSystemId,
    FileSystemPath,
    LustreHost,
    MountName,
    WeeklyTime,
)
from hyperpod_constructs.facts import lustre
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.network import NodeNetwork, node_place
from hyperpod_constructs.rules.plugin import register_rules
from hyperpod_constructs.storage.data_loss import allow_data_loss as permit_data_loss
from hyperpod_constructs.storage.data_repository import EXPORTED_EVENTS, IMPORTED_EVENTS, DataRepositoryAssociation, RepositoryEvent
from hyperpod_constructs.storage.existing_lustre import ExistingLustre
from hyperpod_constructs.storage.lustre_configuration import (
    CompressionType,
    LustreLogConfiguration,
    LustreReadCacheConfiguration,
    LustreStorageType,
)
from hyperpod_constructs.storage.lustre_figures import DEPLOYMENT, LustreFigures
from hyperpod_constructs.storage.lustre_ports import lustre_rules


@jsii.implements(ec2.IConnectable)
class LustreStorage(Construct):
    """An FSx for Lustre file system (PERSISTENT_2, 2.15) in the nodes' subnet.

    It has a security group of its own, because the group of a file system cannot be changed later. Nodes reach it by rules between
    the groups, in both directions, on TCP 988 and 1018-1023. The file system awaits every rule, because the service checks them at
    creation.

    The construct uses the L1. `aws_fsx.LustreFileSystem` supports neither metadata configuration nor EFA, opens one direction only,
    and accepts no token for its capacity.

    The data outlives the stack unless `removal_policy` says otherwise. A change of `network` or `kms_key` **replaces** the file
    system: CloudFormation makes a new, empty one and retains the old one.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: NodeNetwork,
        storage_type: LustreStorageType = LustreStorageType.SSD,
        storage_capacity_gib: int | None = None,
        per_unit_storage_throughput: int | None = None,
        throughput_capacity: int | None = None,
        data_read_cache_configuration: LustreReadCacheConfiguration | None = None,
        data_compression_type: CompressionType = CompressionType.LZ4,
        metadata_iops: int | None = None,
        efa_enabled: bool = False,
        automatic_backup_retention_days: BackupDays | None = None,
        daily_automatic_backup_start_time: DailyTime | None = None,
        copy_tags_to_backups: bool = False,
        weekly_maintenance_start_time: WeeklyTime | None = None,
        log_configuration: LustreLogConfiguration | None = None,
        kms_key: IKeyRef | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        allow_data_loss: str | None = None,
    ) -> None:
        """
        :param network: the network of the nodes. It gives the file system's subnet (a change **replaces** the file system) and the
            security group that may mount it.
        :param storage_type: SSD unless given. INTELLIGENT_TIERING grows and shrinks with the files and takes no associations to S3.
            A change **replaces** the file system.
        :param storage_capacity_gib: GiB, on SSD only: 1200 unless given, or 2400, and on by 2400; with EFA a multiple of 38400,
            19200, 9600 or 4800 at 125, 250, 500 or 1000 MB/s/TiB. It can grow, never shrink.
        :param per_unit_storage_throughput: MB/s per TiB, on SSD only: 250 unless given, or 125, 500 or 1000. A change exchanges the
            file servers in place, and clients wait for some minutes. Older documentation of CloudFormation says that a change
            **replaces** the file system: to be sure, use `aws fsx update-file-system` first. With EFA it cannot be changed.
        :param throughput_capacity: MB/s of the whole file system, with INTELLIGENT_TIERING, which needs it: a multiple of 4000. You
            pay for it by the hour. It can grow, never shrink.
        :param data_read_cache_configuration: the read cache on SSD, with INTELLIGENT_TIERING; in proportion to the throughput
            unless given.
        :param data_compression_type: LZ4 unless given.
        :param metadata_iops: 1500, 3000, 6000, or a multiple of 12000 up to 192000; scaled with the capacity by the service when
            not given. With INTELLIGENT_TIERING 6000 (unless given) or 12000. It can grow, never shrink.
        :param efa_enabled: Lustre traffic over EFA, for nodes that have it. Set at creation only: a change **replaces** the file
            system.
        :param automatic_backup_retention_days: 0 (no backups) to 90; the service's default when not given. A file system with
            associations to S3 cannot be backed up.
        :param daily_automatic_backup_start_time: UTC, `HH:MM`, for automatic backups; a time of the service's choice when not
            given.
        :param copy_tags_to_backups: whether backups get the file system's tags; no unless given. Not for a file system with
            associations to S3. A change **replaces** the file system.
        :param weekly_maintenance_start_time: UTC, `d:HH:MM` with 1 for Monday to 7 for Sunday; a time of the service's choice when
            not given. Clients may wait for some minutes then.
        :param log_configuration: the logs about links to S3; none unless given.
        :param kms_key: encrypts the data at rest; the AWS managed key for FSx when not given. A change **replaces** the file
            system.
        :param removal_policy: by default the file system is kept on deletion and replacement, and removed after a failed first
            creation.
        :param allow_data_loss: the reason why a change may lose the files. Without a reason, `hyperpod plan` and a synthesis
            against the previous template (context `hyperpod:previous-template`) refuse such a change. The file system's metadata
            holds the reason.
        :raises ValueError: for an unsupported capacity, throughput or metadata figure, for figures of the other storage type, or
            for a time of backups without backups.

        Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-storage-capacity.html
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        path = placed(self, scope, id)
        figures = LustreFigures(
            storage_type=storage_type,
            storage_capacity_gib=storage_capacity_gib,
            per_unit_storage_throughput=per_unit_storage_throughput,
            throughput_capacity=throughput_capacity,
            data_read_cache_configuration=data_read_cache_configuration,
            metadata_iops=metadata_iops,
            efa_enabled=efa_enabled,
        )
        figures.check(path)
        self._check_backups(automatic_backup_retention_days, daily_automatic_backup_start_time)
        self._removal_policy = removal_policy
        self._backup_days = automatic_backup_retention_days
        self._copies_tags = copy_tags_to_backups
        self._tiered = figures.tiered
        #: GiB; `None` with INTELLIGENT_TIERING, which grows and shrinks with the files.
        self.storage_capacity_gib: int | None = figures.capacity
        #: MB/s of the whole file system; `None` if it is not known at synthesis.
        self.throughput_mbps: float | None = figures.total_throughput()
        self._associations: list[DataRepositoryAssociation] = []
        self._security_group = ec2.SecurityGroup(
            self, "SecurityGroup", vpc=network.vpc, allow_all_outbound=False, description="FSx for Lustre"
        )
        self._security_group.apply_removal_policy(removal_policy)
        self._group_id = self._security_group.security_group_id
        self._efa_enabled = efa_enabled
        place = node_place(network)
        self._resource = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="LUSTRE",
            file_system_type_version=lustre.VERSIONS[-1],
            storage_type=storage_type.value,
            storage_capacity=figures.capacity,
            subnet_ids=[place.subnet_id],
            security_group_ids=[self._group_id],
            kms_key_id=kms_key.key_ref.key_arn if kms_key is not None else None,
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type=DEPLOYMENT,
                per_unit_storage_throughput=figures.throughput,
                throughput_capacity=throughput_capacity,
                data_read_cache_configuration=figures.cache(),
                data_compression_type=data_compression_type.value,
                efa_enabled=True if efa_enabled else None,
                automatic_backup_retention_days=automatic_backup_retention_days,
                daily_automatic_backup_start_time=daily_automatic_backup_start_time,
                copy_tags_to_backups=True if copy_tags_to_backups else None,
                weekly_maintenance_start_time=weekly_maintenance_start_time,
                log_configuration=None if log_configuration is None else log_configuration.render(),
                metadata_configuration=figures.metadata(),
            ),
            tags=[CfnTag(key="Name", value=path)],
        )
        self._resource.apply_removal_policy(removal_policy)
        if allow_data_loss is not None:
            permit_data_loss(self._resource, allow_data_loss)
        self._await(*self._rules(self, "Self", self._group_id), *self._rules(self, "Nodes", place.security_group_id))

    @staticmethod
    @checked
    def from_attributes(
        *, file_system_id: FileSystemId, mount_name: MountName, dns_name: LustreHost | None = None, efa_enabled: bool = False
    ) -> ExistingLustre:
        """Mount an existing file system.

        Its security group must already admit the nodes, and the nodes' group must let them out: give a `ClusterNetwork`
        `egress_ports=[Port.tcp(988), Port.tcp_range(1018, 1023)]`.

        :param file_system_id: such as `fs-0123456789abcdef0`.
        :param mount_name: the file system's `LustreMountName`, up to eight characters.
        :param dns_name: `<id>.fsx.<region>.<suffix>` of the stack's region when not given.
        :param efa_enabled: whether it has EFA; TCP alone unless given. Nodes with EFA then reach it over EFA, which does not leave
            the file system's zone.
        """
        default = f"{file_system_id}.fsx.{Aws.REGION}.{Aws.URL_SUFFIX}"
        return ExistingLustre(
            file_system_id=file_system_id,
            mount_name=mount_name,
            dns_name=default if dns_name is None else dns_name,
            efa_enabled=efa_enabled,
        )

    @property
    def resource(self) -> fsx.CfnFileSystem:
        """The L1."""
        return self._resource

    @property
    def efa_enabled(self) -> bool:
        """Whether it has EFA."""
        return self._efa_enabled

    @cached_property
    def file_system_id(self) -> str:
        """Such as `fs-0123456789abcdef0`."""
        return self._resource.ref

    @cached_property
    def dns_name(self) -> str:
        """The host name by which nodes reach it."""
        return self._resource.attr_dns_name

    @cached_property
    def mount_name(self) -> str:
        """`LustreMountName`: the path behind the name, eight characters or fewer."""
        return self._resource.attr_lustre_mount_name

    @property
    def associations(self) -> Sequence[DataRepositoryAssociation]:
        """The associations that `add_data_repository` has made so far."""
        return tuple(self._associations)

    @property
    def security_group(self) -> ec2.SecurityGroup:
        """The file system's own group."""
        return self._security_group

    @property
    def connections(self) -> ec2.Connections:
        """The file system's group, for rules beyond the mount; `allow_clients` opens the ports of a mount."""
        return self._security_group.connections

    @checked
    def allow_clients(self, id: str, security_group: ec2.ISecurityGroup, *, scope: Construct | None = None) -> None:
        """Let members of a group mount the file system: the Lustre ports, or all traffic with EFA, in both directions.

        The rules go into both groups, also into an imported one.

        :param id: names the rules; a change replaces them.
        :param security_group: the clients' group.
        :param scope: the parent of the rules. For a group of a stack that depends on this one, give that stack or a construct in
            it. By default the rules belong to this construct, and the file system awaits them.
        """
        peer = self._group_id if security_group is self._security_group else security_group.security_group_id
        rules = self._rules(self if scope is None else scope, id, peer)
        if scope is None:
            self._await(*rules)

    @checked
    def add_data_repository(
        self,
        id: str,
        *,
        bucket: s3.IBucket,
        file_system_path: FileSystemPath,
        prefix: str = "",
        auto_import_events: tuple[RepositoryEvent, ...] = IMPORTED_EVENTS,
        auto_export_events: tuple[RepositoryEvent, ...] = EXPORTED_EVENTS,
        preload_metadata: bool = False,
        imported_file_chunk_size: ChunkSize | None = None,
        bucket_is_versioned: bool | None = None,
    ) -> DataRepositoryAssociation:
        """Link a directory to a prefix of a bucket; see `DataRepositoryAssociation` for the parameters.

        The association follows the file system's removal policy.

        :raises ValueError: see `DataRepositoryAssociation`; also for a file system with automatic backups or tags for them, because
            FSx cannot back up a file system with associations, and for an Intelligent-Tiering one.

        Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-backups-fsx.html
        """
        mistake = self._unlinkable()
        if mistake is not None:
            raise ValueError(f"{self.node.path}: {mistake}")
        return DataRepositoryAssociation(
            self,
            id,
            file_system_id=self.file_system_id,
            siblings=self._associations,
            bucket=bucket,
            file_system_path=file_system_path,
            prefix=prefix,
            auto_import_events=auto_import_events,
            auto_export_events=auto_export_events,
            preload_metadata=preload_metadata,
            imported_file_chunk_size=imported_file_chunk_size,
            bucket_is_versioned=bucket_is_versioned,
            removal_policy=self._removal_policy,
        )

    def _unlinkable(self) -> Mistake | None:
        """The property that excludes associations."""
        days = self._backup_days
        if days is not None and not is_unknown(days) and days > 0:
            return lustre.backups_beside_associations("automatic_backup_retention_days", days)
        if self._copies_tags:
            return lustre.tags_beside_associations("copy_tags_to_backups")
        return lustre.tiering_beside_associations("storage_type") if self._tiered else None

    def _check_backups(self, days: int | None, start: str | None) -> None:
        if start is not None and not days:
            raise ValueError(
                f"{self.node.path}: daily_automatic_backup_start_time is {start!r} without automatic backups; "
                "write automatic_backup_retention_days=7, or leave the time out"
            )

    def _rules(self, scope: Construct, id: str, peer: str) -> list[CfnResource]:
        """Rules between the file system's group and another, by its id; between its own members for its own id."""
        rules = lustre_rules(scope, id, self._group_id, peer, all_traffic=self._efa_enabled)
        if peer == self._group_id:
            for rule in rules:
                rule.apply_removal_policy(self._removal_policy)
        return rules

    def _await(self, *rules: CfnResource) -> None:
        self._resource.node.add_dependency(*rules)
