"""The form of data that goes from one step to the next: objects with their members, lists, and texts of some words.

`None` is data of any form. A form is what may be there: two ways to a place give the members of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from hyperpod_constructs.facts.sdk_shapes import Form, shape
from hyperpod_constructs.templates.values import Value

_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Data:
    """Data of a known form.

    :param members: the members of an object.
    :param is_open: an object may have other members too.
    :param items: the form of the items of a list, alone in its own list; empty for what is no list.
    :param words: all that a text may be; empty for what is no text of some words.
    :param some: some of what a text may be, which may be another one too.
    """

    members: Mapping[str, Data | None] = field(default_factory=dict)
    is_open: bool = False
    items: tuple[Data | None, ...] = ()
    words: tuple[str, ...] = ()
    some: tuple[str, ...] = ()


Known: TypeAlias = Data | None
ANY_OBJECT = Data(is_open=True)
Step: TypeAlias = str | int


class Lost(NamedTuple):
    """A member that an object does not have.

    :param names: the members that it has.
    """

    name: str
    names: tuple[str, ...]


_STEP = re.compile(r"\.([A-Za-z_][\w-]*)(?![\w(-])|\[['\"]([^'\"\]]{1,255})['\"]\]|\[(\d{1,9}|\*)\]")
_PATH = re.compile(r"(?<![\w$])\$(?=[.\[])")
_QUOTED = re.compile(r"(?<!\[)'(?:[^'\\]|\\.)*'")


def paths_in(text: str) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """The paths in a text such as `$.a.b` or `States.Format('{}', $.a)`, each with its steps as far as they are plain."""
    for match in _PATH.finditer(_QUOTED.sub("''", text) if text.startswith("States.") else text):
        steps, end = [], match.end()
        while step := _STEP.match(match.string, end):
            steps.append(0 if step[3] else step[1] or step[2])
            end = step.end()
        if steps:
            yield match.string[match.start() : end], tuple(steps)


def steps_of(path: str) -> tuple[Step, ...] | None:
    """The steps of a path that is plain to its end; none for the whole, and `None` for another path."""
    if path == "$":
        return ()
    found = next(paths_in(path), None)
    return found[1] if found is not None and found[0] == path else None


def read(data: Known, steps: Sequence[Step]) -> Known | Lost:
    """What is at a path, or the member that is not there."""
    for step in steps:
        if data is None:
            return None
        if isinstance(step, int):
            if not data.items:
                return None
            data = data.items[0]
        elif step in data.members:
            data = data.members[step]
        else:
            return None if data.is_open else Lost(step, tuple(data.members))
    return data


def put(data: Known, steps: Sequence[Step], value: Known) -> Known:
    """Data with a value at a path."""
    if not steps:
        return value
    name, *others = steps
    if isinstance(name, int):
        return None
    old = data if data is not None and not data.items and not data.words else ANY_OBJECT
    inner = old.members.get(name, ANY_OBJECT if old.is_open else Data())
    return Data({**old.members, name: put(inner, others, value)}, is_open=old.is_open)


def either(one: Known, other: Known) -> Known:
    """Data that has one form or the other."""
    if one is None or other is None or (bool(one.items), bool(one.words)) != (bool(other.items), bool(other.words)):
        return None
    members = {
        name: either(one.members[name], other.members[name]) if name in one.members and name in other.members else found
        for name, found in {**one.members, **other.members}.items()
    }
    items = (either(one.items[0], other.items[0]),) if one.items else ()
    words, some = (tuple(dict.fromkeys(found)) for found in ((*one.words, *other.words), (*one.some, *other.some)))
    return Data(members, one.is_open or other.is_open, items, words, some)


def of_value(value: Value, depth: int = 0) -> Known:
    """The form of a value that is written out."""
    if isinstance(value, Mapping) and depth < _DEEPEST:
        return Data({name: of_value(item, depth + 1) for name, item in value.items()})
    return Data(items=(None,)) if isinstance(value, tuple) else None


def of_answer(client: str, form: Form | None, depth: int = 0, *, capital: bool = False) -> Known:
    """The form of an answer of a service.

    :param capital: whether names begin with a capital, as Step Functions writes them.
    """
    if form is None or depth > _DEEPEST:
        return None
    if form.item:
        return Data(items=(of_answer(client, shape(client, form.item), depth + 1, capital=capital),))
    if form.words:
        return Data(words=form.words)
    return Data(
        {
            (f"{name[:1].upper()}{name[1:]}" if capital else name): of_answer(client, shape(client, of), depth + 1, capital=capital)
            for name, of in form.members.items()
        }
    )
