"""Root squash of one file system, beside another one that has root squash of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from constructs import Construct

from hyperpod_constructs.custom_resources.file_system_fields import FileSystemFields, LustreRootSquashConfiguration
from hyperpod_constructs.storage.existing_lustre import ExistingLustre
from tests.custom_resources.case import Case, Variant
from tests.custom_resources.lustre_worlds import file_systems
from tests.custom_resources.world import World

MISSING = "fs-00000000000000000"


class FileSystemFieldsCase(Case):
    failure = "DescribeFileSystems: FileSystemNotFound"

    def prepare(self, world: World) -> None:
        file_systems(world, "own", "other", "strange")
        squash = {"RootSquashConfiguration": {"RootSquash": "7:7"}}
        fsx, strange = world.client("fsx"), world.names["strange"]
        fsx.update_file_system(FileSystemId=strange, LustreConfiguration=squash)
        world.wait(lambda: _squash(fsx, strange)[0] == "7:7" or None, "root squash of another")

    def build(self, scope: Construct, world: World, variant: Variant) -> None:
        name = MISSING if variant is Variant.BROKEN else world.names["other" if variant is Variant.RENAMED else "own"]
        changed = variant is Variant.CHANGED
        squash = LustreRootSquashConfiguration(
            root_squash="1001:1002" if changed else "65534:65534", no_squash_nids=["10.0.[2-10].[1-255]@tcp"] if changed else []
        )
        file_system = ExistingLustre(file_system_id=name, dns_name=f"{name}.fsx.us-west-2.amazonaws.com", mount_name="abc")
        FileSystemFields(scope, "Fields", file_system=file_system, root_squash=squash)

    def read(self, world: World) -> Mapping[str, Any]:
        return {name: _squash(world.client("fsx"), identifier) for name, identifier in world.names.items()}


def _squash(fsx: Any, identifier: str) -> tuple[str, tuple[str, ...], str]:
    (found,) = fsx.describe_file_systems(FileSystemIds=[identifier])["FileSystems"]
    squash = found["LustreConfiguration"].get("RootSquashConfiguration", {})
    return (
        squash.get("RootSquash", "0:0"),
        tuple(squash.get("NoSquashNids", ())),
        found["LustreConfiguration"]["DataCompressionType"],
    )
