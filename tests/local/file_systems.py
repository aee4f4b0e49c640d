"""Correct requests to the embedded FSx; tests break them."""

from __future__ import annotations

from typing import Any

from tests.local.moto_cloud import Cloud


def lustre_group(cloud: Cloud, name: str = "lustre") -> str:
    """A security group with the self rule for Lustre's port."""
    group = cloud.new_security_group(name)
    rule = {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988, "UserIdGroupPairs": [{"GroupId": group}]}
    cloud.client("ec2").authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
    return group


def lustre(cloud: Cloud, group: str, **members: Any) -> dict[str, Any]:
    """A CreateFileSystem request: PERSISTENT_2 with metadata configuration."""
    request: dict[str, Any] = {
        "FileSystemType": "LUSTRE",
        "StorageCapacity": 1200,
        "SubnetIds": [cloud.subnet],
        "SecurityGroupIds": [group],
        "FileSystemTypeVersion": "2.15",
        "LustreConfiguration": {
            "DeploymentType": "PERSISTENT_2",
            "PerUnitStorageThroughput": 250,
            "DataCompressionType": "LZ4",
            "MetadataConfiguration": {"Mode": "AUTOMATIC"},
        },
    }
    return request | members


def openzfs(cloud: Cloud, **members: Any) -> dict[str, Any]:
    """A CreateFileSystem request: SINGLE_AZ_HA_2 with compression."""
    request: dict[str, Any] = {
        "FileSystemType": "OPENZFS",
        "StorageCapacity": 64,
        "SubnetIds": [cloud.subnet],
        "OpenZFSConfiguration": {
            "DeploymentType": "SINGLE_AZ_HA_2",
            "ThroughputCapacity": 160,
            "RootVolumeConfiguration": {"DataCompressionType": "LZ4"},
        },
    }
    return request | members
