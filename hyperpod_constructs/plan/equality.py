"""Equality of two values from two models.

References are equal if they lead to the same logical id of the same template. Unknown values are equal if they have the same
spelling, or the same parts with the same unknown names. Their known parts, conditions and mappings must be equal too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from hyperpod_constructs._support.placeholders import holds_placeholder
from hyperpod_constructs.plan.spelling import joined
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource, Template, target_of
from hyperpod_constructs.templates.raw import Raw, walk
from hyperpod_constructs.templates.values import ABSENT, Absent, Either, Reference, Text, Unknown, Value, at, leaves, shown

Key: TypeAlias = "tuple[str, str]"
"""A resource by its template and its logical id, the same in both models."""

_VARIABLE = re.compile(r"\$\{([^!${}][^${}]*)\}")
_DYNAMIC = re.compile(r"\{\{resolve:[^{}]*\}\}")
_OPAQUE = ("Fn::GetStackOutput", "Fn::ImportValue", "Fn::Transform")
_UNKNOWN: Hashable = ("unknown",)


@dataclass(frozen=True, slots=True)
class Spelled:
    """A value with its spelling in the template.

    :param raw: the spelling of the value, or of the nearest value around it.
    :param template: the template that gives names in the spelling their meaning; `None` without a spelling.
    """

    value: Value
    raw: Raw
    template: Template | None = None

    def at(self, key: str) -> Spelled:
        """The value under a key, or of the item with this number."""
        if key.isdigit() and isinstance(self.value, tuple):
            return self._item(int(key))
        value = self.value.get(key, ABSENT) if isinstance(self.value, Mapping) else ABSENT
        plain = isinstance(self.raw, dict) and key in self.raw
        return replace(self, value=value, raw=self.raw[key] if plain and isinstance(self.raw, dict) else self.raw)

    def _item(self, index: int) -> Spelled:
        written = self.raw[index] if isinstance(self.raw, list) and index < len(self.raw) else self.raw
        return replace(self, value=at(self.value, index), raw=written)


def same(old: Spelled, new: Spelled, key_of: Callable[[Resource], Key]) -> bool:
    """Whether two values are equal for all outcomes of their unknown parts."""
    one, other = _canonical(old.value, key_of), _canonical(new.value, key_of)
    if not (_has_unknown(one) or _has_unknown(other)):
        if one == other:
            return not _has_choice(one) or _conditions_agree(old, new)
        return old.raw == new.raw and _is_of_mapping(old) and _agree(one, other, _overlap) and _mappings_agree(old, new)
    if _awaits_lookup(old) or _awaits_lookup(new):
        return _agree(one, other)
    if not (_conditions_agree(old, new) and _mappings_agree(old, new)):
        return False
    if joined(old.raw) == joined(new.raw):
        return _agree(one, other)
    return one == other and _names(old) == _names(new)


def _awaits_lookup(place: Spelled) -> bool:
    """Whether the spelling contains a placeholder that CDK replaces after its look-up."""
    return any(isinstance(value, str) and holds_placeholder(value) for value in walk(place.raw))


def _conditions_agree(old: Spelled, new: Spelled) -> bool:
    """Whether the same conditions choose the unknown parts; a condition that is known on one side counts as equal."""
    before, after = _conditions(old), _conditions(new)
    if old.raw == new.raw:
        return all(one is None or other is None or one == other for one, other in zip(before, after, strict=True))
    return sorted(filter(None, before)) == sorted(filter(None, after))


def _conditions(place: Spelled) -> list[str | None]:
    """The expression of each condition in a spelling; `None` for a condition with a known result."""
    template = place.template
    if template is None:
        return []
    choices = [value["Fn::If"] for value in walk(place.raw) if isinstance(value, dict) and "Fn::If" in value]
    names = [choice[0] for choice in choices if isinstance(choice, list) and choice and isinstance(choice[0], str)]
    return [expression_of(template, name) if template.condition(name) is None else None for name in names]


def expression_of(template: Template, condition: str) -> str:
    """The expression of a condition, with the expressions of the conditions in it."""
    return json.dumps(_expanded(template, {"Condition": condition}, frozenset()), sort_keys=True)


def _expanded(template: Template, raw: Raw, within: frozenset[str]) -> Raw:
    if isinstance(raw, list):
        return [_expanded(template, item, within) for item in raw]
    if not isinstance(raw, dict):
        return raw
    name = raw.get("Condition")
    section = template.raw.get("Conditions")
    if len(raw) == 1 and isinstance(name, str) and isinstance(section, dict) and name in section and name not in within:
        return _expanded(template, section[name], within | {name})
    return {key: _expanded(template, item, within) for key, item in raw.items()}


def _mappings_agree(old: Spelled, new: Spelled) -> bool:
    """Whether the mappings behind a value agree where both templates have an entry."""
    if old.template is None or new.template is None:
        return True
    for value in walk(new.raw):
        found = value.get("Fn::FindInMap") if isinstance(value, dict) else None
        if not isinstance(found, list) or not found:
            continue
        name, *keys = found
        if not isinstance(name, str):
            continue
        one, other = old.template.mapping(name), new.template.mapping(name)
        if any(shown(at(one, *path)) != shown(at(other, *path)) for path in _common(one, other, keys[:2])):
            return False
    return True


def _common(one: Value, other: Value, keys: list[Raw]) -> Iterator[tuple[str, ...]]:
    """The paths in both mappings that the keys can reach; a key that is not a string can be any."""
    if not keys:
        yield ()
        return
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in [keys[0]] if isinstance(keys[0], str) else list(one):
            if key in one and key in other:
                yield from ((key, *path) for path in _common(one[key], other[key], keys[1:]))


def leads_to(value: Value, keys: Collection[Key], key_of: Callable[[Resource], Key]) -> set[Key]:
    """The resources among `keys` to which a value refers."""
    return {key for key in map(key_of, references(value)) if key in keys}


def attributes_of(value: Value, key_of: Callable[[Resource], Key]) -> Iterator[tuple[Key, str | None]]:
    """The attributes of resources that a value has; `None` is `Ref`."""
    for leaf in leaves(value):
        for one in leaf.references if isinstance(leaf, Text) else (leaf,):
            if isinstance(one, Reference):
                yield key_of(target_of(one)), one.attribute


def _canonical(value: Value, key_of: Callable[[Resource], Key]) -> Hashable:
    if isinstance(value, Reference):
        return ("reference", key_of(target_of(value)), value.attribute)
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
    """One form for equal scalars: CloudFormation reads 443 and "443", true and "true" alike."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if value is None else str(value)


def _has_unknown(canonical: Hashable) -> bool:
    return canonical == _UNKNOWN or (isinstance(canonical, tuple) and any(_has_unknown(item) for item in canonical))


def _has_choice(canonical: Hashable) -> bool:
    return isinstance(canonical, tuple) and (canonical[:1] == ("either",) or any(_has_choice(item) for item in canonical))


def _is_of_mapping(place: Spelled) -> bool:
    """Whether a spelling takes a value from a mapping."""
    return any(isinstance(value, dict) and "Fn::FindInMap" in value for value in walk(place.raw))


def _overlap(one: Hashable, other: Hashable) -> bool:
    """Whether a choice of a mapping has a value that the other has too: what is common to both is compared by their entries."""
    some, others = (set(value[1:]) if _is_open(value) and isinstance(value, tuple) else {value} for value in (one, other))
    return not some.isdisjoint(others)


def _always(_one: Hashable, _other: Hashable) -> bool:
    return True


def _agree(one: Hashable, other: Hashable, chosen: Callable[[Hashable, Hashable], bool] = _always) -> bool:
    """Whether two values with the same spelling agree where both are known, such as in the defaults of parameters.

    :param chosen: whether two agree of which one is unknown or a choice.
    """
    if _is_open(one) or _is_open(other):
        return chosen(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return all(_agree(*pair, chosen) for pair in zip(one, other, strict=True))
    texts = [isinstance(value, str) or (isinstance(value, tuple) and value[:1] == ("text",)) for value in (one, other)]
    return one == other or (all(texts) and (_has_unknown(one) or _has_unknown(other)))


def _is_open(canonical: Hashable) -> bool:
    return canonical == _UNKNOWN or (isinstance(canonical, tuple) and canonical[:1] == ("either",))


def _names(place: Spelled) -> list[str]:
    """The names in a spelling that only a deployment can resolve: parameters, imports, dynamic references, items of such lists."""
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
            found += _place_in_list(value.get("Fn::Select"))
    known = None if place.template is None else place.template.environment
    return sorted(name for name in found if known is None or not isinstance(known.pseudo_parameter(name), str))


def _place_in_list(selected: Raw) -> list[str]:
    """The place that `Fn::Select` takes of a list which a function gives."""
    by_function = isinstance(selected, list) and len(selected) == 2 and isinstance(selected[1], dict)
    return [f"item {selected[0]}"] if by_function and isinstance(selected, list) and isinstance(selected[0], str | int) else []
