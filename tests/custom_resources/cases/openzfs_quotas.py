"""Quotas of one volume, which has another quota that someone set by hand, beside a volume with quotas of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from constructs import Construct

from hyperpod_constructs.custom_resources.openzfs_quotas import OpenZfsQuota, OpenZfsQuotas, OpenZfsQuotaType
from hyperpod_constructs.storage.existing_openzfs import ExistingOpenZfs
from tests.custom_resources.case import Case, Variant
from tests.custom_resources.world import World

MISSING = "fsvol-00000000000000000"
BY_HAND = {"Type": "USER", "Id": 7, "StorageCapacityQuotaGiB": 7}


class OpenZfsQuotasCase(Case):
    failure = "DescribeVolumes: VolumeNotFound"
    unnoticed: Mapping[str, str] = {
        "DescribeVolumes.Volumes.OpenZFSConfiguration.UserAndGroupQuotas": "a volume without quotas may have no list"
    }

    def prepare(self, world: World) -> None:
        fsx = world.client("fsx")
        for name in ("own", "other"):
            made = fsx.create_file_system(
                FileSystemType="OPENZFS",
                StorageCapacity=64,
                SubnetIds=[world.subnet],
                SecurityGroupIds=[world.security_group],
                OpenZFSConfiguration={"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 160},
            )["FileSystem"]
            world.names[name] = made["FileSystemId"]
            volume = world.names[f"{name} volume"] = made["OpenZFSConfiguration"]["RootVolumeId"]
            _set_by_hand(world, fsx, volume)

    def build(self, scope: Construct, world: World, variant: Variant) -> None:
        name = "other" if variant is Variant.RENAMED else "own"
        volume = MISSING if variant is Variant.BROKEN else world.names[f"{name} volume"]
        changed = variant is Variant.CHANGED
        quotas = [
            OpenZfsQuota(id=1001, storage_capacity_quota_gib=20 if changed else 10),
            OpenZfsQuota(type=OpenZfsQuotaType.GROUP, id=1003 if changed else 1002, storage_capacity_quota_gib=100),
        ]
        identifier = world.names[name]
        file_system = ExistingOpenZfs(
            file_system_id=identifier, dns_name=f"{identifier}.fsx.us-west-2.amazonaws.com", root_volume_id=volume
        )
        OpenZfsQuotas(scope, "Quotas", file_system=file_system, quotas=quotas)

    def read(self, world: World) -> Mapping[str, Any]:
        fsx = world.client("fsx")
        volumes = {name: _volume(fsx, world.names[f"{name} volume"]) for name in ("own", "other")}
        return {
            name: (_quotas(fsx, found["VolumeId"]), found["OpenZFSConfiguration"]["DataCompressionType"])
            for name, found in volumes.items()
        }


def _set_by_hand(world: World, fsx: Any, volume: str) -> None:
    world.wait(lambda: _volume(fsx, volume)["Lifecycle"] == "AVAILABLE" or None, "a volume")
    fsx.update_volume(VolumeId=volume, OpenZFSConfiguration={"UserAndGroupQuotas": [BY_HAND]})
    world.wait(lambda: _quotas(fsx, volume) or None, "the quota of another")


def _volume(fsx: Any, identifier: str) -> Mapping[str, Any]:
    (found,) = fsx.describe_volumes(VolumeIds=[identifier])["Volumes"]
    return dict(found)


def _quotas(fsx: Any, identifier: str) -> list[tuple[str, int, int]]:
    found = _volume(fsx, identifier)["OpenZFSConfiguration"]["UserAndGroupQuotas"]
    return sorted((quota["Type"], quota["Id"], quota["StorageCapacityQuotaGiB"]) for quota in found)
