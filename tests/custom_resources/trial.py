"""One case in an account in this process: its operations without a fault, and each repeated with one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.custom_resources import observed
from tests.custom_resources.case import Case, Variant
from tests.custom_resources.engine import Engine, Outcome, Stack
from tests.custom_resources.needs import Need, Statements, needs
from tests.custom_resources.observed import CALL_SECONDS, Call, Intervene, Killed, Observed, without
from tests.custom_resources.remembered import plain
from tests.custom_resources.synthesized import synthesize, variants
from tests.custom_resources.world import in_process_world

# The id of a task that the service makes up.
_NUMBER = re.compile(r"task-[0-9a-f]+")
PYTHON_ERRORS = re.compile(r"\b(Key|Type|Attribute|Index|Assertion|Name|UnboundLocal|Recursion|ZeroDivision)Error\b")
Perform = Callable[[], dict[str, Any]]
State = Mapping[str, Any]


@dataclass(frozen=True)
class Operation:
    """One operation of CloudFormation; an update and a deletion find the resource with its working properties."""

    kind: str
    variant: Variant

    def __str__(self) -> str:
        return f"{self.kind.lower()} {self.variant.value}"


OPERATIONS = (
    Operation("Create", Variant.WORKING),
    Operation("Create", Variant.BROKEN),
    Operation("Update", Variant.WORKING),
    Operation("Update", Variant.CHANGED),
    Operation("Update", Variant.RENAMED),
    Operation("Update", Variant.BROKEN),
    Operation("Delete", Variant.WORKING),
)


@dataclass(frozen=True)
class Clean:
    """An operation without a fault: its calls, its end, the physical id before, and the state when it had ended."""

    calls: list[Call]
    outcome: Outcome
    before: str
    state: State


@dataclass(frozen=True)
class Fault:
    """What goes wrong in an operation.

    :param operation: the call's name, which an error must tell; empty if the error may say anything else.
    :param given_up: after `Killed`, the operation fails; if not, the same event comes again.
    """

    name: str
    intervene: Intervene
    operation: str = ""
    given_up: bool = False


class Trial:
    """A case, its account, and the handler with its clients and its clock."""

    def __init__(self, case: Case, directory: Path) -> None:
        self.case = case
        self._directory, self._account = directory, ExitStack()
        self.restart()

    def restart(self) -> None:
        """Begin with a fresh account."""
        self.close()
        self.world = self._account.enter_context(in_process_world())
        self.clients = Observed(self.world)
        self.engine = Engine(self.case.name, self.world, self.clients)
        self.case.prepare(self.world)
        self.synthesized = synthesize(self.case, self.world, self._directory)
        self.baseline = self.read()
        self._clean: dict[Operation, Clean] = {}

    def close(self) -> None:
        """Give the account up."""
        self._account.close()

    @property
    def operations(self) -> list[Operation]:
        """Those that the case has."""
        return [operation for operation in OPERATIONS if operation.variant in variants(self.case)]

    def read(self) -> State:
        """The state of the account."""
        return plain(dict(self.case.read(self.world)))  # type: ignore[no-any-return]

    def clean(self, operation: Operation) -> Clean:
        """The operation without a fault, done once."""
        if operation not in self._clean:
            stack = self.stack(operation)
            event, before = self.event(stack, operation), stack.physical_id or ""
            self.clients.begin()
            outcome = self.engine.run(event)
            calls, state = list(self.clients.calls), self.read()
            stack.after(event, outcome)
            self.remove(stack)
            self._clean[operation] = Clean(calls, outcome, before, state)
        return self._clean[operation]

    def stack(self, operation: Operation) -> Stack:
        """A stack that is ready for the operation."""
        stack = Stack(self.engine)
        self.clients.begin()
        if operation.kind != "Create":
            outcome = stack.create(self.synthesized[Variant.WORKING].properties)
            assert outcome.error is None, f"the creation before it fails: {outcome.error}"
        return stack

    def event(self, stack: Stack, operation: Operation) -> dict[str, Any]:
        """The operation's event."""
        return stack.event(operation.kind, self.synthesized[operation.variant].properties)

    def remove(self, stack: Stack) -> None:
        """Delete the stack; nothing is left, and everything that others own is as before."""
        self.clients.begin()
        if stack.physical_id is not None:
            outcome = stack.delete()
            assert outcome.error is None, f"the deletion after it fails: {outcome.error}"
        assert self.read() == self.baseline, "after the deletion something is left, or something of others has changed"

    def faults(self, operation: Operation) -> Iterator[Fault]:
        """Every fault at each call of the operation."""
        members: set[tuple[str, observed.Path]] = set()
        for call in self.clean(operation).calls:
            yield from _at(call)
            for path in sorted(call.read):
                place = ".".join((call.operation, *path))
                if (call.operation, path) not in members and not place.startswith(tuple(self.case.unnoticed)):
                    members.add((call.operation, path))
                    yield from _members(call, path)

    def survive(self, operation: Operation, fault: Fault) -> None:
        """The operation with a fault, and what follows.

        :raises AssertionError: with what went wrong.
        """
        clean, stack = self.clean(operation), self.stack(operation)
        before, event = self.read(), self.event(stack, operation)
        self.clients.begin()
        self.clients.intervene = fault.intervene
        outcome, killed = self._run(event, fault)
        lost = killed and self.engine.started is None and operation.kind != "Delete"
        self.engine.heal()
        if outcome.error is None:
            assert clean.outcome.error is None or self.case.blind, "the operation succeeds, and without the fault it fails"
            assert self.read() == clean.state, "the operation succeeds, and the state is not that after the same without a fault"
        elif not killed:
            self._check_error(outcome.error, fault)
        stack.after(event, outcome)
        if outcome.error is not None:
            self._check_rest(operation, before, lost=lost)
        if lost:
            again = stack.settle(self.event(stack, operation))
            assert _unnumbered(again.error) == _unnumbered(clean.outcome.error), f"the next {operation} fails: {again.error}"
        self.remove(stack)

    @property
    def actions(self) -> list[str]:
        """The actions that the construct allows its handler."""
        return sorted(frozenset[str]().union(*(found.actions for found in self.synthesized.values())))

    def needs(self, variant: Variant) -> list[Need]:
        """What IAM is asked for in the operations with a variant."""
        calls = [call for operation in self.operations if operation.variant is variant for call in self.clean(operation).calls]
        calls += [Call(0, service, operation, dict(asked), self.world.clock.tick) for service, operation, asked in self.case.rare]
        found = [need for call in calls for need in needs(call, self.world.region, self.world.account)]
        return [need for index, need in enumerate(found) if need not in found[:index]]

    def permitted(self, variant: Variant) -> Statements:
        """The statements of an operation with a variant: an update and a deletion find those of the working one too."""
        both = (self.synthesized[Variant.WORKING].statements, self.synthesized[variant].statements)
        return [statement for statements in both for statement in statements]

    def errors_without(self, action: str) -> list[str]:
        """The errors of all operations while one action is not allowed."""
        return [error for operation in self.operations if (error := self._error_without(operation, action)) is not None]

    def _error_without(self, operation: Operation, action: str) -> str | None:
        stack = self.stack(operation)
        event = self.event(stack, operation)
        self.clients.granted = frozenset(self.actions) - {action}
        try:
            outcome = self.engine.run(event)
        finally:
            self.clients.granted = None
        stack.after(event, outcome)
        self.remove(stack)
        return outcome.error or outcome.data.get("Message")

    def survive_order(self, name: str) -> None:
        """An order of events in which no call fails; see `orders`.

        :raises AssertionError: with what went wrong.
        """
        dict(self.orders())[name]()

    def orders(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """The names of these orders, and what to do."""
        for operation in self.operations:
            yield f"{operation}, sent twice", partial(self._twice, operation)
        yield "delete before create", partial(self._delete_unknown, self.clean(OPERATIONS[0]).outcome.physical_id)
        yield "delete of an id that CloudFormation made up", partial(self._delete_unknown, "Stack-Resource-1A2B3C4D5E6F")
        yield "update after delete", self._update_deleted

    def _twice(self, operation: Operation) -> None:
        clean, stack = self.clean(operation), self.stack(operation)
        event = self.event(stack, operation)
        first, again = self.engine.run(event), self.engine.run(event)
        assert (first.physical_id, first.error) == (again.physical_id, again.error)
        assert self.read() == clean.state, "the state is not that after the same event once"
        stack.after(event, again)
        self.remove(stack)

    def _delete_unknown(self, physical_id: str) -> None:
        stack = Stack(self.engine)
        self.clients.begin()
        outcome = self.engine.run(self.engine.event("Delete", self.synthesized[Variant.WORKING].properties, physical_id))
        assert outcome.error is None, f"the deletion fails: {outcome.error}"
        assert self.read() == self.baseline, "something of others has changed"
        assert stack.create(self.synthesized[Variant.WORKING].properties).error is None
        self.remove(stack)

    def _update_deleted(self) -> None:
        stack = self.stack(OPERATIONS[-1])
        event = stack.event("Update", self.synthesized[Variant.CHANGED].properties)
        assert stack.delete().error is None
        outcome = self.engine.run(event)
        stack.physical_id, stack.properties = outcome.physical_id, event["ResourceProperties"]
        self.remove(stack)

    def _run(self, event: dict[str, Any], fault: Fault) -> tuple[Outcome, bool]:
        try:
            return self.engine.run(event), False
        except Killed:
            self.engine.heal()
            started = self.engine.started
        if fault.given_up:
            return self.engine.given_up(event), True
        return (self.engine.run(event) if started is None else self.engine.finish(started)), False

    def _check_error(self, error: str, fault: Fault) -> None:
        found = PYTHON_ERRORS.search(error)
        assert not found, f"the error is one of Python, no sentence: {error}"
        known = fault.operation in error or (self.case.failure and self.case.failure in error)
        assert known, f"the error does not name {fault.operation}: {error}"

    def _check_rest(self, operation: Operation, before: State, *, lost: bool) -> None:
        """After the rollback. An update may keep what it made until the deletion, so it is enough that nothing is missing.

        :param lost: the process ended before anybody knew an id: the next operation finds what it has made.
        """
        after = self.read()
        if operation.kind == "Create" and not lost:
            assert after == before, f"after the rollback something is left or missing: {_difference(before, after)}"
        elif operation.kind != "Delete":
            assert after == {**after, **before}, f"after the rollback something is missing: {_difference(before, after)}"


def _difference(before: State, after: State) -> str:
    keys = [key for key in {**before, **after} if before.get(key, ...) != after.get(key, ...)]
    return "; ".join(f"{key}: {before.get(key, 'nothing')!r} is now {after.get(key, 'nothing')!r}"[:300] for key in keys[:3])


def _at(call: Call) -> Iterator[Fault]:
    name = f"{call.operation} (call {call.number + 1})"
    yield Fault(f"{name} throttled once", _once(call, _raising(observed.throttled)), call.operation)
    yield Fault(f"{name} throttled for good", _for_good(call, _raising(observed.throttled)), call.operation)
    yield Fault(f"{name} not answered", _once(call, _slow(_raising(observed.unanswered))), call.operation)
    yield Fault(f"{name} never answered", _for_good(call, _slow(_raising(observed.unanswered))), call.operation)
    yield Fault(f"{name} done, its answer lost", _once(call, _slow(_done(_raising(observed.unanswered)))), call.operation)
    yield Fault(f"{name} failed in the service", _once(call, _raising(observed.failed)), call.operation)
    yield Fault(f"{name} fails in the service for good", _for_good(call, _raising(observed.failed)), call.operation)
    yield Fault(f"{name} done, then failed", _once(call, _done(_raising(observed.failed))), call.operation)
    yield Fault(f"{name} denied", _for_good(call, _denied), call.operation)
    for given_up in (False, True):
        end = "given up" if given_up else "sent again"
        yield Fault(f"{name} killed before, {end}", _once(call, _kill), given_up=given_up)
        yield Fault(f"{name} killed after, {end}", _once(call, _done(_kill)), given_up=given_up)


def _members(call: Call, path: observed.Path) -> Iterator[Fault]:
    for null in (False, True):
        name = f"{call.operation} without {'.'.join(path)}" if not null else f"{call.operation} with {'.'.join(path)} null"
        yield Fault(name, _for_good(call, lambda _, perform, null=null: without(perform(), path, null=null)))  # type: ignore[misc]


def _once(at: Call, fault: Intervene) -> Intervene:
    return lambda call, perform: fault(call, perform) if call.number == at.number else perform()


def _for_good(at: Call, fault: Intervene) -> Intervene:
    return lambda call, perform: (
        fault(call, perform)
        if (call.service, call.operation) == (at.service, at.operation) and call.number >= at.number
        else perform()
    )


def _raising(make: Callable[[Call], Exception]) -> Intervene:
    def intervene(call: Call, perform: Perform) -> dict[str, Any]:
        raise make(call)

    return intervene


def _denied(call: Call, perform: Perform) -> dict[str, Any]:
    raise observed.denied(call, min(call.actions))


def _kill(call: Call, perform: Perform) -> dict[str, Any]:
    raise Killed


def _done(then: Intervene) -> Intervene:
    def intervene(call: Call, perform: Perform) -> dict[str, Any]:
        perform()
        return then(call, perform)

    return intervene


def _slow(then: Intervene) -> Intervene:
    def intervene(call: Call, perform: Perform) -> dict[str, Any]:
        call.takes(CALL_SECONDS)
        return then(call, perform)

    return intervene


def _unnumbered(error: str | None) -> str | None:
    return None if error is None else _NUMBER.sub("task", error)
