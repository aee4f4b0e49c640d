"""FSx file systems of the templates, with the defaults of the service."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from hyperpod_constructs.analysis.clusters import given
from hyperpod_constructs.analysis.networks import SUBNET, network_facts
from hyperpod_constructs.analysis.placement import FILE_SYSTEM, groups_at
from hyperpod_constructs.analysis.security_groups import security_groups
from hyperpod_constructs.analysis.traffic import Side
from hyperpod_constructs.facts.addresses import lustre_addresses
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_int, as_str

MOUNT_TARGET = "AWS::EFS::MountTarget"
LUSTRE = "LUSTRE"
OPENZFS = "OPENZFS"
TIERING = "INTELLIGENT_TIERING"


@dataclass(frozen=True)
class Lustre:
    """A Lustre file system."""

    resource: Resource
    path: tuple[str | int, ...] = ()

    def get(self, *path: str | int) -> Value:
        """The value at a path in its Lustre configuration."""
        return self.resource.get("LustreConfiguration", *path)

    def has(self, *path: str | int) -> bool | None:
        """Whether a value is written there; `None` if that is not known."""
        return given(self.get(*path))

    @cached_property
    def deployment(self) -> str | None:
        """Its deployment type; `None` if it is not known."""
        return self._or(self.get("DeploymentType"), "SCRATCH_1")

    @cached_property
    def storage(self) -> str | None:
        """Its storage type; `None` if it is not known."""
        return self._or(self.resource.get("StorageType"), "SSD")

    @cached_property
    def efa(self) -> bool | None:
        """Whether it has EFA."""
        written = self.get("EfaEnabled")
        return False if written is ABSENT else as_bool(written)

    @property
    def throughput(self) -> int | None:
        """MB/s per TiB, if it is known."""
        return as_int(self.get("PerUnitStorageThroughput"))

    @property
    def from_backup(self) -> bool | None:
        """Whether it is made from a backup, which then has the missing properties."""
        return given(self.resource.get("BackupId"))

    @property
    def region(self) -> str | None:
        """Its region, if that is known."""
        return self.resource.template.environment.region

    @staticmethod
    def _or(value: Value, default: str) -> str | None:
        return default if value is ABSENT else as_str(value)


def mount_targets_of(system: Resource) -> list[Resource]:
    """The mount targets of a file system of EFS."""
    return [one for one in system.template.model.resources(MOUNT_TARGET) if resource_of(one.get("FileSystemId")) is system]


def side_of_target(target: Resource) -> Side:
    """The groups and the subnet of a mount target of EFS, as far as they are in the model."""
    model, groups = target.template.model, groups_at(target, "SecurityGroups")
    subnet = resource_of(target.get("SubnetId"), SUBNET)
    return Side(
        target.logical_id,
        None if groups is None else tuple(map(security_groups(model).of, groups)),
        None if subnet is None else (network_facts(model).subnet(subnet),),
        place=(target, ("SecurityGroups",)),
    )


def addresses_of(file_system: Resource) -> int:
    """Addresses that a file system takes in each of its subnets; at least the sure ones."""
    if as_str(file_system.get("FileSystemType")) != LUSTRE:
        return 1
    lustre = Lustre(file_system)
    iops = as_int(lustre.get("MetadataConfiguration", "Iops")) or 1
    if lustre.deployment != "PERSISTENT_2":
        return lustre_addresses(capacity_gib=1, metadata_iops=iops)
    return lustre_addresses(
        capacity_gib=as_int(file_system.get("StorageCapacity")) or 1,
        throughput=lustre.throughput or 0,
        efa=lustre.efa is not False,
        tiering_mbps=as_int(lustre.get("ThroughputCapacity")),
        metadata_iops=iops,
    )


def lustre_file_systems(model: Model) -> Iterator[Lustre]:
    """The Lustre file systems of a model."""
    return (Lustre(resource) for resource in file_systems_of(model, LUSTRE))


def file_systems_of(model: Model, kind: str) -> Iterator[Resource]:
    """The file systems of a kind."""
    return (resource for resource in model.resources(FILE_SYSTEM) if as_str(resource.get("FileSystemType")) == kind)
