"""The constraints of a service model that botocore's own validator leaves to the service: patterns, enums, upper bounds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import regex  # type: ignore[import-untyped]
from botocore.model import ListShape, MapShape, Shape, StructureShape


def violations(shape: Shape, value: object, at: str = "") -> list[str]:
    """What the service would answer, one text a violation; empty if the value is allowed. Types must have been checked before."""
    if isinstance(shape, StructureShape) and isinstance(value, Mapping):
        members = shape.members
        return [
            text
            for name, item in value.items()
            if name in members and item is not None
            for text in violations(members[name], item, f"{at}.{_lower(name)}" if at else _lower(name))
        ]
    if isinstance(shape, ListShape) and isinstance(value, list | tuple):
        nested = [text for index, item in enumerate(value, 1) for text in violations(shape.member, item, f"{at}.{index}.member")]
        return _bounds(shape, value, len(value), at, "length") + nested
    if isinstance(shape, MapShape) and isinstance(value, Mapping):
        nested = [text for key, item in value.items() for text in violations(shape.value, item, f"{at}.{key}")]
        return _bounds(shape, value, len(value), at, "length") + nested
    if shape.type_name == "string" and isinstance(value, str):
        return _string(shape, value, at)
    if shape.type_name in ("integer", "long", "float", "double") and isinstance(value, int | float):
        return _bounds(shape, value, value, at, "value")
    return []


def _string(shape: Shape, value: str, at: str) -> list[str]:
    found = _bounds(shape, value, len(value), at, "length")
    enum = shape.metadata.get("enum")
    if enum and value not in enum:
        found.append(_text(value, at, f"satisfy enum value set: [{', '.join(enum)}]"))
    pattern = shape.metadata.get("pattern")
    if pattern:
        compiled = _pattern(pattern)
        if compiled is not None and compiled.fullmatch(value) is None:
            found.append(_text(value, at, f"satisfy regular expression pattern: {pattern}"))
    return found


def _bounds(shape: Shape, value: object, size: float, at: str, what: str) -> list[str]:
    minimum, maximum = shape.metadata.get("min"), shape.metadata.get("max")
    found = []
    if minimum is not None and size < minimum:
        found.append(_text(value, at, f"have {what} greater than or equal to {minimum}"))
    if maximum is not None and size > maximum:
        found.append(_text(value, at, f"have {what} less than or equal to {maximum}"))
    return found


def _text(value: Any, at: str, constraint: str) -> str:
    return f"Value '{value}' at '{at}' failed to satisfy constraint: Member must {constraint}"


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:]


@cache
def _pattern(pattern: str) -> regex.Pattern[str] | None:
    """The models' patterns are Java's, with classes such as \\p{L}; one that cannot be read is not checked."""
    try:
        return regex.compile(pattern)
    except regex.error:
        return None
