"""The form of JSON data, by the part of JSON Schema that the facts need, with the mistakes in words.

A schema without `type` takes any value. An object with `properties` has no other keys, unless `additionalProperties` is true;
`values` is the schema of all values of an object with any keys, and `words` says what a value is to be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Unknown = Callable[[object], bool]
Schema = Mapping[str, Any]

_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "object": Mapping,
    "array": (list, tuple),
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


def shape_mistakes(schema: Schema, value: object, unknown: Unknown, path: tuple[str, ...] = ()) -> Iterator[str]:
    """What a schema refuses about a value, in words: where, what was found, and what is allowed.

    :param unknown: whether a value is known only at the deployment.
    :param path: the place of the value in the whole.
    """
    if unknown(value):
        return
    at = ".".join(path) or "the whole"
    if "type" in schema and not _is_of(schema["type"], value):
        yield f"{at} is {value!r}; allowed: {schema.get('words', schema['type'])}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{at} is {value!r}; allowed: {', '.join(schema['enum'])}"
    elif "pattern" in schema and not re.fullmatch(schema["pattern"], str(value)):
        yield f"{at} is {value!r}; allowed: {schema['words']}"
    elif isinstance(value, Mapping):
        yield from _in_object(schema, value, unknown, path)
    elif isinstance(value, list | tuple) and "items" in schema:
        for index, item in enumerate(value):
            yield from shape_mistakes(schema["items"], item, unknown, (*path, str(index)))


def _is_of(kinds: str | list[str], value: object) -> bool:
    names = [kinds] if isinstance(kinds, str) else kinds
    return any(isinstance(value, _KINDS[name]) and (name == "boolean") is isinstance(value, bool) for name in names)


def _in_object(schema: Schema, value: Mapping[str, Any], unknown: Unknown, path: tuple[str, ...]) -> Iterator[str]:
    known: Mapping[str, Schema] | None = schema.get("properties")
    for key, part in value.items():
        inner = schema.get("values") if known is None else known.get(key)
        if inner is not None:
            yield from shape_mistakes(inner, part, unknown, (*path, str(key)))
        elif known is not None and not schema.get("additionalProperties"):
            yield f"{'.'.join((*path, str(key)))} is unknown; allowed: {', '.join(known)}"
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{'.'.join((*path, key))} is missing"
