"""Addresses of a subnet that a file system of a template takes; at least the sure ones."""

from __future__ import annotations

from hyperpod_constructs.facts.addresses import lustre_addresses
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, as_bool, as_int, as_str


def file_system_addresses(file_system: Resource) -> int:
    """Addresses of a file system in each of its subnets."""
    if as_str(file_system.get("FileSystemType")) != "LUSTRE":
        return 1
    iops = as_int(file_system.get("LustreConfiguration", "MetadataConfiguration", "Iops")) or 1
    if as_str(file_system.get("LustreConfiguration", "DeploymentType")) != "PERSISTENT_2":
        return lustre_addresses(capacity_gib=1, metadata_iops=iops)
    efa = file_system.get("LustreConfiguration", "EfaEnabled")
    return lustre_addresses(
        capacity_gib=as_int(file_system.get("StorageCapacity")) or 1,
        throughput=as_int(file_system.get("LustreConfiguration", "PerUnitStorageThroughput")) or 0,
        efa=efa is not ABSENT and as_bool(efa) is not False,
        tiering_mbps=as_int(file_system.get("LustreConfiguration", "ThroughputCapacity")),
        metadata_iops=iops,
    )
