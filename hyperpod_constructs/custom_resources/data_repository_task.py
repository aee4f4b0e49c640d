"""Runs a data repository task in a deployment: reads metadata ahead, releases files, or exports changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, Protocol

from aws_cdk import CustomResource, Duration, Stack
from constructs import Construct, IDependable, Node

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.deferred import check_at_synthesis
from hyperpod_constructs._support.statements import Statement
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.values import DaysSinceAccess, ReportPath, TaskPath
from hyperpod_constructs.custom_resources.provider import HandlerProvider
from hyperpod_constructs.facts import repository_tasks
from hyperpod_constructs.facts.mistake import Mistake


class DataRepositoryTaskType(StrEnum):
    """The direction of a task between a file system and its links to S3."""

    IMPORT_METADATA_FROM_REPOSITORY = repository_tasks.IMPORT
    """Names, sizes and owners of objects appear as files; their content is still read on first access."""
    RELEASE_DATA_FROM_FILESYSTEM = repository_tasks.RELEASE
    """The content of exported files leaves the file system; it is read from S3 again on the next access."""
    EXPORT_TO_REPOSITORY = repository_tasks.EXPORT
    """New and changed files are written to S3."""


class ExportingLink(IDependable, Protocol):
    """An association of a file system, as a task sees it."""

    @property
    def node(self) -> Node:
        """The construct's node."""
        ...

    @property
    def auto_export_events(self) -> Sequence[str]:
        """The events that it exports by itself."""
        ...


class LinkedLustre(Protocol):
    """A Lustre file system with links to S3."""

    @property
    def file_system_id(self) -> str:
        """Its id."""
        ...

    @property
    def associations(self) -> Sequence[ExportingLink]:
        """Its associations, as far as the app has made them."""
        ...


class DataRepositoryTask(Construct):
    """A task between a linked Lustre file system and S3; the deployment waits for its end.

    After an hour, or `timeout`, the deployment succeeds while the task goes on: `finished` is then "false". A failed task fails
    the deployment with the service's reason. Another change of the stack does not start the task again. A change of its arguments
    starts a new one, and cancels the old one if it still runs. A deletion cancels a running task. What it has done so far stays.

    FSx runs one task at a time for a file system. The next one waits for it.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/data-repository-tasks.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        file_system: LinkedLustre,
        type: DataRepositoryTaskType,
        paths: Sequence[TaskPath] = (),
        duration_since_last_access_days: DaysSinceAccess | None = None,
        report_path: ReportPath | None = None,
        timeout: Duration | None = None,
    ) -> None:
        """
        :param file_system: a `LustreStorage` or an imported file system, with an association. The task awaits the associations
            that the app has made.
        :param type: the direction.
        :param paths: at most 100; all that is linked when empty. For an import, places in S3 such as
            `association.data_repository_path`. For a release, directories or files such as `/data`. For an export, the same without
            the leading slash.
        :param duration_since_last_access_days: days, for a release only: files that were used later stay. 0 unless given: all
            are released.
        :param report_path: a place below a linked prefix in S3 for a list of the files that failed; none unless given.
        :param timeout: time for one deployment, 5 minutes to 1 hour; 1 hour unless given.
        :raises ValueError: for a path of the other side, too many paths, days for another direction, an export beside associations
            that export by themselves, or a timeout out of its limits.
        """
        super().__init__(scope, id)
        self._kind = type
        mistake = next(self._wrong(paths, duration_since_last_access_days), None)
        if mistake is not None:
            raise ValueError(f"{self.node.path}: {mistake}")
        self._file_system = file_system
        provider = HandlerProvider.of(self, "HyperPodDataRepositoryTaskProvider", module="data_repository_task")
        properties: dict[str, Any] = {
            "FileSystemId": file_system.file_system_id,
            "Type": type.value,
            "Paths": list(paths) or None,
            "DurationSinceLastAccessDays": duration_since_last_access_days,
            "ReportPath": report_path,
        }
        #: The custom resource, to make other resources wait for it.
        self.resource: CustomResource = provider.add_resource(
            self,
            resource_type="Custom::HyperPodDataRepositoryTask",
            properties={key: value for key, value in properties.items() if value is not None},
            statements=self._statements(),
            timeout=timeout,
        )
        self._await_associations()
        check_at_synthesis(self, self._conflicts, resource=self.resource)

    @property
    def finished(self) -> str:
        """Whether the task had ended at the last look: "true" or "false"."""
        return self.resource.get_att_string("Finished")

    @property
    def task_id(self) -> str:
        """Such as `task-0123456789abcdef0`; "unknown" if FSx has forgotten the task by now."""
        return self.resource.get_att_string("TaskId")

    @property
    def message(self) -> str:
        """The task, its state and its counts of files."""
        return self.resource.get_att_string("Message")

    def _wrong(self, paths: Sequence[str], days: int | None) -> Iterator[Mistake | str]:
        if len(paths) > repository_tasks.MOST_PATHS:
            yield f"paths has {len(paths)} items; allowed: at most {repository_tasks.MOST_PATHS}; name directories above them"
        for path in paths:
            mistake = None if is_unknown(path) else repository_tasks.path_mistake("paths", self._kind, path)
            if mistake is not None:
                yield mistake
        if days is not None and self._kind is not DataRepositoryTaskType.RELEASE_DATA_FROM_FILESYSTEM:
            yield f"duration_since_last_access_days is {days}; it is for {repository_tasks.RELEASE} only, leave it out"

    def _await_associations(self) -> None:
        """Those of a construct also if it gets them later."""
        system = self._file_system
        made: Sequence[IDependable] = [system] if isinstance(system, Construct) else system.associations
        self.resource.node.add_dependency(*made)

    def _conflicts(self) -> list[str]:
        """Associations that export by themselves, now that all are known."""
        if self._kind is not DataRepositoryTaskType.EXPORT_TO_REPOSITORY:
            return []
        exporting = [link.node.path for link in self._file_system.associations if link.auto_export_events]
        return [str(repository_tasks.export_beside_automatic_export(link)) for link in exporting[:1]]

    def _statements(self) -> list[Statement]:
        stack = Stack.of(self)
        name = self._file_system.file_system_id
        file_system = stack.format_arn(service="fsx", resource="file-system", resource_name=name)
        tasks = stack.format_arn(service="fsx", resource="task", resource_name="*")
        return [
            # DescribeDataRepositoryTasks knows no resources.
            Statement(actions=["fsx:DescribeDataRepositoryTasks"], resources=["*"]),
            Statement(actions=["fsx:CreateDataRepositoryTask"], resources=[file_system, tasks]),
            # By its tag the function finds its task again.
            Statement(actions=["fsx:CancelDataRepositoryTask", "fsx:TagResource"], resources=[tasks]),
        ]
