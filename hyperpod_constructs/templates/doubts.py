"""Doubts: what a model takes as not known because it is a mistake, and what it leaves out because it is not there yet.

A judgement that rests on a wrong value is not sure: nobody knows the right one yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Value

Key: TypeAlias = tuple[int, str]
Path: TypeAlias = tuple[str | int, ...]
Handed: TypeAlias = tuple[Key, str | None] | str
"""A reference: to a resource, by an attribute or by `Ref`; or a text."""


def key_of(document: Document, logical_id: str) -> Key:
    """A resource or a parameter, the same in every model of its template."""
    return id(document), logical_id


@dataclass(frozen=True, kw_only=True, slots=True)
class Doubts:
    """Doubts about the resources of a model.

    :param values: the places in the properties of a resource whose values count as unknown.
    :param orders: resources that count as made after all others.
    :param types: the types as which resources count.
    :param absent: resources that count as not there.
    :param parameters: the parameters whose values count as unknown.
    :param handed: the references and texts that count as unknown where an output gives them to other stacks.
    :param instead: what is written at other places of a resource than there is.
    """

    values: Mapping[Key, Sequence[Path]] = field(default_factory=dict)
    orders: frozenset[Key] = frozenset()
    types: Mapping[Key, str] = field(default_factory=dict)
    absent: frozenset[Key] = frozenset()
    parameters: frozenset[Key] = frozenset()
    handed: frozenset[Handed] = frozenset()
    instead: Mapping[Key, tuple[Path, Raw]] = field(default_factory=dict)

    def are_of(self, key: Key, path: Path) -> bool:
        """Whether a value of a resource is in doubt itself."""
        return path in self.values.get(key, ())

    def applied(self, key: Key, properties: Value) -> Value:
        """The properties of a resource, with what is not known."""
        for path in self.values.get(key, ()):
            properties = _doubted(properties, path)
        return properties

    def meant(self, key: Key, raw: Mapping[str, Raw]) -> Mapping[str, Raw]:
        """A resource as written, with something else at a place."""
        if key not in self.instead:
            return raw
        path, other = self.instead[key]
        return {**raw, "Properties": _put(raw.get("Properties"), path, other)}

    def written(self, key: Key, raw: Mapping[str, Raw]) -> Mapping[str, Raw]:
        """A resource as written, with null in the place of what is not known."""
        places = self.values.get(key, ())
        properties = raw.get("Properties")
        for path in places:
            properties = _put(properties, path, None)
        order = {"DependsOn": None} if key in self.orders else {}
        return {**raw, "Properties": properties, **order} if places or order else raw


def _doubted(value: Value, path: Path) -> Value:
    """A value, unknown at a path; also where the path leads to nothing."""
    if not path or value is ABSENT or value is None:
        return UNKNOWN
    first, *rest = path
    if isinstance(value, Mapping) and isinstance(first, str):
        return {**value, first: _doubted(value.get(first, ABSENT), tuple(rest))}
    if isinstance(value, tuple) and isinstance(first, int) and first < len(value):
        return (*value[:first], _doubted(value[first], tuple(rest)), *value[first + 1 :])
    return value


def _put(raw: Raw, path: Path, other: Raw) -> Raw:
    """A part of a template, with something else at a path; as it is where the path leads through a function, or to nothing."""
    if not path:
        return other
    first, *rest = path
    if isinstance(raw, dict) and first in raw:
        return {**raw, str(first): _put(raw[str(first)], tuple(rest), other)}
    if isinstance(raw, list) and isinstance(first, int) and first < len(raw):
        return [*raw[:first], _put(raw[first], tuple(rest), other), *raw[first + 1 :]]
    return raw
