"""Whether two values are the same, though each belongs to a model of its own.

A reference to a resource is the same if it leads to the same logical id of the same template. What cannot be known is the same if
it is spelled the same, or built from the same parts with the same unknown names; what is known beside it has to be the same too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from hyperpod_constructs.rules.template.environment import Environment
from hyperpod_constructs.rules.template.model import Resource
from hyperpod_constructs.rules.template.raw import Raw, walk
from hyperpod_constructs.rules.template.values import ABSENT, Absent, Either, Reference, Text, Unknown, Value

Key: TypeAlias = "tuple[str, str]"
"""A resource by its template and its logical id, the same in both models."""

_VARIABLE = re.compile(r"\$\{([^!}][^}]*)\}")
_DYNAMIC = re.compile(r"\{\{resolve:[^}]*\}\}")
_OPAQUE = ("Fn::GetStackOutput", "Fn::ImportValue", "Fn::Transform")
_UNKNOWN: Hashable = ("unknown",)


@dataclass(frozen=True, slots=True)
class Place:
    """A value and how it is spelled; `raw` is that of the nearest place around it whose spelling is known.

    environment: tells which names in the spelling are resolved in the value.
    """

    value: Value
    raw: Raw
    environment: Environment = field(default_factory=Environment)

    def at(self, key: str) -> Place:
        """What is inside, by its key."""
        value = self.value.get(key, ABSENT) if isinstance(self.value, Mapping) else ABSENT
        plain = isinstance(self.raw, dict) and key in self.raw
        return replace(self, value=value, raw=self.raw[key] if plain and isinstance(self.raw, dict) else self.raw)


def same(old: Place, new: Place, key_of: Callable[[Resource], Key]) -> bool:
    """Whether two values are the same, whatever the parts turn out to be that cannot be known."""
    one, other = _canonical(old.value, key_of), _canonical(new.value, key_of)
    if not (_has_unknown(one) or _has_unknown(other)):
        return one == other
    if old.raw == new.raw:
        return _agree(one, other)
    return one == other and _names(old) == _names(new)


def leads_to(value: Value, keys: Collection[Key], key_of: Callable[[Resource], Key]) -> set[Key]:
    """Those of these resources that a value names, by any function."""
    return {key for key in map(key_of, references(value)) if key in keys}


def references(value: Value) -> Iterator[Resource]:
    """All resources that a value names."""
    if isinstance(value, Reference):
        yield value.resource
    elif isinstance(value, Text):
        yield from (part.resource for part in value.references)
    elif isinstance(value, Either):
        for alternative in value.alternatives:
            yield from references(alternative)
    elif isinstance(value, tuple):
        for item in value:
            yield from references(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from references(item)


def _canonical(value: Value, key_of: Callable[[Resource], Key]) -> Hashable:
    if isinstance(value, Reference):
        return ("reference", key_of(value.resource), value.attribute)
    if isinstance(value, Unknown):
        return _UNKNOWN
    if isinstance(value, Absent):
        return ("absent",)
    if isinstance(value, Text):
        return ("text", *(_canonical(part, key_of) for part in value.parts))
    if isinstance(value, Either):
        return ("either", *(_canonical(item, key_of) for item in value.alternatives))
    if isinstance(value, tuple):
        return ("list", *(_canonical(item, key_of) for item in value))
    if isinstance(value, Mapping):
        items = ((key, _canonical(item, key_of)) for key, item in value.items() if item is not ABSENT)
        return ("map", *sorted(items, key=lambda item: item[0]))
    return _scalar(value)


def _scalar(value: str | int | float | bool | None) -> Hashable:
    """CloudFormation reads 443 and "443", true and "true" alike."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if value is None else str(value)


def _has_unknown(canonical: Hashable) -> bool:
    return canonical == _UNKNOWN or (isinstance(canonical, tuple) and any(_has_unknown(item) for item in canonical))


def _agree(one: Hashable, other: Hashable) -> bool:
    """Whether two values that are spelled the same are the same in what both models know: defaults of parameters, for one."""
    if _is_open(one) or _is_open(other):
        return True
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return all(_agree(*pair) for pair in zip(one, other, strict=True))
    texts = [isinstance(value, str) or (isinstance(value, tuple) and value[:1] == ("text",)) for value in (one, other)]
    return one == other or (all(texts) and (_has_unknown(one) or _has_unknown(other)))


def _is_open(canonical: Hashable) -> bool:
    return canonical == _UNKNOWN or (isinstance(canonical, tuple) and canonical[:1] == ("either",))


def _names(place: Place) -> list[str]:
    """What a value is built from that only a deployment knows, in any spelling: parameters, imports, dynamic references."""
    found: list[str] = []
    for value in walk(place.raw):
        if isinstance(value, str):
            found += _DYNAMIC.findall(value)
        elif isinstance(value, dict):
            name, text = value.get("Ref"), value.get("Fn::Sub")
            if isinstance(name, str):
                found.append(name)
            template = text[0] if isinstance(text, list) and text else text
            if isinstance(template, str):
                found += _VARIABLE.findall(template)
            found += [json.dumps(value) for function in _OPAQUE if function in value]
    return sorted(name for name in found if not isinstance(place.environment.pseudo_parameter(name), str))
