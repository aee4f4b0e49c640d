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

from .aws import CALL_SECONDS, SETTLE_SECONDS, client, transient, unsettled
from .errors import MESSAGE_LIMIT, OperationError, describe, fit
from .properties import PropertyError, parse
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
    """One operation of CloudFormation. Times are epoch seconds; a repeated operation has the same `request_id`.

    :param previous: the properties before an update; none for another operation, or if they cannot be read any more.
    :param stack: the ARN of the stack.
    :param logical_id: the resource's name in the stack.
    """

    properties: P
    request_id: str
    started: float
    deadline: float
    previous: P | None = None
    stack: str = ""
    logical_id: str = ""


@dataclass(frozen=True)
class Started:
    """A started update: the physical id, and attributes that only its start knows; they win over those of `Done`."""

    physical_id: str
    attributes: Mapping[str, str]


class Replace(Exception):  # noqa: N818  # an instruction, not an error
    """From `update`: the change needs another resource. It is created, with an `Undo`; then CloudFormation deletes the old one."""


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

    def __init__(
        self,
        clients: Callable[[str], Any] = client,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._clients, self._clock, self._sleep = clients, clock, sleep

    def now(self) -> float:
        """The time, in epoch seconds."""
        return self._clock()

    at_once: bool = False
    """Whether `on_event` does the whole operation and answers with the attributes, for a provider that does not wait."""

    @abstractmethod
    def create(self, request: Request[P], undo: Undo) -> str:
        """Start the creation and return the physical id, the stable identity of the resource.

        CloudFormation never deletes the parts of a failed start. Push the removal of each part to `undo`, which runs in reverse
        order if the method raises. Push only parts of this call: CloudFormation and Lambda may send the same creation twice, and
        the first may have succeeded.
        """

    @abstractmethod
    def update(self, physical_id: str, request: Request[P]) -> str | Started:
        """Start the change and return the physical id; if it differs, CloudFormation deletes the old resource.

        :raises Replace: if another resource must be created.
        """

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

    def end(self, physical_id: str, request: Request[P] | None) -> None:
        """Start the deletion, with the last properties if they can be read; by default, `delete`."""
        self.delete(physical_id)

    def ended(self, physical_id: str, request: Request[P] | None) -> bool:
        """Whether the resource is gone; by default, `deleted`."""
        return self.deleted(physical_id)

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
    result: dict[str, Any] = {"PhysicalResourceId": physical_id, "Started": started}
    if kind == "Delete":
        last = _last_request(resource, event, result)
        with _failures(event):
            resource.end(physical_id, last)
        return {"PhysicalResourceId": physical_id} if last is None else result
    try:
        with _failures(event):
            result["Deadline"] = started + _seconds(event) - RESERVE_SECONDS
            request = _request(resource, event, result)
            undo = Undo(started + _remaining(context) - CALL_SECONDS, clock)
            result |= _start(resource, physical_id, request, undo, creates=kind == "Create")
    except OperationError as failure:
        if kind == "Create" or resource.report(str(failure)) is None:
            raise
        result["Report"] = str(failure)
    return _finished(resource, {**event, **result}) if resource.at_once else result


def is_complete(resource: Resource[P], event: Mapping[str, Any]) -> dict[str, Any]:
    """Whether an operation is complete, for the Provider framework's `isComplete`.

    It is not yet after an error that passes: the next look may succeed.

    :raises OperationError: with the cause of the failure.
    """
    kind = event["RequestType"]
    if kind == "Delete":
        with _failures(event):
            return {"IsComplete": _ended(resource, event)}
    attributes = resource.report(event["Report"]) if "Report" in event else None
    state: Waiting | Done = Waiting("") if attributes is None else Done(attributes)
    try:
        if attributes is None:
            with _failures(event):
                state = _looked(resource, event)
    except OperationError as failure:
        attributes = resource.report(str(failure)) if kind == "Update" else None
        if attributes is None:
            raise
        state = Done(attributes)
    if isinstance(state, Waiting):
        _log(event, f"waiting: {state.reason}")
        return {"IsComplete": False}
    _log(event, f"complete: {dict(state.attributes)}")
    return {"IsComplete": True, "Data": {**state.attributes, **event.get("Attributes", {})}}


def _looked(resource: Resource[P], event: Mapping[str, Any]) -> Waiting | Done:
    look = resource.updated if event["RequestType"] == "Update" and not event.get("Replaces") else resource.created
    request = _request(resource, event, event)
    begun = resource.now()
    try:
        return look(event["PhysicalResourceId"], request)
    except Exception as error:
        if resource.at_once or not passes(request, begun, error):
            raise
        return Waiting(describe(error))


def _ended(resource: Resource[P], event: Mapping[str, Any]) -> bool:
    last = _last_request(resource, event, event)
    begun = resource.now()
    try:
        return resource.ended(event["PhysicalResourceId"], last)
    except Exception as error:
        if last is None or not passes(last, begun, error):
            raise
        logger.info("%s waits: %s", event.get("LogicalResourceId"), describe(error))
        return False


def passes(request: Request[Any], now: float, error: Exception) -> bool:
    """Whether a look may succeed later than `now`: the service is busy, or does not know a new policy or resource yet."""
    young = unsettled(error) and now < request.started + SETTLE_SECONDS
    return (young or transient(error)) and now < request.deadline


def _finished(resource: Resource[P], event: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a started operation that must be complete.

    :raises OperationError: with the cause of the failure, or if it is not complete.
    """
    answer = is_complete(resource, event)
    if not answer["IsComplete"]:
        raise OperationError("the operation is not complete, and its provider does not wait")
    return {"PhysicalResourceId": event["PhysicalResourceId"], "Data": answer["Data"]}


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


def _start(resource: Resource[P], physical_id: str, request: Request[P], undo: Undo, *, creates: bool) -> dict[str, Any]:
    """Start a creation or a change, and return what `is_complete` must know of it."""
    if creates:
        return {"PhysicalResourceId": _create(resource, request, undo)}
    try:
        started = resource.update(physical_id, request)
    except Replace:
        return {"PhysicalResourceId": _create(resource, request, undo), "Replaces": True}
    if isinstance(started, Started):
        return {"PhysicalResourceId": started.physical_id, "Attributes": dict(started.attributes)}
    return {"PhysicalResourceId": started}


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
        previous=_previous(resource, event),
        stack=event.get("StackId", ""),
        logical_id=event.get("LogicalResourceId", ""),
    )


def _previous(resource: Resource[P], event: Mapping[str, Any]) -> P | None:
    """The old properties. An older version of the library may have written them, and they must not stop an update."""
    try:
        return parse(resource.properties, event["OldResourceProperties"])
    except (KeyError, PropertyError):
        return None


def _last_request(resource: Resource[P], event: Mapping[str, Any], times: Mapping[str, Any]) -> Request[P] | None:
    """A deletion with the last properties; none if they cannot be read: a deletion must work without them."""
    started = float(times.get("Started", 0))
    try:
        return _request(resource, event, {"Started": started, "Deadline": started + _seconds(event) - RESERVE_SECONDS})
    except (KeyError, PropertyError):
        return None


@dataclass(frozen=True)
class _Timeout:
    timeout_seconds: int


def _seconds(event: Mapping[str, Any]) -> float:
    return min(float(parse(_Timeout, event["ResourceProperties"]).timeout_seconds), _LONGEST_SECONDS)


def _log(event: Mapping[str, Any], message: str) -> None:
    logger.info("%s %s: %s", event["RequestType"], event.get("LogicalResourceId"), redact(message))
