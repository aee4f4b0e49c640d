"""Values of an OpenZFS file system's configuration, by the names of the service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import aws_fsx as fsx

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.values import ExportClients, ExportOption
from hyperpod_constructs.facts import openzfs
from hyperpod_constructs.facts.mistake import Mistake


class OpenZfsDeploymentType(StrEnum):
    """A kind of file system in one zone. Those with HA have a second server, which takes over within a minute."""

    SINGLE_AZ_1 = "SINGLE_AZ_1"
    SINGLE_AZ_2 = "SINGLE_AZ_2"
    SINGLE_AZ_HA_1 = "SINGLE_AZ_HA_1"
    SINGLE_AZ_HA_2 = "SINGLE_AZ_HA_2"


class OpenZfsCompressionType(StrEnum):
    """Compression of file data. LZ4 costs the least time, ZSTD saves the most space."""

    LZ4 = "LZ4"
    ZSTD = "ZSTD"
    NONE = "NONE"


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class OpenZfsClientConfiguration:
    """The clients that may mount a volume, and their rights.

    :param clients: an address, a block such as `10.1.0.0/16`, or `*` for every host that the security group admits, which is the
        default.
    :param options: options of exports(5). By default clients read and write (`rw`), see snapshots (`crossmnt`), and root of a node
        is root on the file system (`no_root_squash`), because this library's steps make homes as root.
    :raises ValueError: for no option, or more than 20.

    Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSClientConfiguration.html
    """

    clients: ExportClients = "*"
    options: Sequence[ExportOption] = ("rw", "crossmnt", "no_root_squash")

    def __post_init__(self) -> None:
        mistake = openzfs.EXPORT_OPTIONS.mistake("options", self.options)
        if mistake is not None:
            raise ValueError(f"OpenZfsClientConfiguration: {mistake}")

    def render(self) -> fsx.CfnFileSystem.ClientConfigurationsProperty:
        """The struct of the L1."""
        return fsx.CfnFileSystem.ClientConfigurationsProperty(clients=self.clients, options=list(self.options))


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenZfsFigures:
    """The figures as the caller gave them; `None` for those left out. See `OpenZfsStorage` for each."""

    deployment_type: OpenZfsDeploymentType
    storage_capacity_gib: int
    throughput_capacity: int
    disk_iops: int | None
    record_size_kib: int | None

    def check(self, where: str) -> None:
        """Refuse figures that the service does not have.

        :raises ValueError: with the first mistake.
        """
        mistakes = (self._throughput(), self._capacity(), self._iops(), self._record_size())
        mistake = next((found for found in mistakes if found is not None), None)
        if mistake is not None:
            raise ValueError(f"{where}: {mistake}")

    def disks(self) -> fsx.CfnFileSystem.DiskIopsConfigurationProperty:
        """The IOPS of the disks, as the L1 takes them."""
        mode = "AUTOMATIC" if self.disk_iops is None else "USER_PROVISIONED"
        return fsx.CfnFileSystem.DiskIopsConfigurationProperty(mode=mode, iops=self.disk_iops)

    def _throughput(self) -> Mistake | None:
        if is_unknown(self.throughput_capacity):
            return None
        return openzfs.throughput_mistake("throughput_capacity", self.throughput_capacity, self.deployment_type.value)

    def _capacity(self) -> Mistake | None:
        capacity = self.storage_capacity_gib
        return None if is_unknown(capacity) else openzfs.capacity_mistake("storage_capacity_gib", capacity)

    def _iops(self) -> Mistake | None:
        if self.disk_iops is None or is_unknown(self.disk_iops) or is_unknown(self.storage_capacity_gib):
            return None
        return openzfs.iops_mistake("disk_iops", self.disk_iops, self.storage_capacity_gib)

    def _record_size(self) -> Mistake | None:
        size = self.record_size_kib
        return None if size is None or is_unknown(size) else openzfs.record_size_mistake("record_size_kib", size)
