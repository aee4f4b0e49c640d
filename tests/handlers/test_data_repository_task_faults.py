"""The handler of data repository tasks before a service that fails or answers otherwise than its model says."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.custom_resources.handlers.data_repository_task import DataRepositoryTask, Properties
from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.resource import is_complete, on_event

from .conftest import START, Clock
from .fake_aws import FakeAws, refused

FILES = "fs-0123456789abcdef0"
IMPORT = "IMPORT_METADATA_FROM_REPOSITORY"


class Service:
    """A file system with at most one task, whose members a test sets."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.token = ""
        self.task: dict[str, Any] = {"TaskId": "task-0123456789abcdef0", "Lifecycle": "EXECUTING"}
        self.aws = FakeAws(
            {
                "DescribeDataRepositoryTasks": self._listed,
                "CreateDataRepositoryTask": self._create,
                "CancelDataRepositoryTask": {},
            }
        )

    def _create(self, **asked: Any) -> dict[str, Any]:
        self.token = asked["ClientRequestToken"]
        return {"DataRepositoryTask": self.task}

    def _listed(self, **_: Any) -> dict[str, Any]:
        tags = [{"Key": "hyperpod:data-repository-task", "Value": self.token}]
        return {"DataRepositoryTasks": [{**self.task, "Tags": tags}] if self.token else []}

    def event(self, kind: str, physical_id: str = "", **properties: Any) -> dict[str, Any]:
        wanted = {"FileSystemId": FILES, "Type": IMPORT, "TimeoutSeconds": "3600", **properties}
        event = {"RequestType": kind, "RequestId": "request", "LogicalResourceId": "Task", "ResourceProperties": wanted}
        return event if kind == "Create" else {**event, "PhysicalResourceId": physical_id}

    def start(self, event: dict[str, Any]) -> dict[str, Any]:
        return {**event, **on_event(self._handler(), event, self.clock)}

    def look(self, event: dict[str, Any]) -> dict[str, Any]:
        return is_complete(self._handler(), event)

    def _handler(self) -> DataRepositoryTask:
        return DataRepositoryTask(self.aws, self.clock, self.clock.sleep)

    def running(self) -> str:
        """The physical id of a task that runs."""
        event = self.start(self.event("Create"))
        assert self.look(event) == {"IsComplete": False}
        return str(event["PhysicalResourceId"])


@pytest.fixture
def service() -> Service:
    return Service()


def test_no_paths_are_the_whole_file_system() -> None:
    assert "Paths" not in Properties(file_system_id=FILES, type=IMPORT).request()


def test_a_task_without_a_state_fails_at_the_deadline(service: Service) -> None:
    service.task = {}
    event = service.start(service.event("Create"))
    assert service.look(event) == {"IsComplete": False}
    service.clock.now = event["Deadline"]
    with pytest.raises(OperationError, match="show no state of the task of data-repository-task"):
        service.look(event)


def test_a_task_of_another_file_system_goes_on_until_its_resource_is_deleted(service: Service) -> None:
    event = service.start(service.event("Update", service.running(), FileSystemId="fs-0fedcba9876543210"))
    assert event["Replaces"] is True
    assert service.aws.calls["CancelDataRepositoryTask"] == 0


@pytest.mark.parametrize(
    ("error", "complete"),
    [("DataRepositoryTaskEnded", False), ("DataRepositoryTaskNotFound", False), ("FileSystemNotFound", True)],
)
def test_a_task_that_ends_while_it_is_canceled_is_no_error(service: Service, error: str, complete: bool) -> None:
    event = service.start(service.event("Delete", service.running()))
    service.aws.answers["CancelDataRepositoryTask"] = refused("CancelDataRepositoryTask", error)
    assert service.look(event) == {"IsComplete": complete}
    service.task["Lifecycle"] = "SUCCEEDED"
    assert service.look(event) == {"IsComplete": True}


def test_a_task_that_is_being_canceled_is_awaited(service: Service) -> None:
    event = service.start(service.event("Delete", service.running()))
    service.task["Lifecycle"] = "CANCELING"
    assert service.look(event) == {"IsComplete": False}
    assert service.aws.calls["CancelDataRepositoryTask"] == 0


def test_a_refused_cancellation_is_the_cause(service: Service) -> None:
    event = service.start(service.event("Delete", service.running()))
    service.aws.answers["CancelDataRepositoryTask"] = refused("CancelDataRepositoryTask", "BadRequest", "no")
    with pytest.raises(OperationError, match="CancelDataRepositoryTask: BadRequest: no"):
        service.look(event)


def test_a_list_without_an_end_proves_nothing(service: Service) -> None:
    service.aws.answers["DescribeDataRepositoryTasks"] = {"DataRepositoryTasks": [], "NextToken": "again"}
    event = service.start(service.event("Create"))
    with pytest.raises(OperationError, match=f"the list of tasks of {FILES} has no end"):
        service.look(event)
    assert service.aws.calls["CreateDataRepositoryTask"] == 0
    assert service.clock.now == START
