"""The one table of properties that no construct sets, each with the reason. A path stands for itself and all below it."""

from __future__ import annotations

from collections.abc import Mapping

_NOVA = "nodes of restricted groups have no file system but the service's own"
_ONE_ZONE = "it is for MULTI_AZ_1, and OpenZfsStorage makes file systems in the zone of the nodes"
_LINKS = "associations to S3 have replaced it, and exclude it"

UNSET: Mapping[str, Mapping[str, str]] = {
    "AWS::SageMaker::Cluster": {
        "RestrictedInstanceGroups/*/InstanceStorageConfigs/*/FsxLustreConfig": _NOVA,
        "RestrictedInstanceGroups/*/InstanceStorageConfigs/*/FsxOpenZfsConfig": _NOVA,
    },
    "AWS::FSx::FileSystem": {
        "BackupId": "a restore happens once; its file system is imported by from_attributes of LustreStorage or OpenZfsStorage",
        "LustreConfiguration/AutoImportPolicy": _LINKS,
        "LustreConfiguration/DriveCacheType": "it is for PERSISTENT_1 on hard disks, and LustreStorage makes PERSISTENT_2",
        "LustreConfiguration/ExportPath": _LINKS,
        "LustreConfiguration/ImportPath": _LINKS,
        "LustreConfiguration/ImportedFileChunkSize": _LINKS,
        "NetworkType": "nodes mount by IPv4, which is the service's default",
        "OpenZFSConfiguration/EndpointIpAddressRange": _ONE_ZONE,
        "OpenZFSConfiguration/EndpointIpv6AddressRange": _ONE_ZONE,
        "OpenZFSConfiguration/PreferredSubnetId": _ONE_ZONE,
        "OpenZFSConfiguration/ReadCacheConfiguration": "it is for Intelligent-Tiering, which OpenZFS has with MULTI_AZ_1 only",
        "OpenZFSConfiguration/RootVolumeConfiguration/ReadOnly": "homes are written to",
        "OpenZFSConfiguration/RootVolumeConfiguration/UserAndGroupQuotas": "OpenZfsQuotas sets them in place; a change here would "
        "replace the file system",
        "OpenZFSConfiguration/RouteTableIds": _ONE_ZONE,
    },
    "AWS::FSx::DataRepositoryAssociation": {},
}


def reason(resource_type: str, leaf: str) -> str | None:
    """The reason why no construct sets a leaf; `None` if the table has none."""
    return next((why for path, why in UNSET[resource_type].items() if covers(path, leaf)), None)


def covers(path: str, leaf: str) -> bool:
    """Whether a path of the table stands for a leaf."""
    return leaf == path or leaf.startswith(f"{path}/")
