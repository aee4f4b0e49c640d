"""Data repository tasks of the embedded FSx: bulk imports, exports and releases between a file system and its links to S3.

A task waits, runs and ends by the clock, and its counts grow meanwhile. No data moves. An import counts the objects below its paths
(at most a page of S3's), another task its paths. Not published, and decided here: the wording of errors, and one task at a time for
each file system, until it has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_constructs.facts import repository_tasks
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.changes import listed, mapped
from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.fsx.checks import refusal
from hyperpod_constructs.local.fsx.state import Association, FileSystem, moment, new_id
from hyperpod_constructs.local.paging import page

Parameters = Mapping[str, Any]
NO_TASK = "DataRepositoryTaskNotFound"
_RUNNING = ("PENDING", "EXECUTING", "CANCELING")
_MOST_ENDED = 50


@dataclass(eq=False)
class Task:
    """A task; `files` are the files to process, and `fault` the reason why it will fail."""

    identifier: str
    arn: str
    caller: Caller
    token: str
    request: dict[str, Any]
    tags: dict[str, str]
    created: float
    step: float
    files: int
    fault: str
    lifecycle: str = "PENDING"
    started: float | None = None
    ended: float | None = None
    looked: float = field(default=0.0)

    @property
    def file_system(self) -> str:
        """The id of its file system."""
        return str(self.request["FileSystemId"])

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self.lifecycle in _RUNNING

    def advance(self, now: float) -> None:
        """Enter the state of a second."""
        self.looked = now
        if self.lifecycle == "CANCELING" and self.ended is not None and now >= self.ended:
            self.lifecycle = "CANCELED"
        if self.lifecycle == "PENDING" and now >= self.created + self.step:
            self.lifecycle, self.started = "EXECUTING", self.created + self.step
        if self.lifecycle == "EXECUTING" and self.started is not None and now >= self.started + self.step:
            self.lifecycle, self.ended = "FAILED" if self.fault else "SUCCEEDED", self.started + self.step

    def cancel(self, now: float) -> None:
        """Begin to stop."""
        self.lifecycle, self.ended = "CANCELING", now + self.step

    def describe(self) -> dict[str, Any]:
        """The task in DescribeDataRepositoryTasks."""
        answer = {
            "TaskId": self.identifier,
            "ResourceARN": self.arn,
            "Lifecycle": self.lifecycle,
            "CreationTime": moment(self.created),
            **self.request,
            "Status": self._status(),
        }
        if self.started is not None:
            answer["StartTime"] = moment(self.started)
        if not self.running and self.ended is not None:
            answer["EndTime"] = moment(self.ended)
        if self.lifecycle == "FAILED":
            answer["FailureDetails"] = {"Message": self.fault[:256]}
        return answer | ({"Tags": listed(self.tags)} if self.tags else {})

    def _status(self) -> dict[str, Any]:
        share = 0.0 if self.started is None or self.step <= 0 else (self.looked - self.started) / self.step
        done = self.files if self.lifecycle == "SUCCEEDED" else 0 if self.fault else int(self.files * min(max(share, 0.0), 1.0))
        failed = self.files if self.lifecycle == "FAILED" else 0
        return {
            "TotalCount": self.files,
            "SucceededCount": done,
            "FailedCount": failed,
            "LastUpdatedTime": datetime.fromtimestamp(self.looked or self.created, UTC),
        }


class Tasks:
    """The tasks of all accounts."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._tasks: dict[str, Task] = {}

    def advance(self, now: float) -> None:
        """Bring every task to a second, and forget the oldest ended ones."""
        for task in self._tasks.values():
            if task.running:
                task.advance(now)
        ended = [key for key, task in self._tasks.items() if not task.running]
        for key in ended[:-_MOST_ENDED]:
            del self._tasks[key]

    def clear(self) -> None:
        """Forget all."""
        self._tasks.clear()

    def tagged(self, arn: str) -> Task | None:
        """The task with an ARN."""
        return next((task for task in self._tasks.values() if task.arn == arn), None)

    def running(self, file_system: str) -> Task | None:
        """The task of a file system that has not ended."""
        return next((task for task in self._tasks.values() if task.file_system == file_system and task.running), None)

    def create(
        self, parameters: Parameters, caller: Caller, arn: str, file_system: FileSystem, links: Sequence[Association], step: float
    ) -> dict[str, Any]:
        """Answer CreateDataRepositoryTask.

        :param arn: the beginning of the ARNs of tasks.
        :param step: seconds of one state.
        """
        request = {key: value for key, value in parameters.items() if key not in ("ClientRequestToken", "Tags")}
        token = str(parameters.get("ClientRequestToken", ""))
        earlier = next((task for task in self._tasks.values() if token and (task.caller, task.token) == (caller, token)), None)
        if earlier is not None:
            if earlier.request != request:
                raise AwsError(
                    "IncompatibleParameterError", f"{earlier.identifier} was created with this token and other parameters"
                )
            return {"DataRepositoryTask": earlier.describe()}
        _check(file_system, links, request)
        busy = self.running(file_system.identifier)
        if busy is not None:
            raise AwsError("DataRepositoryTaskExecuting", f"{busy.identifier} of {file_system.identifier} is {busy.lifecycle}")
        files, fault = self._work(request, links, caller)
        identifier = new_id("task")
        tags = mapped(parameters.get("Tags", ()))
        now = file_system.looked
        task = Task(identifier, f"{arn}{identifier}", caller, token, request, tags, now, step, files, fault, looked=now)
        self._tasks[identifier] = task
        return {"DataRepositoryTask": task.describe()}

    def describe(self, parameters: Parameters, caller: Caller) -> dict[str, Any]:
        """Answer DescribeDataRepositoryTasks."""
        wanted = parameters.get("TaskIds", ())
        found = [self._find(name, caller) for name in wanted] if wanted else self._mine(caller)
        for condition in parameters.get("Filters", ()):
            name, values = condition.get("Name"), condition.get("Values", ())
            if name not in ("file-system-id", "task-lifecycle"):
                raise refusal(f"the embedded AWS does not serve the filter {name}; write file-system-id or task-lifecycle")
            found = [task for task in found if (task.file_system if name == "file-system-id" else task.lifecycle) in values]
        tasks, following = page(found, parameters, 50, "BadRequest")
        return {"DataRepositoryTasks": [task.describe() for task in tasks], **following}

    def cancel(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        """Answer CancelDataRepositoryTask."""
        task = self._find(parameters["TaskId"], caller)
        if not task.running:
            raise AwsError("DataRepositoryTaskEnded", f"{task.identifier} is {task.lifecycle}; only a running task can be canceled")
        if task.lifecycle != "CANCELING":
            task.cancel(now)
        return {"Lifecycle": task.lifecycle, "TaskId": task.identifier}

    def _mine(self, caller: Caller) -> list[Task]:
        home = (caller.account, caller.region)
        return [task for task in self._tasks.values() if (task.caller.account, task.caller.region) == home]

    def _find(self, identifier: str, caller: Caller) -> Task:
        for task in self._mine(caller):
            if task.identifier == identifier:
                return task
        raise AwsError(NO_TASK, f"'{identifier}' does not exist.")

    def _work(self, request: Parameters, links: Iterable[Association], caller: Caller) -> tuple[int, str]:
        """The number of files of a task, and the reason why it will fail: a path that no association has."""
        paths = request.get("Paths") or ["/"]
        if request["Type"] != repository_tasks.IMPORT:
            return len(paths), ""
        roots = [f"{str(link.request['DataRepositoryPath']).rstrip('/')}/" for link in links]
        strange = [path for path in paths if path != "/" and not any(f"{path.rstrip('/')}/".startswith(root) for root in roots)]
        if strange:
            return len(strange), f"{strange[0]} is in no linked data repository: {', '.join(roots)}"
        return sum(self._objects(path, caller) for path in (roots if paths == ["/"] else paths)), ""

    def _objects(self, path: str, caller: Caller) -> int:
        bucket, _, prefix = path.removeprefix("s3://").partition("/")
        try:
            return int(self._clients("s3", caller).list_objects_v2(Bucket=bucket, Prefix=prefix)["KeyCount"])
        except ClientError:
            return 0


def _check(file_system: FileSystem, links: Sequence[Association], request: Parameters) -> None:
    name, kind = file_system.identifier, request["Type"]
    if kind == "AUTO_RELEASE_DATA":
        raise AwsError("UnsupportedOperation", f"{kind} is for Amazon File Cache; {name} is a file system")
    if file_system.kind != "LUSTRE" or not links:
        raise AwsError("UnsupportedOperation", f"{name} is not linked to a data repository; data repository tasks need a link")
    if file_system.lifecycle != "AVAILABLE":
        raise refusal(f"{name} is {file_system.lifecycle}; it must be AVAILABLE")
    for path in request.get("Paths", ()):
        mistake = None if (kind, path) == (repository_tasks.IMPORT, "/") else repository_tasks.path_mistake("Paths", kind, path)
        if mistake is not None:
            raise refusal(str(mistake))
    if "ReleaseConfiguration" in request and kind != repository_tasks.RELEASE:
        raise refusal(f"ReleaseConfiguration is for {repository_tasks.RELEASE}; found {kind}")
    exporting = next((link.identifier for link in links if link.exports), None)
    if kind == repository_tasks.EXPORT and exporting is not None:
        raise refusal(str(repository_tasks.export_beside_automatic_export(exporting)))
    _check_report(request["Report"], links)


def _check_report(report: Parameters, links: Iterable[Association]) -> None:
    if not report["Enabled"]:
        return
    lacking = [member for member in ("Path", "Format", "Scope") if member not in report]
    if lacking:
        raise refusal(f"Report needs {', '.join(lacking)} when it is Enabled")
    roots = [str(link.request["DataRepositoryPath"]).rstrip("/") for link in links]
    if not any(f"{report['Path'].rstrip('/')}/".startswith(f"{root}/") for root in roots):
        raise refusal(f"Path {report['Path']} of Report is not below a linked data repository: {', '.join(roots)}")
