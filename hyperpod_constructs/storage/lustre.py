"""Shared storage of a cluster: FSx for Lustre file systems with links to S3."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Protocol

import jsii
from aws_cdk import Aws, CfnResource, CfnTag, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_s3 as s3
from aws_cdk.interfaces.aws_kms import IKeyRef
from constructs import Construct

from hyperpod_constructs._support.arguments import checked, checked_value
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.values import BackupDays, FileSystemId, FileSystemPath, LustreHost, MountName
from hyperpod_constructs.facts import lustre
from hyperpod_constructs.network import NodeNetwork, node_place
from hyperpod_constructs.rules.plugin import register_rules
from hyperpod_constructs.storage.data_loss import allow_data_loss as permit_data_loss
from hyperpod_constructs.storage.data_repository import EXPORTED_EVENTS, IMPORTED_EVENTS, DataRepositoryAssociation, RepositoryEvent

_DEPLOYMENT = "PERSISTENT_2"
_STORAGE = "SSD"


class CompressionType(StrEnum):
    """Compression of file data. A change leaves existing files as they are."""

    LZ4 = "LZ4"
    NONE = "NONE"


class LustreSource(Protocol):
    """The addresses by which a node mounts a Lustre file system."""

    @property
    def file_system_id(self) -> str: ...
    @property
    def dns_name(self) -> str: ...
    @property
    def mount_name(self) -> str: ...
    @property
    def efa_enabled(self) -> bool: ...


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingLustre:
    """A Lustre file system from outside this app; see `LustreStorage.from_attributes`."""

    file_system_id: FileSystemId
    dns_name: LustreHost
    mount_name: MountName
    efa_enabled: bool = False
    _associations: list[DataRepositoryAssociation] = field(default_factory=list, init=False, repr=False, compare=False)

    @checked
    def add_data_repository(
        self,
        scope: Construct,
        id: str,
        *,
        bucket: s3.IBucket,
        file_system_path: FileSystemPath,
        prefix: str = "",
        auto_import_events: tuple[RepositoryEvent, ...] = IMPORTED_EVENTS,
        auto_export_events: tuple[RepositoryEvent, ...] = EXPORTED_EVENTS,
        preload_metadata: bool = False,
        bucket_is_versioned: bool | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> DataRepositoryAssociation:
        """Link a directory of the file system to a prefix of a bucket; see `DataRepositoryAssociation` for the parameters.

        The file system must be PERSISTENT_2 or SCRATCH_2 and have no automatic backups. Overlaps are found among the associations
        of this object; FSx refuses an overlap with others.

        :param scope: the parent of the association, in a stack of the file system's region.
        :param id: of the association in `scope`.
        :param removal_policy: by default the association outlives its stack, as the file system does.
        :raises ValueError: see `DataRepositoryAssociation`.

        Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html
        """
        return DataRepositoryAssociation(
            scope,
            id,
            file_system_id=self.file_system_id,
            siblings=self._associations,
            bucket=bucket,
            file_system_path=file_system_path,
            prefix=prefix,
            auto_import_events=auto_import_events,
            auto_export_events=auto_export_events,
            preload_metadata=preload_metadata,
            bucket_is_versioned=bucket_is_versioned,
            removal_policy=removal_policy,
        )


@jsii.implements(ec2.IConnectable)
class LustreStorage(Construct):
    """An FSx for Lustre file system (PERSISTENT_2, 2.15, SSD) in the nodes' subnet.

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
        storage_capacity_gib: int = 1200,
        per_unit_storage_throughput: int = 250,
        data_compression_type: CompressionType = CompressionType.LZ4,
        metadata_iops: int | None = None,
        efa_enabled: bool = False,
        automatic_backup_retention_days: BackupDays | None = None,
        kms_key: IKeyRef | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        allow_data_loss: str | None = None,
    ) -> None:
        """
        :param network: the network of the nodes. It gives the file system's subnet (a change **replaces** the file system) and the
            security group that may mount it.
        :param storage_capacity_gib: GiB: 1200, 2400, and on by 2400; with EFA a multiple of 38400, 19200, 9600 or 4800 at
            125, 250, 500 or 1000 MB/s/TiB. It can grow, never shrink.
        :param per_unit_storage_throughput: MB/s per TiB: 125, 250, 500 or 1000. A change exchanges the file servers in place, and
            clients wait for some minutes. Older documentation of CloudFormation says that a change **replaces** the file system:
            to be sure, use `aws fsx update-file-system` first. With EFA it cannot be changed.
        :param data_compression_type: LZ4 unless given.
        :param metadata_iops: 1500, 3000, 6000, or a multiple of 12000 up to 192000; scaled with the capacity by the service when
            not given. It can grow, never shrink.
        :param efa_enabled: Lustre traffic over EFA, for nodes that have it. Set at creation only: a change **replaces** the file
            system.
        :param automatic_backup_retention_days: 0 (no backups) to 90; the service's default when not given. A file system with
            associations to S3 cannot be backed up.
        :param kms_key: encrypts the data at rest; the AWS managed key for FSx when not given. A change **replaces** the file
            system.
        :param removal_policy: by default the file system is kept on deletion and replacement, and removed after a failed first
            creation.
        :param allow_data_loss: the reason why a change may lose the files. Without a reason, `hyperpod plan` and a synthesis
            against the previous template (context `hyperpod:previous-template`) refuse such a change. The file system's metadata
            holds the reason.
        :raises ValueError: for an unsupported capacity, throughput or metadata figure.

        Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-storage-capacity.html
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        _check_capacity(self, storage_capacity_gib, per_unit_storage_throughput, efa_enabled)
        _check_metadata(self, metadata_iops)
        self._removal_policy = removal_policy
        self._backup_days = automatic_backup_retention_days
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
            storage_type=_STORAGE,
            storage_capacity=storage_capacity_gib,
            subnet_ids=[place.subnet_id],
            security_group_ids=[self._group_id],
            kms_key_id=kms_key.key_ref.key_arn if kms_key is not None else None,
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type=_DEPLOYMENT,
                per_unit_storage_throughput=per_unit_storage_throughput,
                data_compression_type=data_compression_type.value,
                efa_enabled=True if efa_enabled else None,
                automatic_backup_retention_days=automatic_backup_retention_days,
                metadata_configuration=_metadata(metadata_iops),
            ),
            tags=[CfnTag(key="Name", value=self.node.path)],
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
        bucket_is_versioned: bool | None = None,
    ) -> DataRepositoryAssociation:
        """Link a directory to a prefix of a bucket; see `DataRepositoryAssociation` for the parameters.

        The association follows the file system's removal policy.

        :raises ValueError: see `DataRepositoryAssociation`; also for a file system with automatic backups, because FSx cannot back
            up a file system with associations.

        Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-backups-fsx.html
        """
        if self._backup_days is not None and not is_unknown(self._backup_days) and self._backup_days > 0:
            mistake = lustre.backups_beside_associations("automatic_backup_retention_days", self._backup_days)
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
            bucket_is_versioned=bucket_is_versioned,
            removal_policy=self._removal_policy,
        )

    def _rules(self, scope: Construct, id: str, peer: str) -> list[CfnResource]:
        """Rules between the file system's group and another, by its id; between its own members for its own id."""
        own = self._group_id
        rules: list[CfnResource] = []
        for low, high in ((None, None),) if self._efa_enabled else _ports():
            suffix = "All" if low is None else str(low)
            rules += _rule(scope, f"{id}{suffix}", own, peer, low, high)
            if peer != own:
                rules += _rule(scope, f"{id}{suffix}Peer", peer, own, low, high)
        if peer == own:
            for rule in rules:
                rule.apply_removal_policy(self._removal_policy)
        return rules

    def _await(self, *rules: CfnResource) -> None:
        self._resource.node.add_dependency(*rules)


def _rule(scope: Construct, id: str, group: str, peer: str, low: int | None, high: int | None) -> list[CfnResource]:
    """The two rules of `group` for traffic from and to `peer`."""
    protocol = "-1" if low is None else "tcp"
    ingress = ec2.CfnSecurityGroupIngress(
        scope,
        f"{id}Ingress",
        group_id=group,
        source_security_group_id=peer,
        ip_protocol=protocol,
        from_port=low,
        to_port=high,
        description="Lustre",
    )
    egress = ec2.CfnSecurityGroupEgress(
        scope,
        f"{id}Egress",
        group_id=group,
        destination_security_group_id=peer,
        ip_protocol=protocol,
        from_port=low,
        to_port=high,
        description="Lustre",
    )
    return [ingress, egress]


def _metadata(iops: int | None) -> fsx.CfnFileSystem.MetadataConfigurationProperty:
    if iops is None:
        return fsx.CfnFileSystem.MetadataConfigurationProperty(mode="AUTOMATIC")
    return fsx.CfnFileSystem.MetadataConfigurationProperty(mode="USER_PROVISIONED", iops=iops)


def _check_capacity(construct: Construct, capacity: int, throughput: int, efa: bool) -> None:
    if is_unknown(throughput):
        return
    allowed = lustre.tiers(_DEPLOYMENT, _STORAGE)
    mistake = lustre.tier_mistake("per_unit_storage_throughput", throughput, _DEPLOYMENT, allowed)
    choices = lustre.capacities(_DEPLOYMENT, _STORAGE, throughput, efa)
    if mistake is None and choices is not None and not is_unknown(capacity):
        mistake = choices.mistake("storage_capacity_gib", capacity)
    if mistake is not None:
        raise ValueError(f"{construct.node.path}: {mistake}")


def _check_metadata(construct: Construct, iops: int | None) -> None:
    mistake = None if iops is None or is_unknown(iops) else lustre.metadata_mistake("metadata_iops", iops)
    if mistake is not None:
        raise ValueError(f"{construct.node.path}: {mistake}")


def _ports() -> tuple[tuple[int, int], ...]:
    """The first and the last port of each of Lustre's TCP ranges."""
    return tuple((ports[0], ports[-1]) for ports in (lustre.LNET_PORTS, lustre.CLIENT_PORTS))
