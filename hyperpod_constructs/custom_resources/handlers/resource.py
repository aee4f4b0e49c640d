"""The life of a custom resource behind the CDK Provider framework: `on_event` starts, `is_complete` is asked again.

The framework hands what `on_event` returns to every call of `is_complete`, so the deadline is fixed once, when an
operation starts. The operation is answered some minutes before CloudFormation would stop waiting, so that
CloudFormation shows the cause.
"""

from __future__ import annotations

import logging
import os
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .aws import CALL_SECONDS
from .errors import MESSAGE_LIMIT, OperationError, describe, fit
from .properties import parse
from .redaction import redact

P = TypeVar("P")

#: The last answer comes this long before the operation's time is over: one query interval, one look at the service,
#: and the time that Lambda and Step Functions need.
RESERVE_SECONDS = 180.0

_LONGEST_SECONDS = 3600.0

#: Of the function that starts operations, see provider.py.
_FUNCTION_SECONDS = 180.0

logger = logging.getLogger("custom_resource")
logger.setLevel(logging.INFO)


@dataclass(frozen=True, kw_only=True)
class Request(Generic[P]):
    """One operation of CloudFormation. Times are epoch seconds; `request_id` is the same when it is sent again."""

    properties: P
    request_id: str
    started: float
    deadline: float


@dataclass(frozen=True)
class Waiting:
    """Not complete yet; `reason` goes to the log."""

    reason: str


@dataclass(frozen=True)
class Done:
    """Complete, with the attributes that `Fn::GetAtt` returns."""

    attributes: Mapping[str, str]


class Undo:
    """How to remove what a creation has made so far, and until when (epoch seconds) there is time for it."""

    def __init__(self, until: float = float("inf"), clock: Callable[[], float] = time.time) -> None:
        self.until = until
        self._clock = clock
        self._steps: list[tuple[str, Callable[[], object]]] = []

    def push(self, what: str, step: Callable[[], object]) -> None:
        """Add a step that removes what was just made, and the words for it in a message."""
        self._steps.append((what, step))

    def run(self) -> list[str]:
        """Run the steps, the newest first, and return what is left: `the first object: AccessDenied: ...`.

        A step that fails hides neither the others nor the cause of the failed creation.
        """
        left = []
        for what, step in reversed(self._steps):
            try:
                if self._clock() > self.until:
                    raise OperationError("no time is left")
                step()
            except Exception as error:
                left.append(f"{what}: {describe(error)}")
                logger.error("clean-up failed, something may be left: %s", left[-1])
        return left


class Resource(ABC, Generic[P]):
    """One type of custom resource.

    Every method may be called twice for the same operation and does nothing the second time. Whatever a method raises
    becomes the reason that CloudFormation shows.
    """

    properties: type[P]

    @abstractmethod
    def create(self, request: Request[P], undo: Undo) -> str:
        """Start the creation and return the physical id, the stable identity of the resource.

        CloudFormation never deletes what a failed start has made: push the removal of each part to `undo`, which runs
        in reverse order when the method raises. Push only what this call has made: CloudFormation and Lambda may send the
        same creation twice, and the first may have succeeded.
        """

    @abstractmethod
    def update(self, physical_id: str, request: Request[P]) -> str:
        """Start the change and return the physical id; after another id, CloudFormation deletes the old one."""

    @abstractmethod
    def delete(self, physical_id: str) -> None:
        """Start the deletion; a resource that does not exist is a success."""

    @abstractmethod
    def created(self, physical_id: str, request: Request[P]) -> Waiting | Done:
        """Whether the creation is complete."""

    def updated(self, physical_id: str, request: Request[P]) -> Waiting | Done:
        """Whether the change is complete: as for a creation, unless a resource says otherwise."""
        return self.created(physical_id, request)

    def deleted(self, physical_id: str) -> bool:
        """Whether the resource is gone."""
        return True

    def report(self, message: str) -> Mapping[str, str] | None:
        """The attributes with which a failing update succeeds; None lets it fail, and CloudFormation roll back."""
        return None


def on_event(
    resource: Resource[P], event: Mapping[str, Any], clock: Callable[[], float] = time.time, context: object = None
) -> dict[str, Any]:
    """Start an operation: what the Provider framework's `onEvent` calls. Lambda's `context` knows when it stops the function.

    Raises OperationError with the cause.
    """
    kind, physical_id, started = event["RequestType"], event.get("PhysicalResourceId", ""), clock()
    _log(event, "started")
    if kind == "Delete":
        with _failures(event):
            resource.delete(physical_id)
        return {"PhysicalResourceId": physical_id}
    result: dict[str, Any] = {"PhysicalResourceId": physical_id, "Started": started}
    try:
        with _failures(event):
            result["Deadline"] = started + _seconds(event) - RESERVE_SECONDS
            request = _request(resource, event, result)
            undo = Undo(started + _remaining(context) - CALL_SECONDS, clock)
            result["PhysicalResourceId"] = (
                _create(resource, request, undo) if kind == "Create" else resource.update(physical_id, request)
            )
    except OperationError as failure:
        if kind == "Create" or resource.report(str(failure)) is None:
            raise
        result["Report"] = str(failure)
    return result


def is_complete(resource: Resource[P], event: Mapping[str, Any]) -> dict[str, Any]:
    """Look whether an operation is complete: what the Provider framework's `isComplete` calls.

    Raises OperationError with the cause.
    """
    kind, physical_id = event["RequestType"], event["PhysicalResourceId"]
    if kind == "Delete":
        with _failures(event):
            return {"IsComplete": resource.deleted(physical_id)}
    attributes = resource.report(event["Report"]) if "Report" in event else None
    state: Waiting | Done = Waiting("") if attributes is None else Done(attributes)
    try:
        if attributes is None:
            with _failures(event):
                look = resource.created if kind == "Create" else resource.updated
                state = look(physical_id, _request(resource, event, event))
    except OperationError as failure:
        attributes = resource.report(str(failure)) if kind == "Update" else None
        if attributes is None:
            raise
        state = Done(attributes)
    if isinstance(state, Waiting):
        _log(event, f"waiting: {state.reason}")
        return {"IsComplete": False}
    _log(event, f"complete: {dict(state.attributes)}")
    return {"IsComplete": True, "Data": dict(state.attributes)}


@contextmanager
def _failures(event: Mapping[str, Any]) -> Iterator[None]:
    """Turn whatever is raised into OperationError with the leaf cause, logged once, without values."""
    try:
        yield
    except Exception as error:
        cause = describe(error)
        frames = "" if isinstance(error, OperationError) else "\n" + "".join(traceback.format_tb(error.__traceback__))
        logger.error("%s %s failed: %s%s", event["RequestType"], event.get("LogicalResourceId"), cause, frames)
        group = os.environ.get("AWS_LAMBDA_LOG_GROUP_NAME")
        place = f" (log group {group})" if group else ""
        raise OperationError(fit(cause, MESSAGE_LIMIT - len(place)) + place) from error


def _create(resource: Resource[P], request: Request[P], undo: Undo) -> str:
    try:
        return resource.create(request, undo)
    except Exception as error:
        left = undo.run()
        if not left:
            raise
        raise OperationError(f"{fit(describe(error), MESSAGE_LIMIT // 2)}; not removed: {'; '.join(left)}") from error


def _remaining(context: object) -> float:
    """Seconds until Lambda stops the function."""
    ask = getattr(context, "get_remaining_time_in_millis", None)
    return _FUNCTION_SECONDS if ask is None else float(ask()) / 1000


def _request(resource: Resource[P], event: Mapping[str, Any], times: Mapping[str, Any]) -> Request[P]:
    return Request(
        properties=parse(resource.properties, event["ResourceProperties"]),
        request_id=event["RequestId"],
        started=float(times["Started"]),
        deadline=float(times["Deadline"]),
    )


@dataclass(frozen=True)
class _Timeout:
    timeout_seconds: int


def _seconds(event: Mapping[str, Any]) -> float:
    return min(float(parse(_Timeout, event["ResourceProperties"]).timeout_seconds), _LONGEST_SECONDS)


def _log(event: Mapping[str, Any], message: str) -> None:
    logger.info("%s %s: %s", event["RequestType"], event.get("LogicalResourceId"), redact(message))
