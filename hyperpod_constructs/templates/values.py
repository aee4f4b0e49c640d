"""The values of a resolved template: plain data, and markers for parts that only a deployment can know.

| value | meaning |
|---|---|
| `None`, `str`, `int`, `float`, `bool`, `tuple`, `Mapping` | plain data |
| `UNKNOWN` | unknown before the deployment; equal to nothing, not even to itself |
| `Account` | the id of the stack's account, which is unknown too: twelve digits, the same ones wherever it stands |
| `ABSENT` | nothing, or `AWS::NoValue` |
| `Reference` | `Ref` or `Fn::GetAtt` to a resource of the model |
| `Text` | a string with references or unknown parts |
| `Either` | one of several values, by an unknown condition |

A rule stays silent on a value that is not plain, unless its known parts suffice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, TypeVar

from hyperpod_constructs.templates.globs import Digits, matches

T = TypeVar("T")

MAX_ALTERNATIVES = 8
"""Most alternatives of a value; with more, it is unknown."""

_LONGEST_TEXT = 65536
_MOST_PARTS = 500


class Unknown:
    """The type of `UNKNOWN`."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return "UNKNOWN"


class Account(Unknown, Digits):
    """The account of a stack, while that is unknown: it equals itself wherever it stands.

    :param likely: the one that the templates name; no other one is taken for it.
    """

    __slots__ = ("likely",)

    def __init__(self, likely: str = "") -> None:
        self.likely = likely

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Account)

    def __hash__(self) -> int:
        return hash(Account)


class Absent:
    """The type of `ABSENT`."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "ABSENT"


UNKNOWN: Final = Unknown()
ABSENT: Final = Absent()


class Named(Protocol):
    """The part of a resource that a reference needs; `templates.model.resource_of` gives the whole."""

    @property
    def logical_id(self) -> str: ...

    @property
    def type(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a resource: by `Ref` (`attribute` is `None`) or to an attribute (`Fn::GetAtt`)."""

    resource: Named
    attribute: str | None = None

    def __repr__(self) -> str:
        return f"${{{self.resource.logical_id}{'' if self.attribute is None else '.' + self.attribute}}}"


Part: TypeAlias = "str | Reference | Unknown"


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A string with at least one reference or unknown part; adjacent strings are one part.

    Two texts are equal only if all parts are equal: characters, references, or the account.
    """

    parts: tuple[Part, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and UNKNOWN not in self.parts and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __repr__(self) -> str:
        return "".join("${?}" if isinstance(part, Unknown) else str(part) for part in self.parts)

    @property
    def known(self) -> bool:
        """Nothing in it is unknown: it consists of characters and references."""
        return not any(isinstance(part, Unknown) for part in self.parts)

    @property
    def prefix(self) -> str:
        """The characters with which it is sure to begin."""
        return self.parts[0] if isinstance(self.parts[0], str) else ""

    @property
    def suffix(self) -> str:
        """The characters with which it is sure to end."""
        return self.parts[-1] if isinstance(self.parts[-1], str) else ""

    @property
    def references(self) -> tuple[Reference, ...]:
        """The references in it, in order."""
        return tuple(part for part in self.parts if isinstance(part, Reference))

    def matches(self, pattern: str) -> bool | None:
        """Whether it matches a pattern with `*` and `?`, whatever the parts turn out to be; `None` if that decides it."""
        return matches((pattern,), self.parts)

    def startswith(self, prefix: str) -> bool | None:
        """Whether it begins so; `None` if a part decides it."""
        if self.prefix.startswith(prefix):
            return True
        return None if prefix.startswith(self.prefix) else False

    def endswith(self, suffix: str) -> bool | None:
        """Whether it ends so; `None` if a part decides it."""
        if self.suffix.endswith(suffix):
            return True
        return None if suffix.endswith(self.suffix) else False


@dataclass(frozen=True, slots=True)
class Either:
    """One of at least two different values, by a condition or parameter that is not known; `ABSENT` can be one."""

    alternatives: tuple[Value, ...]


Value: TypeAlias = (
    "str | int | float | bool | Unknown | Absent | Reference | Text | Either | tuple[Value, ...] | Mapping[str, Value] | None"
)


def either(alternatives: Iterable[Value]) -> Value:
    """One of these: the value on which all agree, else `Either`; `UNKNOWN` if one is or there are too many."""
    distinct: list[Value] = []
    for alternative in _flattened(alternatives):
        if alternative is UNKNOWN:
            return UNKNOWN
        if not any(_same(alternative, known) for known in distinct):
            distinct.append(alternative)
        if len(distinct) > MAX_ALTERNATIVES:
            return UNKNOWN
    if not distinct:
        return UNKNOWN
    return distinct[0] if len(distinct) == 1 else Either(tuple(distinct))


def _flattened(alternatives: Iterable[Value]) -> Iterator[Value]:
    for alternative in alternatives:
        if isinstance(alternative, Either):
            yield from alternative.alternatives
        else:
            yield alternative


def _same(one: Value, other: Value) -> bool:
    return type(one) is type(other) and one == other


def joined(parts: Iterable[Part]) -> Value:
    """The string of these parts: a `str` if all are, a single reference as it is, else a `Text`."""
    merged: list[Part] = []
    for part in parts:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        elif isinstance(part, Unknown) and merged and merged[-1] is UNKNOWN:
            continue
        elif part != "":
            merged.append(part)
    if not merged:
        return ""
    if len(merged) > _MOST_PARTS or sum(len(part) for part in merged if isinstance(part, str)) > _LONGEST_TEXT:
        return UNKNOWN
    return merged[0] if len(merged) == 1 else Text(tuple(merged))


def parts_of(value: Value) -> tuple[Part, ...]:
    """The parts of a value as a string; a value that is not a string is one unknown part."""
    if isinstance(value, Text):
        return value.parts
    if isinstance(value, str | Reference | Unknown):
        return (value,)
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, int | float):
        return (str(value),)
    return (UNKNOWN,)


def alternatives_of(value: Value) -> tuple[Value, ...]:
    """The possible values: the value itself, or the alternatives of an `Either`."""
    return value.alternatives if isinstance(value, Either) else (value,)


def is_known(value: Value) -> bool:
    """Whether a value is plain data or a reference, at every depth."""
    if isinstance(value, Unknown | Either):
        return False
    if isinstance(value, Text):
        return value.known
    if isinstance(value, tuple):
        return all(is_known(item) for item in value)
    if isinstance(value, Mapping):
        return all(is_known(item) for item in value.values())
    return True


def leaves(value: Value) -> Iterator[Value]:
    """The parts of a value that are neither lists nor mappings, at every depth."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, tuple):
            waiting.extend(current)
        elif isinstance(current, Mapping):
            waiting.extend(current.values())
        else:
            yield current


def placed_leaves(value: Value) -> Iterator[tuple[tuple[str | int, ...], Value]]:
    """The parts of a value that are neither lists nor mappings, each with its place."""
    waiting: list[tuple[tuple[str | int, ...], Value]] = [((), value)]
    while waiting:
        path, current = waiting.pop()
        if isinstance(current, Mapping):
            waiting += [((*path, key), item) for key, item in current.items()]
        elif isinstance(current, tuple):
            waiting += [((*path, index), item) for index, item in enumerate(current)]
        else:
            yield path, current


def as_int(value: Value) -> int | None:
    """The whole number that CloudFormation reads here, also from `"443"`; `None` for anything else."""
    return of_alternatives(value, _int)


def as_float(value: Value) -> float | None:
    """The number that CloudFormation reads here, also from `"0.5"`; `None` for anything else."""
    return of_alternatives(value, _float)


def as_bool(value: Value) -> bool | None:
    """The boolean that CloudFormation reads here, also from `"true"`; `None` for anything else."""
    return of_alternatives(value, _bool)


def as_str(value: Value) -> str | None:
    """The string that CloudFormation reads here, also from a number or a boolean; `None` for anything else."""
    return of_alternatives(value, _str)


def as_items(value: Value) -> tuple[Value, ...] | None:
    """The items of a list, empty if absent; `None` if the value is unknown or not a list. Items can be unknown."""
    if value is ABSENT or value is None:
        return ()
    return value if isinstance(value, tuple) else None


def at(value: Value, *path: str | int) -> Value:
    """The value at a path: `ABSENT` if there is none, `UNKNOWN` behind an unknown value."""
    for position, key in enumerate(path):
        if type(value) is dict and type(key) is str:  # nearly always, and asked for a million times
            value = value.get(key, ABSENT)
        elif isinstance(value, Either):
            rest = path[position:]
            return either(at(alternative, *rest) for alternative in value.alternatives)
        elif isinstance(value, Mapping) and isinstance(key, str):
            value = value.get(key, ABSENT)
        elif isinstance(value, tuple) and isinstance(key, int):
            value = value[key] if -len(value) <= key < len(value) else ABSENT
        elif value is None or isinstance(value, Absent):
            return ABSENT
        else:
            return UNKNOWN
    return value


def shown(value: Value) -> object:
    """A value as readable JSON: references as `${Id.Attribute}`, unknown parts as `${?}`, absent values as `None`."""
    if isinstance(value, Unknown):
        return "${?}"
    if isinstance(value, Absent):
        return None
    if isinstance(value, Reference | Text):
        return repr(value)
    if isinstance(value, Either):
        return {"either": [shown(alternative) for alternative in value.alternatives]}
    if isinstance(value, tuple):
        return [shown(item) for item in value]
    if isinstance(value, Mapping):
        return {key: shown(item) for key, item in value.items()}
    return value


def agreed(answers: Iterable[T | None]) -> T | None:
    """The answer that all give; `None` if they differ."""
    found = set(answers)
    return found.pop() if len(found) == 1 else None


def of_alternatives(value: Value, convert: Callable[[Value], T | None]) -> T | None:
    """The result for a value; `None` if its alternatives give different ones."""
    return agreed(map(convert, value.alternatives)) if isinstance(value, Either) else convert(value)


def _int(value: Value) -> int | None:
    number = _float(value)
    return int(number) if number is not None and number.is_integer() else None


def _float(value: Value) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < 1e15 else None


def _bool(value: Value) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower())
    return value if isinstance(value, bool) else None


def _str(value: Value) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def frozen(data: object) -> Value:
    """Parsed JSON or YAML as a value of a template: lists are tuples."""
    if isinstance(data, dict):
        return {str(key): frozen(item) for key, item in data.items()}
    if isinstance(data, list):
        return tuple(map(frozen, data))
    return data if isinstance(data, str | int | float | bool) else None
