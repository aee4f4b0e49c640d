"""Runs a data repository task of FSx for Lustre: an import of metadata, a release of files, or an export.

The start of an operation calls nothing; the first look starts the task, with a token and a tag that belong to the operation. So an
event that comes twice, a lost answer or a killed function makes one task, and a deletion finds it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from botocore.exceptions import ClientError

from . import answers, resource
from .aws import LOOK_SECONDS, Patient, code
from .errors import OperationError, fit
from .redaction import redact
from .resource import Done, Replace, Request, Resource, Undo, Waiting

_PREFIX = "data-repository-task"
_TAG = "hyperpod:data-repository-task"
_RELEASE = "RELEASE_DATA_FROM_FILESYSTEM"
_REPORT = {"Format": "REPORT_CSV_20191124", "Scope": "FAILED_FILES_ONLY"}

_RUNNING = frozenset({"PENDING", "EXECUTING"})
_ENDED = frozenset({"SUCCEEDED", "FAILED", "CANCELED"})
_ENDED_MEANWHILE = frozenset({"DataRepositoryTaskEnded", "DataRepositoryTaskNotFound"})

# Most bytes of the attribute `Message`: all attributes share CloudFormation's 4096 bytes with the rest of the response.
_MESSAGE_BYTES = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Properties:
    """The task; see CreateDataRepositoryTask.

    :param duration_since_last_access_days: for a release only.
    :param report_path: no report when empty.
    """

    file_system_id: str
    type: str
    paths: tuple[str, ...] = ()
    duration_since_last_access_days: int = 0
    report_path: str = ""

    def digest(self) -> str:
        """The same for the same work."""
        work = [self.type, list(self.paths), self.duration_since_last_access_days, self.report_path]
        return hashlib.sha256(json.dumps(work).encode()).hexdigest()[:16]

    def request(self) -> dict[str, Any]:
        """The members of CreateDataRepositoryTask."""
        report = {"Enabled": True, "Path": self.report_path, **_REPORT} if self.report_path else {"Enabled": False}
        members: dict[str, Any] = {"FileSystemId": self.file_system_id, "Type": self.type, "Report": report}
        if self.paths:
            members["Paths"] = list(self.paths)
        if self.type == _RELEASE:
            since = {"Unit": "DAYS", "Value": self.duration_since_last_access_days}
            members["ReleaseConfiguration"] = {"DurationSinceLastAccess": since}
        return members


@dataclass(frozen=True)
class _Identity:
    """The parts of a physical id: the file system, the digest of the work, and the token of the operation that began it."""

    file_system: str
    digest: str
    token: str

    def __str__(self) -> str:
        return "|".join((_PREFIX, self.file_system, self.digest, self.token))

    @classmethod
    def parsed(cls, physical_id: str) -> _Identity | None:
        parts = physical_id.split("|")
        return cls(*parts[1:]) if len(parts) == 4 and parts[0] == _PREFIX else None


class DataRepositoryTask(Resource[Properties]):
    """One task. Other work is another resource: a new task, and then the deletion of the old one, which cancels a running task."""

    properties = Properties

    def create(self, request: Request[Properties], undo: Undo) -> str:
        """The physical id, from the work and from the operation."""
        return str(_Identity(request.properties.file_system_id, request.properties.digest(), _token(request)))

    def update(self, physical_id: str, request: Request[Properties]) -> str:
        """The physical id; it stays if the work is the same.

        :raises Replace: for other work. A running old task is canceled first: FSx runs one task at a time for a file system.
        """
        own, wanted = _Identity.parsed(physical_id), request.properties
        if own is not None and (own.file_system, own.digest) == (wanted.file_system_id, wanted.digest()):
            return physical_id
        if own is not None and own.file_system == wanted.file_system_id:
            self._stop(own)
        raise Replace

    def delete(self, physical_id: str) -> None:
        """Nothing: `ended` cancels the task."""

    def created(self, physical_id: str, request: Request[Properties]) -> Waiting | Done:
        """Whether the task has ended. At the deadline it is complete too, unfinished, and the task goes on.

        :raises OperationError: if the task failed or was canceled, or if another task of the file system kept it from its start.
        """
        now = self._clock()
        return self._look(physical_id, request, now, starts=True)

    def updated(self, physical_id: str, request: Request[Properties]) -> Waiting | Done:
        """Whether the task of an earlier operation has ended. It is not started again, and its failure fails no update."""
        now = self._clock()
        return self._look(physical_id, request, now, starts=False)

    def ended(self, physical_id: str, request: Request[Properties] | None) -> bool:
        """Whether the task runs no more; a running one is canceled."""
        own = _Identity.parsed(physical_id)
        if own is None:
            return True
        now = self._clock()
        if self._stop(own):
            return True
        if request is not None and now >= request.deadline:
            raise OperationError(f"DescribeDataRepositoryTasks: the task of {physical_id} still runs, or its state is not shown")
        return False

    def _look(self, physical_id: str, request: Request[Properties], now: float, *, starts: bool) -> Waiting | Done:
        own, fsx = _Identity.parsed(physical_id), self._patient(now)
        found = None if own is None else _found(fsx, own)
        if found is None and not starts:
            return Done(_attributes({}, request.properties))
        if found is None:
            try:
                found = self._start(fsx, request)
            except ClientError as error:
                if code(error) != "DataRepositoryTaskExecuting" or now >= request.deadline:
                    raise
                return Waiting(f"CreateDataRepositoryTask: another task of {request.properties.file_system_id} runs")
        lifecycle = answers.text(found, "Lifecycle")
        if starts and lifecycle in ("FAILED", "CANCELED"):
            why = answers.shown(found, "FailureDetails", "Message", otherwise="the service gives no reason", limit=300)
            raise OperationError(f"{_summary(found, request.properties)}: {why}")
        if lifecycle in _ENDED or (lifecycle and now >= request.deadline):
            return Done(_attributes(found, request.properties))
        if now >= request.deadline:
            raise OperationError(
                f"DescribeDataRepositoryTasks and CreateDataRepositoryTask show no state of the task of {physical_id}"
            )
        return Waiting(_summary(found, request.properties))

    def _start(self, fsx: Patient, request: Request[Properties]) -> Mapping[str, Any]:
        token = _token(request)
        tags = [{"Key": _TAG, "Value": token}]
        answer = fsx.call("create_data_repository_task", **request.properties.request(), ClientRequestToken=token, Tags=tags)
        return answers.structure(answer, "DataRepositoryTask")

    def _stop(self, own: _Identity) -> bool:
        """Cancel the task if it runs; whether it runs no more."""
        fsx = self._patient(self._clock())
        try:
            found = _found(fsx, own)
            if found is None or answers.text(found, "Lifecycle") in _ENDED:
                return True
            if answers.text(found, "Lifecycle") in _RUNNING:
                fsx.call("cancel_data_repository_task", TaskId=answers.text(found, "TaskId"))
        except ClientError as error:
            if code(error) == "FileSystemNotFound":
                return True
            if code(error) not in _ENDED_MEANWHILE:
                raise
        return False

    def _patient(self, now: float) -> Patient:
        return Patient(self._clients("fsx"), now + LOOK_SECONDS, self._clock, self._sleep)


def _token(request: Request[Properties]) -> str:
    """A token that is the same when the same operation comes again."""
    return hashlib.sha256(request.request_id.encode()).hexdigest()[:32]


def _found(fsx: Patient, own: _Identity) -> Mapping[str, Any] | None:
    """The task with the tag of the resource; `None` if there is none."""
    filters = [{"Name": "file-system-id", "Values": [own.file_system]}]
    lister = partial(fsx.call, "describe_data_repository_tasks", Filters=filters, MaxResults=50)
    for page, certain in answers.pages(lambda more: lister(**more)):
        for task in answers.structures(page, "DataRepositoryTasks"):
            tags = answers.structures(task, "Tags")
            if any((answers.text(tag, "Key"), answers.text(tag, "Value")) == (_TAG, own.token) for tag in tags):
                return task
        if not certain:
            raise OperationError(f"DescribeDataRepositoryTasks: the list of tasks of {own.file_system} has no end")
    return None


def _summary(task: Mapping[str, Any], wanted: Properties) -> str:
    total, done, failed = (answers.number(task, "Status", f"{name}Count") for name in ("Total", "Succeeded", "Failed"))
    name = answers.shown(task, "TaskId", otherwise="the task")
    state = answers.shown(task, "Lifecycle", otherwise="in an unknown state")
    paths = ", ".join(wanted.paths[:3]) or "all files"
    more = f" and {len(wanted.paths) - 3} more paths" if len(wanted.paths) > 3 else ""
    counts = f"{_count(done)} of {_count(total)} files, {_count(failed)} failed"
    return f"{name} ({wanted.type} of {paths}{more}) is {state}: {counts}"


def _count(number: int | None) -> str:
    return "?" if number is None else str(number)


def _attributes(task: Mapping[str, Any], wanted: Properties) -> dict[str, str]:
    finished = not task or answers.text(task, "Lifecycle") in _ENDED
    message = _summary(task, wanted) if task else "the task has ended long ago"
    return {
        "TaskId": answers.shown(task, "TaskId"),
        "Lifecycle": answers.shown(task, "Lifecycle"),
        "Finished": "true" if finished else "false",
        "Message": fit(redact(message if finished else f"unfinished: {message}"), _MESSAGE_BYTES),
    }


TASK = DataRepositoryTask()


def on_event(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Lambda entry: start an operation."""
    return resource.on_event(TASK, event, context=context)


def is_complete(event: dict[str, Any], _: object) -> dict[str, Any]:
    """Lambda entry: look whether an operation is complete."""
    return resource.is_complete(TASK, event)
