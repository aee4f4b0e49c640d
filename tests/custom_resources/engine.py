"""CloudFormation and the CDK's Provider framework around one handler, in this process: which event follows which."""

from __future__ import annotations

import importlib
import inspect
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperpod_constructs.custom_resources import handlers
from hyperpod_constructs.custom_resources.handlers import resource as framework
from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from tests.custom_resources.observed import Observed
from tests.custom_resources.world import InProcessWorld

NONE_MADE = "AWSCDK::CustomResourceProviderFramework::CREATE_FAILED"
"""The framework's id of a resource whose creation failed in `on_event`; it answers the deletion itself."""

STACK_ID = "arn:aws:cloudformation:us-west-2:123456789012:stack/Stack/1"

ON_EVENT_SECONDS, IS_COMPLETE_SECONDS = 180.0, 300.0
"""After this time Lambda stops the function; see provider.py."""

_FIRST_PAUSE, _LONGEST_PAUSE = 10.0, 300.0
_LAST_LOOK = 60.0
"""CloudFormation has the answer at the latest so many seconds before the operation's time is over."""

Properties = Mapping[str, Any]


@dataclass
class Outcome:
    """The end of an operation: its error, if it failed, and the resource's physical id."""

    physical_id: str
    error: str | None = None
    data: Mapping[str, str] = field(default_factory=dict)


class StoppedError(AssertionError):
    """Lambda would have stopped the function, and its work and its cause would be lost."""


class Engine:
    """Runs operations of one handler, with its clock and its clients."""

    def __init__(self, name: str, world: InProcessWorld, clients: Observed) -> None:
        self._module = importlib.import_module(f"{handlers.__name__}.{name}")
        self._clock, self._clients = world.clock, clients
        self._requests = itertools.count(1)

    def event(self, kind: str, properties: Properties, physical_id: str = "", old: Properties | None = None) -> dict[str, Any]:
        """A new event of CloudFormation."""
        return {
            "RequestType": kind,
            "RequestId": f"00000000-0000-4000-8000-{next(self._requests):012d}",
            "StackId": STACK_ID,
            "LogicalResourceId": "Resource",
            "ResponseURL": "https://cloudformation.example/answer?X-Amz-Signature=presigned",
            "ResourceProperties": {"ServiceToken": "arn:aws:lambda:us-west-2:123456789012:function:f", **properties},
            **({} if kind == "Create" else {"PhysicalResourceId": physical_id}),
            **({} if old is None else {"OldResourceProperties": dict(old)}),
        }

    def heal(self) -> None:
        """End the fault."""
        self._clients.intervene = None

    def run(self, event: dict[str, Any]) -> Outcome:
        """The whole operation.

        :raises Killed: from a call of the handler; `started` tells whether `on_event` had answered.
        """
        self.started: dict[str, Any] | None = None
        try:
            self.started = {**event, **self._timed(ON_EVENT_SECONDS, lambda: self._on_event(event))}
        except OperationError as error:
            return Outcome(NONE_MADE if event["RequestType"] == "Create" else event["PhysicalResourceId"], str(error))
        return self.finish(self.started)

    def given_up(self, event: dict[str, Any]) -> Outcome:
        """The end of an operation whose process has ended: the framework reports that the function failed."""
        known = event if self.started is None else self.started
        return Outcome(known.get("PhysicalResourceId", NONE_MADE), "the function has ended before its answer")

    def finish(self, started: dict[str, Any]) -> Outcome:
        """Ask until the operation is complete."""
        physical_id = started["PhysicalResourceId"]
        if not hasattr(self._module, "is_complete"):
            return Outcome(physical_id, data=started.get("Data", {}))
        pause = _FIRST_PAUSE
        until = self._clock() + float(started["ResourceProperties"]["TimeoutSeconds"]) - _LAST_LOOK
        while True:
            try:
                answer = self._timed(IS_COMPLETE_SECONDS, lambda: framework.is_complete(self._resource(), started))
            except OperationError as error:
                return Outcome(physical_id, str(error))
            if answer["IsComplete"]:
                return Outcome(physical_id, data=answer.get("Data", {}))
            if self._clock() >= until:
                raise StoppedError("the operation does not end: CloudFormation fails it without its cause")
            self._clock.tick(min(pause, max(until - self._clock(), _FIRST_PAUSE)))
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _on_event(self, event: dict[str, Any]) -> dict[str, Any]:
        return framework.on_event(self._resource(), event, self._clock, _Context(self._clock))

    def _timed(self, seconds: float, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        begun = self._clock()
        answer = work()
        if self._clock() - begun > seconds:
            raise StoppedError(f"a function ran for {self._clock() - begun:.0f} seconds; Lambda stops it after {seconds:.0f}")
        return answer

    def _resource(self) -> framework.Resource[Any]:
        """A new one for each function call: no state may live in the process."""
        kinds = [kind for kind in vars(self._module).values() if inspect.isclass(kind) and kind.__module__ == self._module.__name__]
        [kind] = [kind for kind in kinds if issubclass(kind, framework.Resource)]
        made: framework.Resource[Any] = kind(self._clients, self._clock, self._clock.tick)
        return made


class _Context:
    """Lambda's, with the time of the world."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._end = clock, clock() + ON_EVENT_SECONDS

    def get_remaining_time_in_millis(self) -> float:
        return (self._end - self._clock()) * 1000


@dataclass
class Stack:
    """A stack with at most one resource, which follows CloudFormation's rules."""

    engine: Engine
    physical_id: str | None = None
    properties: Properties = field(default_factory=dict)

    def create(self, properties: Properties) -> Outcome:
        """Create; after a failure, roll back: the resource is deleted if it has an id."""
        return self.settle(self.event("Create", properties))

    def update(self, properties: Properties) -> Outcome:
        """Update; a new physical id is a replacement, whose old resource is deleted; a failure is rolled back."""
        return self.settle(self.event("Update", properties))

    def delete(self) -> Outcome:
        """Delete; a failed deletion is asked for again."""
        return self.settle(self.event("Delete", self.properties))

    def event(self, kind: str, properties: Properties) -> dict[str, Any]:
        """The event of the next operation."""
        old = self.properties if kind == "Update" else None
        return self.engine.event(kind, properties, self.physical_id or "", old)

    def settle(self, event: dict[str, Any]) -> Outcome:
        """Run an event, and what CloudFormation does after it."""
        return self.after(event, self.engine.run(event))

    def after(self, event: dict[str, Any], outcome: Outcome) -> Outcome:
        """What CloudFormation does after an outcome."""
        kind, properties = event["RequestType"], event["ResourceProperties"]
        if kind == "Create":
            if outcome.error is None:
                self.physical_id, self.properties = outcome.physical_id, properties
            elif outcome.physical_id != NONE_MADE:
                self._cleanly("Delete", properties, outcome.physical_id)
        elif kind == "Update":
            self._after_update(properties, outcome)
        elif outcome.error is not None:
            self._cleanly("Delete", properties, self.physical_id or "")
        if kind == "Delete":
            self.physical_id, self.properties = None, {}
        return outcome

    def _after_update(self, properties: Properties, outcome: Outcome) -> None:
        old = self.physical_id or ""
        if outcome.error is None:
            self.physical_id, self.properties, remains = outcome.physical_id, properties, old
        else:
            self._cleanly("Update", self.properties, old, properties)
            remains = outcome.physical_id
        if remains != self.physical_id:
            self._cleanly("Delete", properties, remains)

    def _cleanly(self, kind: str, properties: Properties, physical_id: str, old: Properties | None = None) -> None:
        self.engine.heal()
        outcome = self.engine.run(self.engine.event(kind, properties, physical_id, old))
        assert outcome.error is None, f"{kind} after the failure fails: {outcome.error}"
