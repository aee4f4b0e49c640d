"""Root squash against the embedded FSx and a clock that a test moves."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.file_system_fields import FileSystemFields
from hyperpod_constructs.custom_resources.handlers.resource import is_complete, on_event
from hyperpod_constructs.local.fsx.service import Fsx
from tests.local.file_systems import lustre, lustre_group
from tests.local.in_process import InProcessClient
from tests.local.moto_cloud import Cloud, moto_cloud

NOBODY = "65534:65534"
Event = dict[str, Any]


class FileSystem:
    """A file system, the handler, and the events of CloudFormation."""

    def __init__(self, cloud: Cloud) -> None:
        self.clock = cloud.clock
        self.fsx: Any = InProcessClient(Fsx(cloud.faults, cloud.client, cloud.clock))
        self.name = str(self.fsx.create_file_system(**lustre(cloud, lustre_group(cloud)))["FileSystem"]["FileSystemId"])
        self.clock.tick()
        self.handler = FileSystemFields(lambda service: self.fsx, self.clock, self.clock.tick)

    def event(self, kind: str, ids: str = NOBODY, **more: Any) -> Event:
        properties = {"FileSystemId": self.name, "RootSquash": ids, "TimeoutSeconds": "3600", **more}
        event = {"RequestType": kind, "RequestId": "1", "LogicalResourceId": "Fields", "ResourceProperties": properties}
        return event if kind == "Create" else {**event, "PhysicalResourceId": f"file-system-fields|{self.name}"}

    def start(self, event: Event) -> Event:
        return {**event, **on_event(self.handler, event, self.clock)}

    def look(self, started: Event) -> dict[str, Any]:
        return is_complete(self.handler, started)

    def settle(self, event: Event) -> dict[str, Any]:
        """The last answer of an operation."""
        started = self.start(event)
        for _ in range(10):
            answer = self.look(started)
            if answer["IsComplete"]:
                return answer
            self.clock.tick(10)
        raise AssertionError("the operation does not end")

    def set(self, ids: str) -> None:
        squash = {"RootSquashConfiguration": {"RootSquash": ids}}
        self.fsx.update_file_system(FileSystemId=self.name, LustreConfiguration=squash)
        self.clock.tick()

    @property
    def shown(self) -> dict[str, Any]:
        (found,) = self.fsx.describe_file_systems(FileSystemIds=[self.name])["FileSystems"]
        return dict(found["LustreConfiguration"].get("RootSquashConfiguration", {}))

    def updates(self) -> list[Any]:
        """The root squash of each update that was asked for."""
        asked = [given["LustreConfiguration"] for operation, given in self.fsx.requests if operation == "UpdateFileSystem"]
        return [given.get("RootSquashConfiguration", {}).get("RootSquash") for given in asked]


@pytest.fixture
def files() -> Iterator[FileSystem]:
    with moto_cloud() as cloud:
        yield FileSystem(cloud)


def test_waits_until_the_update_is_complete(files: FileSystem) -> None:
    started = files.start(files.event("Create", NoSquashNids=["10.0.1.6@tcp"]))
    assert started["PhysicalResourceId"] == f"file-system-fields|{files.name}"
    assert files.shown == {}
    assert files.look(started) == {"IsComplete": False}
    assert files.look(started) == {"IsComplete": False}
    files.clock.tick()
    assert files.look(started) == {"IsComplete": True, "Data": {"RootSquash": NOBODY}}
    assert files.shown == {"RootSquash": NOBODY, "NoSquashNids": ["10.0.1.6@tcp"]}
    assert files.updates() == [NOBODY]


def test_an_event_that_comes_again_asks_for_nothing(files: FileSystem) -> None:
    files.settle(files.event("Create"))
    files.settle(files.event("Create"))
    files.settle(files.event("Update"))
    assert files.updates() == [NOBODY]


def test_waits_for_an_update_of_somebody_else(files: FileSystem) -> None:
    files.fsx.update_file_system(FileSystemId=files.name, LustreConfiguration={"DataCompressionType": "NONE"})
    files.settle(files.event("Create"))
    assert files.updates() == [None, NOBODY]
    (found,) = files.fsx.describe_file_systems()["FileSystems"]
    assert found["LustreConfiguration"]["DataCompressionType"] == "NONE"


def test_an_update_also_changes_the_exempt_clients(files: FileSystem) -> None:
    files.settle(files.event("Create", NoSquashNids=["10.0.1.6@tcp"]))
    files.settle(files.event("Update"))
    assert files.shown == {"RootSquash": NOBODY, "NoSquashNids": []}


def test_a_deletion_switches_it_off(files: FileSystem) -> None:
    files.settle(files.event("Create"))
    files.settle(files.event("Delete"))
    assert files.shown == {"RootSquash": "0:0", "NoSquashNids": []}


def test_a_deletion_leaves_what_somebody_else_has_set(files: FileSystem) -> None:
    files.settle(files.event("Create"))
    files.set("7:7")
    files.settle(files.event("Delete"))
    assert files.shown["RootSquash"] == "7:7"


def test_a_deletion_during_the_creation_awaits_its_update_and_undoes_it(files: FileSystem) -> None:
    files.look(files.start(files.event("Create")))
    files.settle(files.event("Delete"))
    assert files.shown["RootSquash"] == "0:0"


@pytest.mark.parametrize("more", [{"PhysicalResourceId": "made-up"}, {"ResourceProperties": {}}])
def test_a_deletion_of_what_is_unknown_does_nothing(files: FileSystem, more: dict[str, Any]) -> None:
    files.set(NOBODY)
    files.settle({**files.event("Delete"), **more})
    assert files.shown["RootSquash"] == NOBODY


def test_a_deletion_after_the_file_system_succeeds(files: FileSystem) -> None:
    files.settle(files.event("Create"))
    files.fsx.delete_file_system(FileSystemId=files.name)
    files.settle(files.event("Delete"))
    files.clock.tick(10)
    files.settle(files.event("Delete"))


def test_fails_with_the_cause_of_the_service(files: FileSystem) -> None:
    with pytest.raises(OperationError, match=r"UpdateFileSystem: BadRequest: RootSquash is '0:5'; allowed: two ids other than 0"):
        files.settle(files.event("Create", "0:5"))


def test_fails_for_a_lost_file_system_at_once(files: FileSystem) -> None:
    files.fsx.delete_file_system(FileSystemId=files.name)
    with pytest.raises(OperationError, match=f"DescribeFileSystems: {files.name} is DELETING: no reason"):
        files.settle(files.event("Create"))


class Scripted:
    """An FSx with written answers."""

    def __init__(self, *file_systems: dict[str, Any]) -> None:
        self._answers = [{"FileSystems": [found]} for found in file_systems]

    def describe_file_systems(self, **_: Any) -> dict[str, Any]:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def update_file_system(self, **_: Any) -> dict[str, Any]:
        raise ClientError({"Error": {"Code": "BadRequest", "Message": "it is UPDATING"}}, "UpdateFileSystem")


def scripted(files: FileSystem, *file_systems: dict[str, Any]) -> FileSystem:
    service = Scripted(*({"FileSystemId": files.name, "Lifecycle": "AVAILABLE", **found} for found in file_systems))
    files.handler = FileSystemFields(lambda _: service, files.clock, files.clock.tick)
    return files


def action(files: FileSystem, status: str, **more: Any) -> dict[str, Any]:
    return {
        "AdministrativeActionType": "FILE_SYSTEM_UPDATE",
        "Status": status,
        "RequestTime": datetime.fromtimestamp(files.clock.now, UTC),
        "TargetFileSystemValues": {"LustreConfiguration": {"RootSquashConfiguration": {"RootSquash": NOBODY}}},
        **more,
    }


def test_fails_with_the_reason_of_a_failed_update(files: FileSystem) -> None:
    failed = action(files, "FAILED", FailureDetails={"Message": "no servers"})
    scripted(files, {"LustreConfiguration": {}, "AdministrativeActions": [failed]})
    with pytest.raises(OperationError, match=f"UpdateFileSystem: root squash of {files.name} failed: no servers"):
        files.look(files.start(files.event("Create")))


def test_a_refusal_beside_an_update_that_has_just_begun_is_no_failure(files: FileSystem) -> None:
    scripted(files, {"LustreConfiguration": {}}, {"Lifecycle": "UPDATING", "LustreConfiguration": {}})
    assert files.look(files.start(files.event("Create"))) == {"IsComplete": False}


def test_an_available_file_system_with_an_update_in_progress_is_awaited(files: FileSystem) -> None:
    current = {"LustreConfiguration": {"RootSquashConfiguration": {"RootSquash": NOBODY, "NoSquashNids": []}}}
    running = {**current, "AdministrativeActions": [action(files, "IN_PROGRESS")]}
    started = scripted(files, running, current).start(files.event("Create"))
    assert [files.look(started)["IsComplete"] for _ in "ab"] == [False, True]


@pytest.mark.parametrize("kind", ["Create", "Delete"])
def test_fails_at_the_deadline_with_what_it_saw(files: FileSystem, kind: str) -> None:
    started = scripted(files, {"Lifecycle": "UPDATING", "LustreConfiguration": {}}).start(files.event(kind))
    assert files.look(started) == {"IsComplete": False}
    files.clock.tick(3500)
    with pytest.raises(OperationError, match="DescribeFileSystems: "):
        files.look(started)
