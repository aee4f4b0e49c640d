"""The value of a template's parameter, from its declaration and its parent stack."""

from __future__ import annotations

from collections.abc import Callable

from hyperpod_constructs._support.placeholders import holds_placeholder
from hyperpod_constructs.templates.raw import Raw, has_function
from hyperpod_constructs.templates.values import (
    ABSENT,
    UNKNOWN,
    Either,
    Part,
    Unknown,
    Value,
    as_items,
    either,
    joined,
    parts_of,
)


def parameter_value(declaration: Raw, given: Value) -> Value:
    """The value of a parameter: the given one, else the default, else one of the allowed values. A value from SSM is unknown.

    :param declaration: the parameter's declaration in the template.
    :param given: the value from the parent stack; `ABSENT` without one.
    """
    if not isinstance(declaration, dict):
        return UNKNOWN
    kind = declaration.get("Type")
    kind = kind if isinstance(kind, str) else "String"
    if kind.startswith("AWS::SSM::Parameter::Value<"):
        return UNKNOWN
    if isinstance(given, Either):
        return either(parameter_value(declaration, alternative) for alternative in given.alternatives)
    if given is not ABSENT:
        return _typed(kind, given)
    if "Default" in declaration:
        return _typed(kind, _plain(declaration["Default"]))
    allowed = declaration.get("AllowedValues")
    if isinstance(allowed, list) and allowed:
        return either(_typed(kind, _plain(item)) for item in allowed)
    return UNKNOWN


def given_value(properties: Raw, name: str, resolve: Callable[[Raw], Value]) -> Value:
    """The value that a nested stack gives to a parameter; `ABSENT` without one.

    :param properties: the properties of the nested stack, as written in its parent, with null for what is in doubt.
    :param resolve: resolves them in the parent.
    """
    given = properties.get("Parameters") if isinstance(properties, dict) else None
    if isinstance(given, dict):
        written = flat(resolve(given[name])) if given.get(name) is not None else UNKNOWN
        return written if name in given else UNKNOWN if has_function(given) else ABSENT
    return ABSENT if given is None else UNKNOWN


def given_parameter(properties: Raw, name: str) -> str | None:
    """The parameter of the stack above whose value a nested stack gives to one of its own; `None` for any other value."""
    given = properties.get("Parameters") if isinstance(properties, dict) else None
    return referred(given.get(name)) if isinstance(given, dict) else None


def referred(raw: Raw) -> str | None:
    """The parameter that a reference names; none for a pseudo parameter, whose values are not free."""
    name = raw.get("Ref") if isinstance(raw, dict) and len(raw) == 1 else None
    return name if isinstance(name, str) and not name.startswith("AWS::") else None


def compared(raw: Raw) -> str | None:
    """The parameter that a side of a comparison is: by a reference, or by its items with nothing between them."""
    join = raw.get("Fn::Join") if isinstance(raw, dict) and len(raw) == 1 else None
    return referred(join[1] if isinstance(join, list) and len(join) == 2 and join[0] == "" else raw)


def flat(value: Value) -> Value:
    """A value as it passes between stacks: a string or a list of strings; parts can be unknown."""
    if isinstance(value, Either):
        return either(flat(alternative) for alternative in value.alternatives)
    items = as_items(value) if isinstance(value, tuple) else None
    if items is not None:
        return tuple(item if item is ABSENT else joined(parts_of(item)) for item in items)
    return value if value is ABSENT else joined(parts_of(value))


def _plain(raw: Raw) -> Value:
    if isinstance(raw, str):
        return UNKNOWN if holds_placeholder(raw) else raw
    return raw if raw is None or isinstance(raw, int | float | bool) else UNKNOWN


def _typed(kind: str, value: Value) -> Value:
    if kind == "CommaDelimitedList" or kind.startswith("List<"):
        return value if isinstance(value, tuple) else items_of(parts_of(value))
    if isinstance(value, tuple):
        return joined(part for index, item in enumerate(value) for part in ((",",) if index else ()) + parts_of(item))
    return value


def items_of(parts: tuple[Part, ...]) -> Value:
    """The items of a text with commas. What a reference gives has none; an unknown part may have any."""
    if parts == ("",):
        return ()
    if any(isinstance(part, Unknown) for part in parts):
        return UNKNOWN
    items: list[list[Part]] = [[]]
    for part in parts:
        first, *others = part.split(",") if isinstance(part, str) else (part,)
        items[-1].append(first.strip() if isinstance(first, str) else first)
        items.extend([other.strip()] for other in others if isinstance(other, str))
    return tuple(joined(item) for item in items)
