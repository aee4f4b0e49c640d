"""What a preflight must know of a cluster and of file systems, read from their L1s at synthesis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_constructs.facts.addresses import least_node_addresses, least_node_interfaces, lustre_addresses
from hyperpod_constructs.facts.instance_types import INSTANCE_FACTS, instance_type

_SCHEME = "s3://"


class Rendered:
    """The properties of a cluster's L1, resolved. What is known at deployment only stays an intrinsic function.

    Only single members are read. A whole group would bring references to file systems, which await the preflight.
    """

    def __init__(self, stack: Stack, cluster: sagemaker.CfnCluster) -> None:
        self._properties: Mapping[str, Any] = stack.resolve(cluster._cfn_properties)

    @property
    def groups(self) -> list[dict[str, Any]]:
        """The property `Groups`."""
        return [self._group(group) for group in self._listed()]

    @property
    def roles(self) -> list[Any]:
        """The ARNs of the nodes' roles, each once."""
        return _once(group["executionRole"] for group in self._listed() if "executionRole" in group)

    @property
    def plans(self) -> list[Any]:
        """The ARNs of the training plans, each once."""
        return _once(group["trainingPlanArn"] for group in self._listed() if "trainingPlanArn" in group)

    @property
    def bucket(self) -> Any:
        """The name of the bucket of the lifecycle scripts; `None` without one, or if it cannot be read from the address."""
        addresses = [_at(group, "lifeCycleConfig", "sourceS3Uri") for group in self._listed()]
        return next((name for name in map(_bucket, addresses) if name is not None), None)

    def _listed(self) -> list[Mapping[str, Any]]:
        lists = [self._properties.get(name) for name in ("instanceGroups", "restrictedInstanceGroups")]
        return [group for found in lists if isinstance(found, list) for group in found if isinstance(group, Mapping)]

    def _group(self, group: Mapping[str, Any]) -> dict[str, Any]:
        kinds = _at(group, "instanceRequirements", "instanceTypes") or [group.get("instanceType")]
        known = all(isinstance(kind, str) and kind in INSTANCE_FACTS for kind in kinds)
        facts = [instance_type(kind) for kind in kinds] if known else []
        on_eks = _at(self._properties, "orchestrator", "eks") is not None
        interface = _at(group, "networkInterface", "interfaceType")
        sizes = [_at(volume, "ebsVolumeConfig", "volumeSizeInGb") for volume in group.get("instanceStorageConfigs") or []]
        network = group.get("overrideVpcConfig") or self._properties.get("vpcConfig") or {}
        return {
            "Name": group.get("instanceGroupName"),
            "Count": group.get("instanceCount", 0),
            "InstanceTypes": kinds,
            "Addresses": least_node_addresses(facts, on_eks, interface),
            "Interfaces": least_node_interfaces(facts),
            "VolumeGb": max((size for size in sizes if isinstance(size, int)), default=0),
            **({"TrainingPlan": group["trainingPlanArn"]} if "trainingPlanArn" in group else {}),
            **({"Spot": True} if _at(group, "capacityRequirements", "spot") is not None else {}),
            "Subnets": network.get("subnets", []) if isinstance(network, Mapping) else [],
        }


def file_system(stack: Stack, resource: fsx.CfnFileSystem) -> dict[str, Any]:
    """A file system of this stack in the property `FileSystems`."""
    properties = stack.resolve(resource._cfn_properties)
    lustre = properties.get("lustreConfiguration") or {}
    capacity, deployment = _whole(properties.get("storageCapacity")), str(lustre.get("deploymentType"))
    return {
        "LogicalId": stack.get_logical_id(resource),
        "Subnet": properties["subnetIds"][0],
        "Addresses": _addresses(lustre, capacity) if deployment == "PERSISTENT_2" else 1,
        "CapacityGib": capacity,
        **({"Quota": f"Lustre {deployment.capitalize()}"} if deployment.startswith("PERSISTENT_") else {}),
    }


def _addresses(lustre: Mapping[str, Any], capacity: int) -> int:
    return lustre_addresses(
        capacity_gib=capacity or 1,
        throughput=_whole(lustre.get("perUnitStorageThroughput")),
        efa=lustre.get("efaEnabled", False) is not False,
        tiering_mbps=_whole(lustre.get("throughputCapacity")) or None,
        metadata_iops=_whole(_at(lustre, "metadataConfiguration", "iops")) or 1,
    )


def _whole(value: Any) -> int:
    """A whole number; 0 for one that is not known."""
    return value if isinstance(value, int) else 0


def _bucket(address: Any) -> Any:
    """The bucket in an address `s3://bucket/...`, written out or joined of parts."""
    if isinstance(address, str):
        return address.removeprefix(_SCHEME).partition("/")[0] if address.startswith(_SCHEME) else None
    parts = _at(address, "Fn::Join")
    if not isinstance(parts, list) or len(parts) != 2 or parts[0] != "" or not isinstance(parts[1], list):
        return None
    first, *rest = parts[1]
    if first != _SCHEME:
        return _bucket(first) if isinstance(first, str) and "/" in first.removeprefix(_SCHEME) else None
    return rest[0] if rest else None


def _at(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _once(values: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found
