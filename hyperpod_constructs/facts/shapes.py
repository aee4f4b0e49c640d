"""The form of JSON data, by the part of JSON Schema that the facts need, with the mistakes in words.

A schema without `type` takes any value. An object with `properties` has no other keys, unless `additionalProperties` is true; with
"other" it has keys that are like none of them. `values` is the schema of the values of other keys, and `words` says what a value
is to be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Unknown = Callable[[object], bool]
Schema = Mapping[str, Any]

_MOST_SHOWN = 12
"""Most keys of an object that are shown where another one is found; of more the nearest one is."""

_VARIABLE = re.compile("[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")

_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "object": Mapping,
    "array": (list, tuple),
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
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
        yield f"{at} is {value!r}; allowed: {', '.join(map(str, filter(None, schema['enum'])))}"
    elif "minimum" in schema and isinstance(value, int) and value < schema["minimum"]:
        yield f"{at} is {value!r}; allowed: {schema['minimum']} or more"
    elif "maximum" in schema and isinstance(value, int) and value > schema["maximum"]:
        yield f"{at} is {value!r}; allowed: {schema['maximum']} or less"
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
        inner = (known or {}).get(key)
        others = schema.get("additionalProperties")
        wrong = None if inner is not None or known is None else _wrong_key(others, str(key), known) or _astray(others, part, known)
        if wrong is not None:
            yield f"{'.'.join((*path, str(key)))} is unknown; {wrong}"
        elif (inner := inner or schema.get("values")) is not None:
            yield from shape_mistakes(inner, part, unknown, (*path, str(key)))
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{'.'.join((*path, key))} is missing"


def _astray(others: object, part: object, known: Mapping[str, Schema]) -> str | None:
    """Where the environment variables belong that are under a key which is like none: names of theirs are of one object only."""
    names = [str(one) for one in part if _VARIABLE.fullmatch(str(one))] if others is not True and isinstance(part, Mapping) else []
    for name in names:
        owners = [key for key, inner in known.items() if name in inner.get("properties", ())]
        if len(owners) == 1:
            return f"{name} belongs in {owners[0]}"
    return None


def _wrong_key(others: object, key: str, known: Mapping[str, Schema]) -> str | None:
    """What is right instead of a key that an object does not have; `None` if it may have the key."""
    if others is True:
        return None
    if not others and len(known) <= _MOST_SHOWN:
        return f"allowed: {', '.join(known)}"
    from difflib import get_close_matches  # only an unknown key needs it

    owner = next((name for name, inner in known.items() if key in inner.get("properties", ())), None)
    if owner is not None:
        return f"it belongs in {owner}"
    by_case = {one.casefold(): one for one in known}
    near = get_close_matches(key.casefold(), by_case, n=1, cutoff=0.85 if others else 0.6)
    if near:
        return f"the nearest is {by_case[near[0]]}"
    return None if others else f"allowed: {', '.join(known)}"
