"""Mounts of nodes: a host and a mount name of one file system."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.clusters import Group, groups
from hyperpod_constructs.analysis.file_systems import LUSTRE, OPENZFS
from hyperpod_constructs.analysis.mount_names import is_made_otherwise
from hyperpod_constructs.analysis.placement import FILE_SYSTEM, file_systems_named
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import Reference, Value, as_str, at

_OTHERS = ("ONTAP", "WINDOWS")
_KINDS = {"FsxLustreConfig": LUSTRE, "FsxOpenZfsConfig": OPENZFS}


@error(
    "HP-MNT-001",
    on=groups,
    once=True,
    title="the host and the mount name of a mount are those of one file system of its kind",
    why="the service mounts nothing: no node comes up, and the cluster rolls back",
    fix="take DNSName and LustreMountName of the same AWS::FSx::FileSystem",
    allowed="DNSName and, for Lustre, LustreMountName of one file system",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterFsxLustreConfig.html",
)
def mounts_are_of_one_file_system(group: Group) -> Iterator[Hit]:
    for kind, wanted in _KINDS.items():
        for place, mount in group.storage(kind):
            for system in list(file_systems_named(at(mount, "DnsName")))[:1]:
                found = as_str(system.get("FileSystemType"))
                if found in (*_KINDS.values(), *_OTHERS) and found != wanted:
                    yield hit(group, f"{kind} has the host of {system.logical_id}, which is {found}", *place, "DnsName")
                elif wanted == LUSTRE:
                    said = _mount_name_mistake(system, at(mount, "MountName"))
                    if said is not None:
                        yield hit(group, said, *place, "MountName")


def _mount_name_mistake(system: Resource, name: Value) -> str | None:
    if isinstance(name, Reference):
        other = resource_of(name, FILE_SYSTEM)
        if other is None or other is system or name.attribute != "LustreMountName":
            return None
        return f"the host is {system.logical_id}'s, and MountName is {other.logical_id}'s"
    if not isinstance(name, str) or not is_made_otherwise(system, name):
        return None
    return f"MountName is {name!r}, but the service makes the mount name of {system.logical_id}"
