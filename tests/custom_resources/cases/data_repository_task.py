"""Imports of metadata on a linked file system. What counts is the running task: ended ones are history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import Duration
from constructs import Construct

from hyperpod_constructs.custom_resources.data_repository_task import DataRepositoryTask, DataRepositoryTaskType
from hyperpod_constructs.storage.existing_lustre import ExistingLustre
from tests.custom_resources.case import Case, Variant
from tests.custom_resources.lustre_worlds import file_systems
from tests.custom_resources.world import SCRIPTS, World

ROOT = f"s3://{SCRIPTS}/v1"


class DataRepositoryTaskCase(Case):
    failure = "is in no linked data repository"
    wide: Mapping[str, str] = {"fsx:TagResource": "a new task has no id before it is made"}
    unneeded: Mapping[str, str] = {
        "fsx:TagResource": "AWS asks for it when a task is created with tags; the embedded AWS asks for one action of a request",
        "fsx:CancelDataRepositoryTask": "the embedded tasks end before a deletion comes",
    }

    def prepare(self, world: World) -> None:
        file_systems(world, "own")
        link = {"FileSystemPath": "/data", "DataRepositoryPath": ROOT}
        fsx = world.client("fsx")
        fsx.create_data_repository_association(FileSystemId=world.names["own"], **link)

        def available() -> bool | None:
            (found,) = fsx.describe_data_repository_associations()["Associations"]
            return found["Lifecycle"] == "AVAILABLE" or None

        world.wait(available, "the association")

    def build(self, scope: Construct, world: World, variant: Variant) -> None:
        name = world.names["own"]
        place = {Variant.RENAMED: f"{ROOT}/more", Variant.BROKEN: f"s3://{SCRIPTS}/elsewhere"}.get(variant, ROOT)
        DataRepositoryTask(
            scope,
            "Task",
            file_system=ExistingLustre(file_system_id=name, dns_name=f"{name}.fsx.us-west-2.amazonaws.com", mount_name="abc"),
            type=DataRepositoryTaskType.IMPORT_METADATA_FROM_REPOSITORY,
            paths=[place],
            timeout=Duration.minutes(30) if variant is Variant.CHANGED else None,
        )

    def read(self, world: World) -> Mapping[str, Any]:
        found = world.client("fsx").describe_data_repository_tasks()["DataRepositoryTasks"]
        return {task["Type"]: task["Paths"] for task in found if task["Lifecycle"] in ("PENDING", "EXECUTING", "CANCELING")}
