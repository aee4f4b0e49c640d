"""One way through code: its names, the functions that it calls, and what it asks of services and answers to CloudFormation."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from hyperpod_constructs.analysis.code_runs.answers_sent import Sent, answer_by_module, answer_of
from hyperpod_constructs.analysis.code_runs.choices import Choices
from hyperpod_constructs.analysis.code_runs.expressions import attribute, evaluated, listed
from hyperpod_constructs.analysis.code_runs.known_calls import (
    OPEN,
    STARTING,
    is_harmless,
    of_function,
    of_method,
    plain,
    words_of,
)
from hyperpod_constructs.analysis.code_runs.leaving import Ended, Raised, Returned
from hyperpod_constructs.analysis.code_runs.program_arguments import RefusedError, add, parsed
from hyperpod_constructs.analysis.code_runs.service_calls import OTHERS, CodeCall, call_of, resource_of_client
from hyperpod_constructs.analysis.code_runs.statements import done
from hyperpod_constructs.analysis.code_runs.things import (
    FRESH,
    UNKNOWN_OPTION,
    WHERE_TO,
    Client,
    Fresh,
    Function,
    Given,
    Instance,
    Items,
    Kind,
    Method,
    Named,
    Object,
    Opened,
    Parser,
    Scope,
    Spelled,
    Thing,
    lose,
    truth,
)
from hyperpod_constructs.analysis.code_runs.way import Around
from hyperpod_constructs.analysis.sent_answers import SEND
from hyperpod_constructs.templates.values import UNKNOWN

_DEEPEST, _DEEPEST_CALLS, _DEEPEST_EVENT = 80, 12, 4
PROPERTIES = "ResourceProperties"
_READ, _READING_MODE = "read_text", "r"
_NOT_THERE = ("FileNotFoundError", "OSError", "IOError")
_SPELLING = ("dict", "json.dumps", "repr", "str")
"""Functions whose result stands for what they get."""
_UNMAKING = ("Delete", "Deregister", "Remove")
"""The begins of operations that take things away."""
_OF_SERVICES = "ClientError"
"""The class of all exceptions of services."""
_MAKERS = ("client", "resource")
"""Functions and methods that make a client of a service."""


class Missed(NamedTuple):
    """A property that code reads, and that the custom resource does not have."""

    name: str
    line: int


class Failure(NamedTuple):
    """Something that surely fails where a way comes to it."""

    says: str
    line: int


class Budget:
    """How much is followed of a function, over all its ways."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.is_enough = True


class Machine:
    """One way through the code of a function.

    :param made: by the node of a call, the calls of services that were made there on any way.
    """

    def __init__(
        self,
        choices: Choices,
        around: Around,
        budget: Budget,
        made: dict[tuple[int, str], CodeCall],
    ) -> None:
        self.around = around
        self.attributes: dict[str, Thing] = {}
        self.scope = Scope({"__name__": around.name})
        self.entered: set[int] = set()
        self.sent: list[Sent] = []
        self.commands: list[tuple[Thing, ...]] = []
        self.opened: list[str] = []
        self.hands_on = False
        """Whether something outside the code gets the event, and may answer it."""
        self.sees_address = False
        """Whether the code takes the address for an answer."""
        self.yields = False
        """Whether the function that runs gives one value after the other."""
        self.caught: list[int] = []
        self.expected: list[str] = []
        self.missed: list[Missed] = []
        self.failures: list[Failure] = []
        self._choices = choices
        self._budget = budget
        self._made = made
        self._unmade = False
        """Whether something that was made before may be gone."""
        self._depth = self._calls = 0
        self._event: Thing = None

    def may_go_on(self) -> bool:
        """Count a step; whether more of them may follow."""
        self._budget.steps -= 1
        self._budget.is_enough = self._budget.is_enough and self._budget.steps > 0
        return self._budget.steps > 0

    def give_up(self) -> None:
        """Note that something is not followed."""
        self._budget.is_enough = False

    @contextmanager
    def deeper(self) -> Iterator[bool]:
        """One step down in an expression; whether that is too deep."""
        self._depth += 1
        self._budget.is_enough = self._budget.is_enough and self._depth <= _DEEPEST
        try:
            yield self._depth > _DEEPEST
        finally:
            self._depth -= 1

    def side(self, node: ast.AST) -> bool:
        """Whether this way takes the one side at a place where both are possible."""
        return self._choices.side(node)

    def holds(self, test: ast.expr, scope: Scope) -> bool:
        """Whether this way takes a condition for true."""
        known = truth(evaluated(self, test, scope))
        return self.side(test) if known is None else known

    def misses(self, of: Object, key: str, node: ast.expr) -> None:
        """Note that an object has no item of this name, if it is that of the custom resource."""
        if isinstance(self._event, Object) and self._event.items.get(PROPERTIES) is of:
            self.missed.append(Missed(key, node.lineno))

    def fail(self, node: ast.expr, says: str, *names: str) -> None:
        """Leave by an exception of these names.

        :raises Raised: always.
        """
        self.failures.append(Failure(says, node.lineno))
        raise Raised(*names)

    def own(self, function: Function) -> Thing:
        """What a function of the code gives without arguments."""
        return self._own(function, Items(), Object())

    def call(self, node: ast.Call, scope: Scope) -> Thing:
        """What a call gives."""
        function = evaluated(self, node.func, scope)
        given = listed(self, node.args, scope)
        named = self._keywords(node.keywords, scope)
        first = given.items[0] if given.items else None
        name = function.name if isinstance(function, Method | Named) else ""
        if name.rpartition(".")[2] in _MAKERS and isinstance(first, str):
            return Client(first, {})
        if isinstance(function, Fresh):
            return FRESH
        if not isinstance(function, Function | Kind) and self._answers(name, [*given.items, *named.items.values()], node.lineno):
            return UNKNOWN
        if isinstance(function, Function):
            return self._own(function, given, named)
        if isinstance(function, Kind):
            return self.instance(function, given, named)
        if isinstance(function, Method):
            return self._method(node, function, given, named)
        return self._named(node, function, given, named)

    def _keywords(self, keywords: Sequence[ast.keyword], scope: Scope) -> Object:
        found = Object()
        for one in keywords:
            thing = evaluated(self, one.value, scope)
            if one.arg is not None:
                found.items[one.arg] = thing
            elif isinstance(thing, Object):
                found.items.update(thing.items)
            found.is_open = found.is_open or (one.arg is None and (not isinstance(thing, Object) or thing.is_open))
        return found

    def run(self, function: Function, given: Sequence[Thing], event: Thing) -> Thing:
        """Call a function of the code from outside."""
        self._event = event
        return self._own(function, Items([*given]), Object())

    def _own(self, function: Function, given: Items, named: Object) -> Thing:
        if self._calls >= _DEEPEST_CALLS or not self.may_go_on():
            self.give_up()
            return UNKNOWN
        self.entered.add(id(function.node))
        inner = Scope(outer=function.scope)
        self._bind(function, given, named, inner)
        self._calls += 1
        before, self.yields = self.yields, False
        try:
            if isinstance(function.node, ast.Lambda):
                return evaluated(self, function.node.body, inner)
            self.block(function.node.body, inner)
        except Returned as returned:
            return UNKNOWN if self.yields else returned.value
        else:
            return UNKNOWN if self.yields else None
        finally:
            self._calls -= 1
            self.yields = before

    def _bind(self, function: Function, given: Items, named: Object, scope: Scope) -> None:
        """Give the parameters of a function their values."""
        of, outer = function.node.args, function.scope
        names = [one.arg for one in (*of.posonlyargs, *of.args)]
        values = [*([] if function.of is None else [function.of]), *given.items]
        defaults = dict(zip(reversed(names), reversed(of.defaults), strict=False))
        defaults |= {one.arg: value for one, value in zip(of.kwonlyargs, of.kw_defaults, strict=True) if value is not None}
        is_open = given.is_open or named.is_open
        for place, name in enumerate([*names, *(one.arg for one in of.kwonlyargs)]):
            if place < len(values) and place < len(names):
                scope.names[name] = values[place]
            elif name in named.items:
                scope.names[name] = named.items[name]
            else:
                known = name in defaults and not is_open
                scope.names[name] = evaluated(self, defaults[name], outer) if known else UNKNOWN
        if of.vararg is not None:
            scope.names[of.vararg.arg] = Items(values[len(names) :], given.is_open)
        if of.kwarg is not None:
            others = {name: one for name, one in named.items.items() if name not in scope.names}
            scope.names[of.kwarg.arg] = Object(others, named.is_open)

    def instance(self, kind: Kind, given: Items | None = None, named: Object | None = None) -> Thing:
        """An object of a class; made of unknown arguments unless they are given."""
        made, given, named = Instance(kind), given or Items(is_open=True), named or Object(is_open=True)
        maker = kind.members.names.get("__init__")
        if isinstance(maker, Function):
            self._own(Function(maker.node, maker.scope, made), given, named)
        return made

    def _method(self, node: ast.Call, method: Method, given: Items, named: Object) -> Thing:
        of, name = method
        if name == _READ and isinstance(of, str):
            return self._read(node, of)
        if isinstance(of, Parser):
            return self._arguments(node, of, name, given, named)
        if not isinstance(of, Client):
            found = of_method(of, name, given.items, named.items)
            return UNKNOWN if given.is_open or named.is_open else found
        if name == "get_paginator":
            first = given.items[0] if given.items else None
            return Method(of, first) if isinstance(first, str) else UNKNOWN
        return self._of_client(node, of, name, given, named)

    def _read(self, node: ast.Call, name: str) -> Thing:
        """The text of a file."""
        self.opened.append(name)
        if name in self.around.lacking:
            self.fail(node, self.around.lacking[name], *_NOT_THERE)
        data = self.around.data.get(name)
        return self.around.files.get(name, UNKNOWN) if data is None else Spelled(data())

    def _arguments(self, node: ast.Call, parser: Parser, name: str, given: Items, named: Object) -> Thing:
        """What a parser of arguments gives: the arguments of the program, once it asks for them."""
        if name == "add_argument" and not given.is_open and not named.is_open:
            add(parser, given.items, named.items)
        elif name == "parse_args" and self.around.arguments is not None:
            try:
                return parsed(parser, self.around.arguments)
            except RefusedError as refused:
                self.fail(node, str(refused), "SystemExit")
        else:
            parser.form.append(UNKNOWN_OPTION)
        return UNKNOWN

    def _of_client(self, node: ast.Call, client: Client, name: str, given: Items, named: Object) -> Thing:
        resource = resource_of_client(client, name, given.items)
        if resource is not None:
            return resource
        self._hand_on([given, named])
        more = {OTHERS: UNKNOWN} if named.is_open else {}
        call = call_of(client, name, given.items, {**named.items, **more})
        if call is not None:
            self._made.setdefault((id(node), repr(call.parameters)), call)
            self._unmade = self._unmade or call.operation.name.startswith(_UNMAKING)
            if call.spelled in self.around.made and not self._unmade:
                self.fail(node, f"{call.operation.action} makes again what is there", call.refusal or "", _OF_SERVICES)
        return UNKNOWN

    def _answers(self, name: str, things: Sequence[Thing], line: int) -> bool:
        """Note an answer that the code itself sends to CloudFormation; whether the call is about that."""
        if not any(isinstance(one, Given) and one == WHERE_TO for one in things):
            return False
        sent = answer_of(name, things, line)
        self.sent += [] if sent is None else [sent]
        self.hands_on = self.hands_on or sent is None
        return True

    def _named(self, node: ast.Call, function: Thing, given: Items, named: Object) -> Thing:
        """The result of a function that is not in the code."""
        written = ast.unparse(node.func)
        name = function.name if isinstance(function, Named) else written
        things = [*given.items, *named.items.values()]
        if name == SEND:
            self.sent.append(answer_by_module(given.items, named.items, node.lineno))
            return None
        if name == "getattr" and len(given.items) > 1 and isinstance(given.items[1], str):
            of, wanted = given.items[:2]
            if isinstance(of, Instance) and not of.kind.node.bases and wanted not in {*of.attributes, *of.kind.members.names}:
                self.fail(node, f"{of.kind.node.name} has no {wanted}", "AttributeError")
            return attribute(self, of, wanted, written)
        if name == "argparse.ArgumentParser":
            return Parser()
        if name in STARTING:
            self.commands.append(words_of(given.items[0] if given.items else UNKNOWN))
            return UNKNOWN
        if given.is_open or named.is_open:
            return UNKNOWN
        if name == OPEN and isinstance(things[0] if things else None, str):
            mode = named.items.get("mode", given.items[1] if len(given.items) > 1 else _READING_MODE)
            return Opened(self._read(node, things[0]) if _reads(mode) else UNKNOWN)
        if name in _SPELLING and things[:1] == [self._event]:
            return self._event
        found = of_function(name, given.items, named.items, self.around.variables)
        if found is UNKNOWN and not is_harmless(name):
            self._hand_on(things)
            for one in things:
                if one is not self._event:
                    lose(one)
        return found

    def _hand_on(self, things: Sequence[Thing], depth: int = 0) -> None:
        """Note whether the event is among some things, or in them."""
        for one in things if depth < _DEEPEST_EVENT else ():
            self.hands_on = self.hands_on or one is self._event is not UNKNOWN
            if isinstance(one, Object | Items) and not self.hands_on:
                self._hand_on([*one.items.values()] if isinstance(one, Object) else one.items, depth + 1)

    def block(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        """Do statements one after the other."""
        for one in body:
            if not self.may_go_on():
                raise Ended
            done(self, one, scope)

    def assign(self, target: ast.expr, thing: Thing, scope: Scope) -> None:
        """Give a name, several names, an attribute or an item a value."""
        if isinstance(target, ast.Name):
            (self.scope if target.id in scope.of_module else scope).names[target.id] = thing
        elif isinstance(target, ast.Tuple | ast.List):
            for one, part in zip(target.elts, _parts(thing, target.elts), strict=True):
                self.assign(one, part, scope)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, thing, scope)
        elif isinstance(target, ast.Attribute):
            of = evaluated(self, target.value, scope)
            if isinstance(of, Instance):
                of.attributes[target.attr] = thing
            else:
                self.attributes[ast.unparse(target)] = thing
        elif isinstance(target, ast.Subscript):
            self._put(evaluated(self, target.value, scope), evaluated(self, target.slice, scope), thing)

    def _put(self, of: Thing, key: Thing, thing: Thing) -> None:
        is_place = isinstance(of, Items) and type(key) is int and -len(of.items) <= key < len(of.items)
        if is_place or (isinstance(of, Object) and plain(key)):
            of.items[key] = thing
        else:
            lose(of)

    def forget(self, nodes: Sequence[ast.stmt], scope: Scope) -> None:
        """Forget the names that statements give a value, and what they may change."""
        for node in (inner for one in nodes for inner in ast.walk(one)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.assign(node, UNKNOWN, scope)
            elif isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
                lose(evaluated(self, node.value, scope))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                of = evaluated(self, node.func.value, scope) if isinstance(node.func.value, ast.Name) else None
                if node.func.attr not in _READING:
                    lose(of)


def _reads(mode: Thing) -> bool:
    """Whether a file is opened to read what is in it."""
    return isinstance(mode, str) and mode.startswith(_READING_MODE)


def _parts(thing: Thing, targets: Sequence[ast.expr]) -> list[Thing]:
    """What each of several names gets of a list."""
    starred = [place for place, one in enumerate(targets) if isinstance(one, ast.Starred)]
    more = len(thing.items) - len(targets) if isinstance(thing, Items) and not thing.is_open else -len(targets)
    if not isinstance(thing, Items) or more < -len(starred) or (more > 0 and not starred):
        return [UNKNOWN] * len(targets)
    if not starred:
        return thing.items
    first, last = starred[0], starred[0] + more + 1
    return [*thing.items[:first], Items(thing.items[first:last]), *thing.items[last:]]


_READING = ("copy", "count", "format", "get", "index", "items", "join", "keys", "split", "strip", "values")
"""Methods that change nothing."""
