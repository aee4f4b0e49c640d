"""What code handles while it is followed: values of the template, objects and lists that it may change, functions and clients.

A thing is plain data, `Text`, `Reference`, `UNKNOWN`, or one of the classes here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Text, Unknown, Value

if TYPE_CHECKING:
    import ast

Thing: TypeAlias = Any
_MOST_VALUES, _DEEPEST = 10_000, 40


@dataclass(eq=False, slots=True)
class Object:
    """An object of JSON.

    :param is_open: it may have other items too.
    """

    items: dict[Thing, Thing] = field(default_factory=dict)
    is_open: bool = False


@dataclass(eq=False, slots=True)
class Items:
    """A list or a tuple.

    :param is_open: it may have other items too.
    :param each: what any item is like, if all of them are alike.
    """

    items: list[Thing] = field(default_factory=list)
    is_open: bool = False
    each: Thing = UNKNOWN


@dataclass(eq=False, slots=True)
class Scope:
    """The names of a function that runs, or of the module."""

    names: dict[str, Thing] = field(default_factory=dict)
    outer: Scope | None = None
    of_module: set[str] = field(default_factory=set)
    """Names that belong to the module."""


@dataclass(eq=False, slots=True)
class Function:
    """A function of the code, with the scope in which it stands and the object to which it is bound.

    :param wrapped: the decorators that it has.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    of: Thing = None
    wrapped: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class Kind:
    """A class of the code."""

    node: ast.ClassDef
    members: Scope


@dataclass(eq=False, slots=True)
class Instance:
    """An object of a class of the code."""

    kind: Kind
    attributes: dict[str, Thing] = field(default_factory=dict)


class Named(NamedTuple):
    """A module, or a thing in one: `os.environ`, `json.loads`, `len`."""

    name: str


class Client(NamedTuple):
    """A client of a service, or a resource with the parameters that name it."""

    service: str
    parameters: Mapping[str, Value]


class Method(NamedTuple):
    """A method of a thing."""

    of: Thing
    name: str


class Fresh:
    """Something that is another one whenever the code runs, such as a random id."""

    __slots__ = ()


FRESH = Fresh()


class Given(NamedTuple):
    """What CloudFormation gives with a request, and nobody knows: its id, and where the answer goes."""

    name: str


WHERE_TO = Given("ResponseURL")
"""Where an answer to CloudFormation goes."""


class Spelled(NamedTuple):
    """An object as a text in JSON."""

    of: Object


class Folder:
    """The folder of the code."""

    __slots__ = ()


FOLDER = Folder()


UNKNOWN_OPTION: tuple[tuple[Thing, ...], dict[str, Thing]] = ((), {})
"""Stands for an argument of a parser whose form is not known."""


@dataclass(eq=False, slots=True)
class Parser:
    """What reads the arguments of a program: each by its names, with the keywords that decide what it takes."""

    form: list[tuple[tuple[Thing, ...], dict[str, Thing]]] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Arguments:
    """The arguments of a program by their names."""

    values: dict[str, Thing] = field(default_factory=dict)


class Opened(NamedTuple):
    """A file that code has opened."""

    text: Thing


def thing_of(value: Value) -> Thing:
    """A value of a template as code gets it: objects and lists that it may change, numbers as texts."""
    if isinstance(value, Mapping):
        return Object({name: thing_of(one) for name, one in value.items() if one is not ABSENT})
    if isinstance(value, tuple):
        return Items([thing_of(one) for one in value])
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return value if isinstance(value, str | Text | Reference) else UNKNOWN


def value_of(thing: Thing) -> Value:
    """A thing as a value: texts, and objects and lists of such; unknown for others."""
    return _value(thing, [_MOST_VALUES], 0)


def _value(thing: Thing, left: list[int], depth: int) -> Value:
    left[0] -= 1
    if isinstance(thing, str | Text | Reference):
        return thing
    if left[0] < 0 or depth > _DEEPEST:
        return UNKNOWN
    if isinstance(thing, Items) and not thing.is_open:
        return tuple(_value(one, left, depth + 1) for one in thing.items)
    if isinstance(thing, Object) and not thing.is_open and all(isinstance(name, str) for name in thing.items):
        return {name: _value(one, left, depth + 1) for name, one in thing.items.items()}
    return UNKNOWN


def copied(thing: Thing) -> Thing:
    """A thing with objects and lists of its own; unknown for what is in very many, or very deep."""
    return _copied(thing, [_MOST_VALUES], 0)


def _copied(thing: Thing, left: list[int], depth: int) -> Thing:
    left[0] -= 1
    if not isinstance(thing, Object | Items):
        return thing
    if left[0] < 0 or depth > _DEEPEST:
        return UNKNOWN
    if isinstance(thing, Object):
        return Object({name: _copied(one, left, depth + 1) for name, one in thing.items.items()}, thing.is_open)
    return Items([_copied(one, left, depth + 1) for one in thing.items], thing.is_open, _copied(thing.each, left, depth + 1))


def several(items: list[Thing], *, is_open: bool) -> Items:
    """A list; one that is too long is open and keeps nothing."""
    return Items(items, is_open) if len(items) <= _MOST_VALUES else Items(is_open=True)


def truth(thing: Thing) -> bool | None:
    """Whether a thing counts as true; `None` if that is not known."""
    if isinstance(thing, Object | Items):
        return bool(thing.items) or (None if thing.is_open else False)
    if isinstance(thing, Reference | Function | Kind | Client | Fresh | Given | Spelled):
        return True
    if isinstance(thing, Text):
        return True if any(isinstance(part, Reference) or (isinstance(part, str) and part) for part in thing.parts) else None
    if isinstance(thing, Unknown | Named | Method | Instance):
        return None
    return bool(thing)


def lose(thing: Thing) -> None:
    """Forget what an object or a list has, at every depth: something may have changed it."""
    waiting = [thing]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Object | Items):
            waiting.extend(one.items.values() if isinstance(one, Object) else one.items)
            one.items.clear()
            one.is_open = True
        if isinstance(one, Items):
            waiting.append(one.each)
            one.each = UNKNOWN
