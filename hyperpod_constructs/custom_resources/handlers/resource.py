"""The life of a custom resource behind the CDK Provider framework: `on_event` starts an operation, `is_complete` polls it.

The framework hands the result of `on_event` to every call of `is_complete`, so the deadline is fixed when an operation starts. The
answer comes some minutes before CloudFormation stops waiting, so that CloudFormation shows the cause.
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

# Time between the last answer and the end of the operation: one query interval, one look at the service, and the delays of Lambda
# and Step Functions.
RESERVE_SECONDS = 180.0

_LONGEST_SECONDS = 3600.0

# Timeout of the function that starts operations; see provider.py.
_FUNCTION_SECONDS = 180.0

logger = logging.getLogger("custom_resource")
logger.setLevel(logging.INFO)


@dataclass(frozen=True, kw_only=True)
class Request(Generic[P]):
    """One operation of CloudFormation. Times are epoch seconds; a repeated operation has the same `request_id`."""

    properties: P
    request_id: str
    started: float
    deadline: float


@dataclass(frozen=True)
class Waiting:
    """The operation is not complete yet; `reason` goes to the log."""

    reason: str


@dataclass(frozen=True)
class Done:
    """The operation is complete, with attributes for `Fn::GetAtt`."""

    attributes: Mapping[str, str]


class Undo:
    """The steps that remove a half-made resource.

    :param until: the time after which no step starts, in epoch seconds; unlimited by default.
    """

    def __init__(self, until: float = float("inf"), clock: Callable[[], float] = time.time) -> None:
        self.until = until
        self._clock = clock
        self._steps: list[tuple[str, Callable[[], object]]] = []

    def push(self, what: str, step: Callable[[], object]) -> None:
        """Add a step that removes the newest part.

        :param what: the part, in words for a message.
        """
        self._steps.append((what, step))

    def run(self) -> list[str]:
        """Run the steps, the newest first, and return the failures, such as `the first object: AccessDenied: ...`.

        A failed step hides neither the others nor the cause of the failed creation.
        """
        left = []
        for what, step in reversed(self._steps):
            try:
                if self._clock() > self.until:
                    raise OperationError("no time is left")
                step()
            except Exception as error:
                left.append(f"{what}: {describe(error)}")
                logger.error("the clean-up failed and may have left: %s", left[-1])
        return left


class Resource(ABC, Generic[P]):
    """One type of custom resource.

    Every method may be called twice for the same operation and does nothing the second time. CloudFormation shows the text of
    any exception as the reason.
    """

    properties: type[P]

    @abstractmethod
    def create(self, request: Request[P], undo: Undo) -> str:
        """Start the creation and return the physical id, the stable identity of the resource.

        CloudFormation never deletes the parts of a failed start. Push the removal of each part to `undo`, which runs in reverse
        order if the method raises. Push only parts of this call: CloudFormation and Lambda may send the same creation twice, and
        the first may have succeeded.
        """

    @abstractmethod
    def update(self, physical_id: str, request: Request[P]) -> str:
        """Start the change and return the physical id; if it differs, CloudFormation deletes the old resource."""

    @abstractmethod
    def delete(self, physical_id: str) -> None:
        """Start the deletion; it succeeds for a missing resource."""

    @abstractmethod
    def created(self, physical_id: str, request: Request[P]) -> Waiting | Done:
        """Whether the creation is complete."""

    def updated(self, physical_id: str, request: Request[P]) -> Waiting | Done:
        """Whether the change is complete; by default, the test for a creation."""
        return self.created(physical_id, request)

    def deleted(self, physical_id: str) -> bool:
        """Whether the resource is gone."""
        return True

    def report(self, message: str) -> Mapping[str, str] | None:
        """The attributes of a failed update that still succeeds; by default `None`: it fails, and CloudFormation rolls back."""
        return None


def on_event(
    resource: Resource[P], event: Mapping[str, Any], clock: Callable[[], float] = time.time, context: object = None
) -> dict[str, Any]:
    """Start an operation, for the Provider framework's `onEvent`.

    :param context: Lambda's context, with the time until it stops the function; by default the function's full timeout.
    :raises OperationError: with the cause of the failure.
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
    """Whether an operation is complete, for the Provider framework's `isComplete`.

    :raises OperationError: with the cause of the failure.
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
    """Turn any exception into an `OperationError` with the leaf cause, and log it once, without values."""
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
