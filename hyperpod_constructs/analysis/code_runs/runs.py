"""What a function does for each event that it gets: the requests of each custom resource that it makes, or events of any form.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-requests.html and
https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.custom_resources-readme.html
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from hyperpod_constructs.analysis.code_runs.answers_sent import Sent
from hyperpod_constructs.analysis.code_runs.choices import Choices
from hyperpod_constructs.analysis.code_runs.leaving import Left, Raised
from hyperpod_constructs.analysis.code_runs.machine import PROPERTIES, Budget, Failure, Machine, Missed
from hyperpod_constructs.analysis.code_runs.service_calls import CodeCall
from hyperpod_constructs.analysis.code_runs.things import Function, Given, Kind, Object, Thing, thing_of
from hyperpod_constructs.analysis.code_runs.way import Around
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import UNKNOWN

CREATE, UPDATE, DELETE = "Create", "Update", "Delete"
AGAIN = "Update again"
"""An update that finds what the request to create has made, where its calls cannot make that twice."""
_EVENT = "event"
MOST_STEPS, _MOST_RESOURCES = 50_000, 20


@dataclass(frozen=True, slots=True)
class Way:
    """One way through a function to its end.

    :param sent: its answers to CloudFormation.
    :param returned: what it returns.
    :param raises: whether a failure ends it.
    :param caught: the lines that catch a failure.
    :param missed: the properties that it reads, and that the custom resource does not have.
    :param failures: what surely fails on it.
    :param hands_on: whether something outside the code gets the event, and may answer it.
    :param commands: the words of the programs that it starts.
    :param opened: the files that it opens.
    :param expected: the names by which it catches failures, but for those of all exceptions.
    """

    sent: tuple[Sent, ...]
    returned: Thing
    raises: bool
    caught: tuple[int, ...]
    missed: tuple[Missed, ...]
    failures: tuple[Failure, ...]
    hands_on: bool
    commands: tuple[tuple[Thing, ...], ...]
    opened: tuple[str, ...]
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """What a function does for an event.

    :param resource: the custom resource; `None` for another event.
    :param request: what CloudFormation asks for it, or `AGAIN`; empty for another event.
    :param calls: the calls of services that it makes on one of its ways.
    :param ways: its ways to an end, as far as they are followed.
    :param is_whole: whether these are all.
    """

    resource: Resource | None
    request: str
    calls: tuple[CodeCall, ...]
    ways: tuple[Way, ...]
    is_whole: bool

    @property
    def ends(self) -> tuple[Way, ...]:
        """The ways on which nothing fails."""
        return tuple(one for one in self.ways if not one.raises and not one.caught)


Event: TypeAlias = Callable[[], Thing]
"""Makes an event: code may change the one that it gets."""
_Definition: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"


def runs(code: Code, handler: str, resources: Sequence[Resource], *, framework: bool) -> Iterator[Run]:
    """What a function does; what nothing calls in its code is followed last.

    :param handler: the name of the function of the code that gets the events.
    :param resources: the custom resources that it makes.
    :param framework: whether a framework stands between them, which answers to CloudFormation.
    """
    resources = resources if len(resources) <= _MOST_RESOURCES else ()
    node = code.handler(handler)
    for resource in resources if node is not None else ():
        event = partial(_event, resource, framework=framework)
        found = {request: code.run(node, resource, request, partial(event, request)) for request in (CREATE, UPDATE, DELETE)}
        yield from found.values()
        made = {one.spelled for one in found[CREATE].calls if one.refusal} & {one.spelled for one in found[UPDATE].calls}
        if made:
            yield code.run(node, resource, AGAIN, partial(event, UPDATE), frozenset(made))
    if node is None or not resources:
        yield code.run(node, None, "", unknown)
    events: list[Event] = [partial(_event, one, "", framework=framework) for one in resources] or [unknown]
    for one in code.others():
        yield from (code.run(one, None, "", event) for event in (events if _takes_event(one) else [unknown]))


def unknown() -> Thing:
    """Any event."""
    return UNKNOWN


def _event(resource: Resource, request: str, *, framework: bool) -> Thing:
    """The event for a request; of any kind if that is empty."""
    event = Object(
        {
            "RequestType": request or UNKNOWN,
            "ResourceType": resource.type,
            "LogicalResourceId": resource.logical_id,
            PROPERTIES: thing_of(resource.get()),
            **{name: Given(name) for name in ("RequestId", "ResponseURL", "StackId")},
            "ServiceToken": UNKNOWN,
        },
        is_open=framework,
    )
    if request != CREATE:
        event.items["PhysicalResourceId"] = Given("PhysicalResourceId")
    if request not in (CREATE, DELETE):
        event.items["OldResourceProperties"] = UNKNOWN
    return event


def _takes_event(node: _Definition) -> bool:
    return any(one.arg == _EVENT for one in node.args.args)


class Code:
    """The code of a function, and how far it was followed.

    :param around: what it finds where it runs.
    :param steps: how many steps it is followed at most.
    """

    def __init__(self, tree: ast.Module, around: Around, steps: int = MOST_STEPS) -> None:
        self._tree = tree
        self._around = around
        self._budget = Budget(steps)
        self._entered: set[int] = set()

    @property
    def steps_left(self) -> int:
        """How many steps it may still be followed."""
        return self._budget.steps

    def handler(self, name: str) -> _Definition | None:
        """The function of the code that gets the events, if nothing wraps it."""
        found = [one for one in self._tree.body if isinstance(one, ast.FunctionDef) and one.name == name]
        return found[0] if len(found) == 1 and not found[0].decorator_list else None

    def others(self) -> Iterator[_Definition]:
        """The functions that nothing has called yet."""
        nodes = ast.walk(self._tree)
        return (one for one in nodes if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and id(one) not in self._entered)

    def run(
        self, node: _Definition | None, resource: Resource | None, request: str, event: Event, made: frozenset[str] = frozenset()
    ) -> Run:
        """What the module and a function of it do with an event, on all their ways.

        :param made: the calls that were made before and cannot be made twice, as texts.
        """
        calls: dict[tuple[int, str], CodeCall] = {}
        choices, ways, around = Choices(), [], replace(self._around, made=made)
        for _ in choices.ways():
            machine = Machine(choices, around, self._budget, calls)
            way = self._way(machine, node, event(), is_handler=resource is not None)
            ways += [] if way is None else [way]
            self._entered |= machine.entered | ({id(node)} if node is not None else set())
        return Run(resource, request, tuple(calls.values()), tuple(ways), choices.are_all and self._budget.is_enough)

    def _way(self, machine: Machine, node: _Definition | None, event: Thing, *, is_handler: bool) -> Way | None:
        """One way to its end; `None` for one that is not followed so far."""
        returned = None
        try:
            machine.block(self._tree.body, machine.scope)
            if node is not None:
                of = _owner(machine, node)
                places = node.args.args[0 if of is None else 1 :]
                given = [event if one.arg == _EVENT or (is_handler and one is places[0]) else UNKNOWN for one in places]
                returned = machine.run(Function(node, machine.scope, of), given, event)
        except Raised:
            return _ended(machine, None, raises=True)
        except Left:
            return None
        except RecursionError:
            self._budget.is_enough = False
            return None
        return _ended(machine, returned, raises=False)


def _ended(machine: Machine, returned: Thing, *, raises: bool) -> Way:
    return Way(
        tuple(machine.sent),
        returned,
        raises,
        tuple(machine.caught),
        tuple(machine.missed),
        tuple(machine.failures),
        machine.hands_on or (machine.sees_address and not machine.sent),
        tuple(machine.commands),
        tuple(machine.opened),
        tuple(machine.expected),
    )


def _owner(machine: Machine, node: _Definition) -> Thing:
    """An object of the class that has a method; `None` for another function."""
    kinds = (one for one in machine.scope.names.values() if isinstance(one, Kind) and node in one.node.body)
    return next((machine.instance(one) for one in kinds), None)
