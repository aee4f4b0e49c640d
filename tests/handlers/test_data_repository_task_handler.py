"""Data repository tasks against the embedded FSx and a clock that a test moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hyperpod_constructs.custom_resources.handlers.data_repository_task import DataRepositoryTask, Properties
from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.resource import is_complete, on_event
from hyperpod_constructs.local.fsx.service import Fsx
from tests.local.file_systems import lustre, lustre_group
from tests.local.in_process import InProcessClient
from tests.local.moto_cloud import Cloud, moto_cloud

DATA = "s3://sagemaker-scripts/v1"
IMPORT = "IMPORT_METADATA_FROM_REPOSITORY"
Event = dict[str, Any]


class Linked:
    """A linked file system, the handler, and the events of CloudFormation."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud, self.clock = cloud, cloud.clock
        self.fsx: Any = InProcessClient(Fsx(cloud.faults, cloud.client, cloud.clock))
        self.name = str(self.fsx.create_file_system(**lustre(cloud, lustre_group(cloud)))["FileSystem"]["FileSystemId"])
        self.clock.tick()
        self.fsx.create_data_repository_association(FileSystemId=self.name, FileSystemPath="/data", DataRepositoryPath=DATA)
        self.clock.tick()
        self.handler = DataRepositoryTask(lambda service: self.fsx, self.clock, self.clock.tick)

    def event(self, kind: str, *paths: str, request: str = "1", physical_id: str = "", **more: Any) -> Event:
        properties = {"FileSystemId": self.name, "Type": IMPORT, "TimeoutSeconds": "3600", "Paths": list(paths) or [DATA], **more}
        event = {"RequestType": kind, "RequestId": request, "LogicalResourceId": "Task", "ResourceProperties": properties}
        return event if kind == "Create" else {**event, "PhysicalResourceId": physical_id}

    def start(self, event: Event) -> Event:
        return {**event, **on_event(self.handler, event, self.clock)}

    def look(self, started: Event) -> dict[str, Any]:
        return is_complete(self.handler, started)

    def settle(self, event: Event) -> tuple[str, dict[str, Any]]:
        """The physical id and the attributes of a complete operation."""
        started = self.start(event)
        for _ in range(20):
            answer = self.look(started)
            if answer["IsComplete"]:
                return started["PhysicalResourceId"], answer.get("Data", {})
            self.clock.tick(1)
        raise AssertionError("the operation does not end")

    @property
    def tasks(self) -> list[tuple[list[str], str]]:
        """The paths and the state of each task."""
        found = self.fsx.describe_data_repository_tasks()["DataRepositoryTasks"]
        return [(task["Paths"], task["Lifecycle"]) for task in found]


@pytest.fixture
def linked() -> Iterator[Linked]:
    with moto_cloud() as cloud:
        yield Linked(cloud)


def test_starts_a_task_at_the_first_look_and_awaits_its_end(linked: Linked) -> None:
    started = linked.start(linked.event("Create"))
    assert linked.tasks == []
    assert linked.look(started) == {"IsComplete": False}
    assert linked.tasks == [([DATA], "PENDING")]
    linked.clock.tick(10)
    data = linked.look(started)["Data"]
    assert (data["Finished"], data["Lifecycle"]) == ("true", "SUCCEEDED")
    assert data["TaskId"].startswith("task-")
    assert data["Message"].endswith(f"({IMPORT} of {DATA}) is SUCCEEDED: 1 of 1 files, 0 failed")


def test_the_progress_goes_to_the_log(linked: Linked, caplog: pytest.LogCaptureFixture) -> None:
    for name in "abc":
        linked.cloud.client("s3").put_object(Bucket="sagemaker-scripts", Key=f"v1/{name}", Body=b"")
    started = linked.start(linked.event("Create"))
    linked.look(started)
    linked.clock.tick(1.5)
    with caplog.at_level("INFO"):
        linked.look(started)
    assert "is EXECUTING: 2 of 4 files, 0 failed" in caplog.text


def test_the_same_operation_twice_makes_one_task(linked: Linked) -> None:
    first, second = (linked.start(linked.event("Create")) for _ in "ab")
    assert first["PhysicalResourceId"] == second["PhysicalResourceId"]
    linked.look(first)
    linked.look(second)
    assert len(linked.tasks) == 1
    assert linked.settle(linked.event("Create"))[1]["Finished"] == "true"
    assert len(linked.tasks) == 1


def test_at_the_deadline_it_succeeds_and_the_task_goes_on(linked: Linked) -> None:
    linked.cloud.faults.slow_creation = 10_000.0
    started = linked.start(linked.event("Create"))
    linked.look(started)
    linked.clock.tick(3500)
    data = linked.look(started)["Data"]
    assert (data["Finished"], data["Lifecycle"]) == ("false", "PENDING")
    assert data["Message"].startswith("unfinished: task-")
    assert linked.tasks == [([DATA], "PENDING")]


def test_fails_with_the_reason_of_the_task(linked: Linked) -> None:
    with pytest.raises(OperationError, match=r"is FAILED: 0 of 1 files, 1 failed: s3://x is in no linked data repository"):
        linked.settle(linked.event("Create", "s3://x"))


def test_another_change_does_not_start_it_again(linked: Linked) -> None:
    physical_id, made = linked.settle(linked.event("Create"))
    again, found = linked.settle(linked.event("Update", request="2", physical_id=physical_id, TimeoutSeconds="600"))
    assert (again, found) == (physical_id, made)
    assert len(linked.tasks) == 1


def test_a_task_that_fsx_has_forgotten_is_not_started_again(linked: Linked) -> None:
    work = Properties(file_system_id=linked.name, type=IMPORT, paths=(DATA,)).digest()
    old = f"data-repository-task|{linked.name}|{work}|{'0' * 32}"
    assert linked.settle(linked.event("Update", physical_id=old))[1]["Message"] == "the task has ended long ago"
    assert linked.tasks == []


def test_other_paths_cancel_the_running_task_and_start_another(linked: Linked) -> None:
    started = linked.start(linked.event("Create"))
    linked.look(started)
    old = started["PhysicalResourceId"]
    new, data = linked.settle(linked.event("Update", f"{DATA}/more", request="2", physical_id=old))
    assert new != old
    assert data["Finished"] == "true"
    assert linked.tasks == [([DATA], "CANCELED"), ([f"{DATA}/more"], "SUCCEEDED")]
    linked.settle(linked.event("Delete", physical_id=old))
    assert linked.tasks == [([DATA], "CANCELED"), ([f"{DATA}/more"], "SUCCEEDED")]


def test_waits_for_the_task_of_somebody_else_and_leaves_it(linked: Linked) -> None:
    other = {"Type": "RELEASE_DATA_FROM_FILESYSTEM", "FileSystemId": linked.name, "Paths": ["/data"], "Report": {"Enabled": False}}
    linked.fsx.create_data_repository_task(**other)
    started = linked.start(linked.event("Create"))
    assert linked.look(started) == {"IsComplete": False}
    linked.settle(linked.event("Delete", physical_id=started["PhysicalResourceId"]))
    assert linked.tasks == [(["/data"], "PENDING")]
    linked.settle(linked.event("Create"))
    assert linked.tasks == [(["/data"], "SUCCEEDED"), ([DATA], "SUCCEEDED")]


def test_fails_at_the_deadline_if_it_never_began(linked: Linked) -> None:
    linked.cloud.faults.slow_creation = 10_000.0
    other = {"Type": "RELEASE_DATA_FROM_FILESYSTEM", "FileSystemId": linked.name, "Report": {"Enabled": False}}
    linked.fsx.create_data_repository_task(**other)
    started = linked.start(linked.event("Create"))
    linked.clock.tick(3500)
    with pytest.raises(OperationError, match="CreateDataRepositoryTask: DataRepositoryTaskExecuting"):
        linked.look(started)


def test_a_deletion_cancels_a_running_task_and_awaits_that(linked: Linked) -> None:
    started = linked.start(linked.event("Create"))
    linked.look(started)
    deletion = linked.start(linked.event("Delete", physical_id=started["PhysicalResourceId"]))
    assert linked.look(deletion) == {"IsComplete": False}
    assert linked.tasks == [([DATA], "CANCELING")]
    linked.clock.tick()
    assert linked.look(deletion) == {"IsComplete": True}
    assert linked.tasks == [([DATA], "CANCELED")]


@pytest.mark.parametrize("physical_id", ["made-up", "data-repository-task|fs-1", "readiness|arn"])
def test_a_deletion_of_what_is_unknown_does_nothing(linked: Linked, physical_id: str) -> None:
    linked.look(linked.start(linked.event("Create")))
    linked.settle(linked.event("Delete", physical_id=physical_id))
    assert linked.tasks == [([DATA], "PENDING")]


def test_a_release_says_its_days_and_its_report(linked: Linked) -> None:
    report = {"DurationSinceLastAccessDays": "9", "ReportPath": f"{DATA}/reports"}
    linked.settle(linked.event("Create", "/data", **report, Type="RELEASE_DATA_FROM_FILESYSTEM"))
    (task,) = linked.fsx.describe_data_repository_tasks()["DataRepositoryTasks"]
    assert task["ReleaseConfiguration"] == {"DurationSinceLastAccess": {"Unit": "DAYS", "Value": 9}}
    assert task["Report"] == {
        "Enabled": True,
        "Path": f"{DATA}/reports",
        "Format": "REPORT_CSV_20191124",
        "Scope": "FAILED_FILES_ONLY",
    }


def test_a_deletion_fails_at_its_deadline_while_the_task_runs(linked: Linked) -> None:
    linked.cloud.faults.slow_creation = 10_000.0
    started = linked.start(linked.event("Create"))
    linked.look(started)
    deletion = linked.start(linked.event("Delete", physical_id=started["PhysicalResourceId"]))
    linked.clock.tick(3500)
    with pytest.raises(OperationError, match=r"DescribeDataRepositoryTasks: the task of .* still runs"):
        linked.look(deletion)
