"""The words of a schema that limit a single value: each is true, false or, where a deployment decides, `None`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from hyperpod_constructs.analysis.answers import Answer, any_of
from hyperpod_constructs.facts.property_schemas import property_schema
from hyperpod_constructs.templates.values import (
    ABSENT,
    Account,
    Either,
    Reference,
    Text,
    Unknown,
    Value,
    alternatives_of,
    as_bool,
    as_float,
    as_int,
    as_str,
    is_known,
)

Word: TypeAlias = Callable[[Any, Value], Answer]

_ACCOUNT = 12
_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "an object with properties",
    "string": "a text",
}


def present(value: Value) -> Answer:
    """Whether a property is there; `None` if a condition decides."""
    if value is ABSENT or value is None:
        return False
    if isinstance(value, Unknown):
        return None
    return None if any(one is ABSENT for one in alternatives_of(value)) else True


def taken(value: Value) -> Answer:
    """Whether a property is there and no empty list, which excludes no other property."""
    return False if value == () else present(value)


def type_words(types: str | list[str]) -> str:
    """Types in words."""
    return " or ".join(_TYPES[one] for one in ([types] if isinstance(types, str) else types))


def has_type(types: str | list[str], value: Value) -> Answer:
    """Whether CloudFormation reads the value as one of these types: `"443"` is a number too."""
    return any_of(_has_type(one, value) for one in ([types] if isinstance(types, str) else types))


def _has_type(name: str, value: Value) -> Answer:
    if isinstance(value, Reference) and value.attribute is not None:
        return _has_type_of_attribute(name, value.resource.type, value.attribute)
    if isinstance(value, Reference | Text):
        return {"string": True, "array": False, "object": False}.get(name)
    if name in ("array", "object"):
        return isinstance(value, tuple if name == "array" else Mapping)
    readers: dict[str, Callable[[Value], object]] = {"integer": as_int, "number": as_float, "boolean": as_bool, "string": as_str}
    return readers[name](value) is not None


def _has_type_of_attribute(name: str, resource_type: str, attribute: str) -> Answer:
    """Whether an attribute is a text or a list as the schema of its type says, where the other one is wanted: then surely not."""
    node = (property_schema(resource_type) or {}).get("properties", {}).get(attribute)
    kind = node.get("type") if isinstance(node, Mapping) else None
    return False if (kind, name) in (("string", "array"), ("string", "object"), ("array", "string")) else None


def is_one_of(choices: list[Any], value: Value) -> Answer:
    """Whether the value is one of the words."""
    return _is_one_of([_text(one) for one in choices], value, str)


def is_one_of_any_case(choices: list[Any], value: Value) -> Answer:
    """Whether the value is one of the words, in capital or small letters."""
    return _is_one_of([_text(one).casefold() for one in choices], value, str.casefold)


def _is_one_of(choices: list[str], value: Value, folded: Callable[[str], str]) -> Answer:
    if isinstance(value, Text):
        possible = any(value.matches(one.replace("*", "?")) is not False for one in choices)
        return None if possible or folded is not str else False
    text = as_str(value)
    if text is None:
        return None if isinstance(value, Reference) else False
    return folded(text) in choices


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def has_nowhere(refused: list[str], value: Value) -> Answer:
    """Whether a text has none of these parts."""
    parts = value.parts if isinstance(value, Text) else (value,)
    known = [part for part in parts if isinstance(part, str)]
    if any(one in part for part in known for one in refused):
        return False
    return True if len(known) == len(parts) else None


def begins_with(beginnings: list[str], value: Value) -> Answer:
    """Whether a text begins so; of one with unknown parts, as far as its first part tells."""
    if isinstance(value, Text):
        return any_of(value.startswith(one) for one in beginnings)
    text = as_str(value)
    return None if text is None else text.startswith(tuple(beginnings))


def ends_with(endings: list[str], value: Value) -> Answer:
    """Whether a text ends so; of one with unknown parts, as far as its last part tells."""
    if isinstance(value, Text):
        return any_of(value.endswith(one) for one in endings)
    text = as_str(value)
    return None if text is None else text.endswith(tuple(endings))


def is_class(wanted: Mapping[str, Any], value: Value) -> Answer:
    """Whether a text is a class of machines; `None` for one of a family that is not known."""
    text = as_str(value)
    if text is None or "{{" in text:
        return None
    before, behind = wanted["before"], wanted["behind"]
    if not (text.startswith(before) and text.endswith(behind)):
        return False
    family, _, size = text.removeprefix(before).removesuffix(behind).partition(".")
    return size in wanted["families"][family] if family in wanted["families"] else None


def is_long_enough(least: int, value: Value) -> Answer:
    text = as_str(value)
    return None if text is None else len(text) >= least


def is_short_enough(most: int, value: Value) -> Answer:
    if isinstance(value, Text):
        return False if sum(map(_least_length, value.parts)) > most else None
    text = as_str(value)
    return None if text is None else len(text) <= most


def _least_length(part: Value) -> int:
    """The characters that a part of a text has at least: those of an account are twelve digits."""
    return _ACCOUNT if isinstance(part, Account) else len(part) if isinstance(part, str) else 0


def is_at_least(least: float, value: Value) -> Answer:
    number = as_float(value)
    return None if number is None else number >= least


def is_at_most(most: float, value: Value) -> Answer:
    number = as_float(value)
    return None if number is None else number <= most


def is_multiple(step: float, value: Value) -> Answer:
    number = as_float(value)
    return None if number is None else number % step == 0


def has_enough_items(least: int, value: Value) -> Answer:
    return _has_enough(least, value) if isinstance(value, tuple) else None


def has_few_enough_items(most: int, value: Value) -> Answer:
    return _has_few_enough(most, value) if isinstance(value, tuple) else None


def has_enough_names(least: int, value: Value) -> Answer:
    return _has_enough(least, tuple(value.values())) if isinstance(value, Mapping) else None


def has_few_enough_names(most: int, value: Value) -> Answer:
    return _has_few_enough(most, tuple(value.values())) if isinstance(value, Mapping) else None


def _has_enough(least: int, items: tuple[Value, ...]) -> Answer:
    if len(items) < least:
        return False
    return True if _sure(items) >= least else None


def _has_few_enough(most: int, items: tuple[Value, ...]) -> Answer:
    if _sure(items) > most:
        return False
    return True if len(items) <= most else None


def _sure(items: tuple[Value, ...]) -> int:
    """The number of items that are sure to be there."""
    return sum(present(item) is True for item in items)


def has_different_items(wanted: bool, value: Value) -> Answer:
    """Whether no two items are the same."""
    if not wanted or not isinstance(value, tuple):
        return True
    return False if repeated(value) is not ABSENT else None if any(not is_known(item) for item in value) else True


def repeated(items: tuple[Value, ...]) -> Value:
    """An item that is there twice; `ABSENT` if there is none."""
    known: list[Value] = []
    simple: set[object] = set()
    for item in items:
        if isinstance(item, str):
            if item in simple:
                return item
            simple.add(item)
        elif is_known(item) and not isinstance(item, Either):
            if any(type(item) is type(other) and item == other for other in known[:100]):
                return item
            known.append(item)
    return ABSENT
