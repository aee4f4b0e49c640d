"""The values of a resolved template: plain data, and what stands for the parts that only a deployment knows.

==================  ==========================================================================================
plain data          ``None``, ``str``, ``int``, ``float``, ``bool``, ``tuple`` and ``Mapping``
:data:`UNKNOWN`     a value that nobody can know before the deployment; equal to nothing, not even to itself
:data:`ABSENT`      nothing is there, or ``AWS::NoValue`` is
:class:`Reference`  ``Ref`` or ``Fn::GetAtt`` to a resource of the model
:class:`Text`       a string of which parts are references or unknown
:class:`Either`     one of some values, by a condition that nobody can know
==================  ==========================================================================================

A rule that meets a value that is not plain stays silent, unless it can tell from the known parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from hyperpod_constructs.rules.template.globs import matches

if TYPE_CHECKING:
    from hyperpod_constructs.rules.template.model import Resource

T = TypeVar("T")

MAX_ALTERNATIVES = 8
"""More alternatives than these are as good as unknown."""

_LONGEST_TEXT = 65536
_MOST_PARTS = 500


class Unknown:
    """The type of :data:`UNKNOWN`."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return "UNKNOWN"


class Absent:
    """The type of :data:`ABSENT`."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "ABSENT"


UNKNOWN: Final = Unknown()
ABSENT: Final = Absent()


@dataclass(frozen=True, slots=True)
class Reference:
    """What a resource is called (``attribute`` is ``None``, as by ``Ref``), or one of its attributes (``Fn::GetAtt``)."""

    resource: Resource
    attribute: str | None = None

    def __repr__(self) -> str:
        return f"${{{self.resource.logical_id}{'' if self.attribute is None else '.' + self.attribute}}}"


Part: TypeAlias = "str | Reference | Unknown"


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A string with at least one part that is not known as characters; adjacent strings are one part.

    Two texts are equal only if they are sure to be: same parts, and none of them unknown.
    """

    parts: tuple[Part, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.known and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __repr__(self) -> str:
        return "".join("${?}" if isinstance(part, Unknown) else str(part) for part in self.parts)

    @property
    def known(self) -> bool:
        """Nothing in it is unknown: it consists of characters and references."""
        return UNKNOWN not in self.parts

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
        """Whether it matches a pattern with ``*`` and ``?``, whatever the parts turn out to be; ``None`` if that decides it."""
        return matches((pattern,), self.parts)

    def startswith(self, prefix: str) -> bool | None:
        """Whether it begins so; ``None`` if a part decides it."""
        if self.prefix.startswith(prefix):
            return True
        return None if prefix.startswith(self.prefix) else False

    def endswith(self, suffix: str) -> bool | None:
        """Whether it ends so; ``None`` if a part decides it."""
        if self.suffix.endswith(suffix):
            return True
        return None if suffix.endswith(self.suffix) else False


@dataclass(frozen=True, slots=True)
class Either:
    """One of at least two different values, by a condition or parameter that is not known; :data:`ABSENT` can be one."""

    alternatives: tuple[Value, ...]


Value: TypeAlias = (
    "str | int | float | bool | Unknown | Absent | Reference | Text | Either | tuple[Value, ...] | Mapping[str, Value] | None"
)


def either(alternatives: Iterable[Value]) -> Value:
    """One of these: the value on which all agree, else :class:`Either`; :data:`UNKNOWN` if one is or there are too many."""
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
    """The string that these parts make: ``str`` if all are, the reference if it is alone, else :class:`Text`."""
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
    """The parts of what is used as a string; what is no string counts as one unknown part."""
    if isinstance(value, Text):
        return value.parts
    if isinstance(value, str | Reference):
        return (value,)
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, int | float):
        return (str(value),)
    return (UNKNOWN,)


def alternatives_of(value: Value) -> tuple[Value, ...]:
    """All that a value can be: itself, or the alternatives of an :class:`Either`."""
    return value.alternatives if isinstance(value, Either) else (value,)


def is_known(value: Value) -> bool:
    """Whether a value is plain data or a reference, in all its depth."""
    if isinstance(value, Unknown | Either):
        return False
    if isinstance(value, Text):
        return value.known
    if isinstance(value, tuple):
        return all(is_known(item) for item in value)
    if isinstance(value, Mapping):
        return all(is_known(item) for item in value.values())
    return True


def as_int(value: Value) -> int | None:
    """The whole number that CloudFormation reads here, also from ``"443"``; ``None`` for anything else."""
    return _agreed(value, _int)


def as_float(value: Value) -> float | None:
    """The number that CloudFormation reads here, also from ``"0.5"``; ``None`` for anything else."""
    return _agreed(value, _float)


def as_bool(value: Value) -> bool | None:
    """The boolean that CloudFormation reads here, also from ``"true"``; ``None`` for anything else."""
    return _agreed(value, _bool)


def as_str(value: Value) -> str | None:
    """The string that CloudFormation reads here, also from a number or a boolean; ``None`` for anything else."""
    return _agreed(value, _str)


def as_items(value: Value) -> tuple[Value, ...] | None:
    """The items of a list, none where it is absent; ``None`` if it is not known or is no list. Items can be unknown."""
    if value is ABSENT or value is None:
        return ()
    return value if isinstance(value, tuple) else None


def as_mapping(value: Value) -> Mapping[str, Value] | None:
    """A mapping, empty where it is absent; ``None`` if it is not known or is no mapping. Values can be unknown."""
    if value is ABSENT or value is None:
        return {}
    return value if isinstance(value, Mapping) else None


def resource_of(value: Value, *types: str) -> Resource | None:
    """The resource that a value names, by ``Ref`` or by any attribute, if it is of one of these types (or of any)."""
    found = value.resource if isinstance(value, Reference) else None
    return found if found is not None and (not types or found.type in types) else None


def at(value: Value, *path: str | int) -> Value:
    """What is at a path in a value: :data:`ABSENT` if nothing, :data:`UNKNOWN` behind what is not known."""
    for position, key in enumerate(path):
        if isinstance(value, Either):
            rest = path[position:]
            return either(at(alternative, *rest) for alternative in value.alternatives)
        if isinstance(value, Mapping) and isinstance(key, str):
            value = value.get(key, ABSENT)
        elif isinstance(value, tuple) and isinstance(key, int):
            value = value[key] if -len(value) <= key < len(value) else ABSENT
        elif value is None or isinstance(value, Absent):
            return ABSENT
        else:
            return UNKNOWN
    return value


def shown(value: Value) -> object:
    """A value as JSON for a person: references as ``${Id.Attribute}``, unknown parts as ``${?}``, nothing as ``None``."""
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


def _agreed(value: Value, convert: Callable[[Value], T | None]) -> T | None:
    found = {convert(alternative) for alternative in alternatives_of(value)}
    return found.pop() if len(found) == 1 else None


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
