"""Sets fields of a Lustre file system that CloudFormation lacks: root squash.

The start of an operation calls nothing: each look compares the file system with the wanted values and asks for the change if no
other update is under way. So an event that comes twice, a lost answer or a killed function does no harm, and the deletion after
a failed creation undoes what that has done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from . import answers, resource
from .aws import LOOK_SECONDS, Patient, code
from .errors import OperationError
from .resource import Done, Request, Resource, Undo, Waiting

_PREFIX = "file-system-fields|"

# The ids of a file system without root squash.
_OFF = "0:0"

_GONE = frozenset({"DELETING", "FAILED"})
_LOST = _GONE | {"MISCONFIGURED", "MISCONFIGURED_UNAVAILABLE"}
_UNDER_WAY = frozenset({"PENDING", "IN_PROGRESS"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Properties:
    """The file system, the user and group that root becomes, as `UID:GID`, and the exempt clients."""

    file_system_id: str
    root_squash: str
    no_squash_nids: tuple[str, ...] = ()


@dataclass(frozen=True)
class _FileSystem:
    """A file system as DescribeFileSystems shows it."""

    shown: Mapping[str, Any]

    @property
    def lifecycle(self) -> str:
        return answers.text(self.shown, "Lifecycle")

    @property
    def ids(self) -> str:
        """The ids of its root squash; empty where none was ever set, or where the answer lacks them."""
        return answers.text(self.shown, "LustreConfiguration", "RootSquashConfiguration", "RootSquash")

    @property
    def nids(self) -> frozenset[str]:
        """The exempt clients."""
        squash = answers.structure(self.shown, "LustreConfiguration", "RootSquashConfiguration")
        found = squash.get("NoSquashNids")
        return frozenset(found) if isinstance(found, list) else frozenset()

    @property
    def busy(self) -> bool:
        """Whether an update is under way; FSx takes no other meanwhile."""
        return self.lifecycle != "AVAILABLE" or any(answers.text(each, "Status") in _UNDER_WAY for each in self._updates())

    def update_to(self, ids: str, since: float, status: str) -> Mapping[str, Any] | None:
        """The update to these ids, if the newest of root squash since then is one of this status."""
        for each in self._updates():
            asked = answers.moment(each, "RequestTime")
            target = answers.text(each, "TargetFileSystemValues", "LustreConfiguration", "RootSquashConfiguration", "RootSquash")
            if target and asked is not None and asked.timestamp() >= since:
                return each if (target, answers.text(each, "Status")) == (ids, status) else None
        return None

    def _updates(self) -> list[Mapping[str, Any]]:
        """The updates, the newest first."""
        found = answers.structures(self.shown, "AdministrativeActions")
        found = [each for each in found if answers.text(each, "AdministrativeActionType") == "FILE_SYSTEM_UPDATE"]
        return sorted(found, key=lambda each: getattr(answers.moment(each, "RequestTime"), "timestamp", float)(), reverse=True)


class FileSystemFields(Resource[Properties]):
    """Root squash of one file system. A deletion switches it off if the ids are still those of the resource."""

    properties = Properties

    def create(self, request: Request[Properties], undo: Undo) -> str:
        """The physical id, from the file system's."""
        return f"{_PREFIX}{request.properties.file_system_id}"

    def update(self, physical_id: str, request: Request[Properties]) -> str:
        """The physical id; for another file system it is another one, and the deletion of the old one switches it off there."""
        return f"{_PREFIX}{request.properties.file_system_id}"

    def delete(self, physical_id: str) -> None:
        """Nothing: without its properties the resource does not know its own value."""

    def created(self, physical_id: str, request: Request[Properties]) -> Waiting | Done:
        """Whether the file system has the values, and no update is under way.

        :raises OperationError: if the file system is lost, the update failed, or the time is over.
        """
        now = self._clock()
        return self._look(request, now)

    def ended(self, physical_id: str, request: Request[Properties] | None) -> bool:
        """Whether the file system has no root squash of this resource: it is switched off, someone set another, or it is gone.

        :raises OperationError: if the time is over.
        """
        name = physical_id.removeprefix(_PREFIX)
        if request is None or name == physical_id:
            return True
        now = self._clock()
        try:
            return self._is_off(name, request, now)
        except ClientError as error:
            if code(error) == "FileSystemNotFound":
                return True
            raise

    def _look(self, request: Request[Properties], now: float) -> Waiting | Done:
        wanted = request.properties
        fsx = self._patient(now)
        found = _described(fsx, wanted.file_system_id)
        name = f"DescribeFileSystems: {wanted.file_system_id} is {answers.shown(found.shown, 'Lifecycle', otherwise='not shown')}"
        if found.lifecycle in _LOST:
            raise OperationError(
                f"{name}: {answers.shown(found.shown, 'FailureDetails', 'Message', otherwise='no reason', limit=300)}"
            )
        same = found.ids == wanted.root_squash and found.nids == frozenset(wanted.no_squash_nids)
        if same and not found.busy:
            return Done(_attributes(wanted))
        failed = found.update_to(wanted.root_squash, request.started, "FAILED")
        if failed is not None:
            why = answers.shown(failed, "FailureDetails", "Message", otherwise="the service gives no reason", limit=300)
            raise OperationError(f"UpdateFileSystem: root squash of {wanted.file_system_id} failed: {why}")
        if not found.busy:
            self._set(fsx, wanted.file_system_id, wanted.root_squash, wanted.no_squash_nids)
        if now >= request.deadline:
            minutes = round((now - request.started) / 60)
            raise OperationError(f"{name}, with root squash {found.ids or 'off'} after {minutes} min; wanted {wanted.root_squash}")
        return Waiting(f"{name}; root squash {found.ids or 'off'} becomes {wanted.root_squash}")

    def _is_off(self, name: str, request: Request[Properties], now: float) -> bool:
        own = request.properties.root_squash
        fsx = self._patient(now)
        found = _described(fsx, name)
        if found.lifecycle in _GONE or own == _OFF:
            return True
        if not found.busy:
            if found.ids not in ("", own) or (not found.ids and found.update_to(_OFF, request.started, "COMPLETED") is not None):
                return True
            self._set(fsx, name, _OFF, ())
        if now >= request.deadline:
            raise OperationError(f"DescribeFileSystems: root squash of {name} is not off; it is {found.ids or 'not shown'}")
        return False

    def _set(self, fsx: Patient, name: str, ids: str, nids: tuple[str, ...]) -> None:
        """Ask for a root squash. A refusal beside an update of another, or of a call whose answer was lost, is no failure."""
        squash = {"RootSquash": ids, "NoSquashNids": list(nids)}
        try:
            fsx.call("update_file_system", FileSystemId=name, LustreConfiguration={"RootSquashConfiguration": squash})
        except ClientError as error:
            if code(error) != "BadRequest" or not _described(fsx, name).busy:
                raise

    def _patient(self, now: float) -> Patient:
        return Patient(self._clients("fsx"), now + LOOK_SECONDS, self._clock, self._sleep)


def _described(fsx: Patient, name: str) -> _FileSystem:
    found = answers.structures(fsx.call("describe_file_systems", FileSystemIds=[name]), "FileSystems")
    return _FileSystem(next((each for each in found if answers.text(each, "FileSystemId") == name), {}))


def _attributes(wanted: Properties) -> dict[str, str]:
    return {"RootSquash": wanted.root_squash}


FIELDS = FileSystemFields()


def on_event(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Lambda entry: start an operation."""
    return resource.on_event(FIELDS, event, context=context)


def is_complete(event: dict[str, Any], _: object) -> dict[str, Any]:
    """Lambda entry: look whether an operation is complete."""
    return resource.is_complete(FIELDS, event)
