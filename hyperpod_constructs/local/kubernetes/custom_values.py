"""Objects of custom resources against the structural schemas of their definitions: pruning, defaults, validation."""

from __future__ import annotations

import ipaddress
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import regex  # type: ignore[import-untyped]

from hyperpod_constructs.local.kubernetes import status
from hyperpod_constructs.local.kubernetes.status import Cause, invalid_value, shown
from hyperpod_constructs.local.kubernetes.values import copy

Schema = Mapping[str, Any]
MOST_CAUSES = 50
SECONDS = 5.0
"""Processor time to judge one object: a definition may try thousands of schemas and slow patterns on each of its values."""
MOST_DEFAULTS = 3 * 1024 * 1024
"""Bytes of defaults that come into one object: each item of a list takes those of its schema."""
_PATTERN_SECONDS = 0.1
_END: ContextVar[float | None] = ContextVar("end_of_judging", default=None)
_EMBEDDED = frozenset({"apiVersion", "kind", "metadata"})


def prune(schema: Schema, value: Any, path: str = "", *, root: bool = False) -> tuple[Any, list[str]]:
    """The value without fields that the schema does not know, and their paths."""
    if isinstance(value, list):
        items = schema.get("items", {})
        pairs = [prune(items, item, f"{path}[{index}]") for index, item in enumerate(value)]
        return [pair[0] for pair in pairs], [unknown for pair in pairs for unknown in pair[1]]
    if not isinstance(value, dict):
        return value, []
    properties, rest = schema.get("properties", {}), schema.get("additionalProperties")
    embedded = _EMBEDDED if root or schema.get("x-kubernetes-embedded-resource") else frozenset()
    kept, unknown = {}, []
    for key, item in value.items():
        inner = f"{path}.{key}" if path else key
        if key in embedded and (root or key not in properties):
            kept[key] = item
        elif key in properties:
            kept[key], more = prune(properties[key], item, inner)
            unknown += more
        elif rest is True or schema.get("x-kubernetes-preserve-unknown-fields"):
            kept[key] = item
        elif isinstance(rest, Mapping):
            kept[key], more = prune(rest, item, inner)
            unknown += more
        else:
            unknown.append(inner)
    return kept, unknown


def with_defaults(schema: Schema, value: Any) -> Any:
    """The value with the schema's defaults; null where it is not allowed counts as absent.

    :raises ApiError: 413 for more than `MOST_DEFAULTS`.
    """
    return _Defaults().onto(schema, value)


class _Defaults:
    """The defaults of one object, and how much of them may still come into it."""

    def __init__(self) -> None:
        self._left = MOST_DEFAULTS

    def onto(self, schema: Schema, value: Any) -> Any:
        if isinstance(value, list):
            return [self.onto(schema.get("items", {}), item) for item in value]
        if not isinstance(value, dict):
            return value
        properties, rest = schema.get("properties", {}), schema.get("additionalProperties")
        filled = {}
        for key, item in value.items():
            inner = properties.get(key, rest if isinstance(rest, Mapping) else {})
            if item is None and not inner.get("nullable") and "default" in inner:
                continue
            filled[key] = self.onto(inner, item)
        for key, inner in properties.items():
            if key not in filled and "default" in inner:
                filled[key] = self.onto(inner, self._taken(inner["default"]))
        return filled

    def _taken(self, default: Any) -> Any:
        self._left -= len(json.dumps(default))
        if self._left < 0:
            raise status.too_large(MOST_DEFAULTS)
        return copy(default)


def problems(schema: Schema, value: Any, path: str = "") -> list[Cause]:
    """What the schema does not allow, at most `MOST_CAUSES`.

    :raises ApiError: 422 for a value that takes more than `SECONDS` to judge.
    """
    found: list[Cause] = []
    token = _END.set(time.thread_time() + SECONDS)
    try:
        for cause in _problems(schema, value, path):
            found.append(cause)
            if len(found) == MOST_CAUSES:
                break
    finally:
        _END.reset(token)
    return found


def _check_time() -> None:
    end = _END.get()
    if end is not None and time.thread_time() > end:
        detail = f"the object takes more than {SECONDS:g} seconds of processor time to judge; simplify its definition"
        raise status.ApiError(422, "Invalid", detail)


def _problems(schema: Schema, value: Any, path: str) -> Iterator[Cause]:
    _check_time()
    if value is None:
        if not schema.get("nullable") and schema.get("type"):
            yield status.wrong_type(path, "null", f'{path} in body must be of type {schema["type"]}: "null"')
        return
    kind = _kind(value)
    wanted = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        if kind not in ("integer", "string"):
            yield status.wrong_type(path, kind, f'{path} in body must be of type integer,string: "{kind}"')
            return
    elif wanted and kind != wanted and not (wanted == "number" and kind == "integer"):
        yield status.wrong_type(path, kind, f'{path} in body must be of type {wanted}: "{kind}"')
        return
    if "enum" in schema and value not in schema["enum"]:
        yield status.unsupported(path, value, schema["enum"])
    yield from _CHECKS[kind](schema, value, path)
    yield from _combined(schema, value, path)


def _object(schema: Schema, value: Mapping[str, Any], path: str) -> Iterator[Cause]:
    for name in schema.get("required", ()):
        if name not in value:
            yield status.required(f"{path}.{name}" if path else name)
    if len(value) > schema.get("maxProperties", len(value)):
        yield status.too_many(path, len(value), schema["maxProperties"])
    if len(value) < schema.get("minProperties", 0):
        yield invalid_value(path, len(value), f"{path} in body should have at least {schema['minProperties']} properties")
    properties, rest = schema.get("properties", {}), schema.get("additionalProperties")
    for key, item in value.items():
        inner = properties.get(key, rest)
        if isinstance(inner, Mapping):
            yield from _problems(inner, item, f"{path}.{key}" if path else key)


def _array(schema: Schema, value: list[Any], path: str) -> Iterator[Cause]:
    if len(value) > schema.get("maxItems", len(value)):
        yield status.too_many(path, len(value), schema["maxItems"])
        return
    if len(value) < schema.get("minItems", 0):
        yield invalid_value(path, len(value), f"{path} in body should have at least {schema['minItems']} items")
    yield from _duplicates(schema, value, path)
    items = schema.get("items", {})
    for index, item in enumerate(value):
        yield from _problems(items, item, f"{path}[{index}]")


def _duplicates(schema: Schema, value: list[Any], path: str) -> Iterator[Cause]:
    kind, seen = schema.get("x-kubernetes-list-type"), set()
    if kind not in ("set", "map") and not schema.get("uniqueItems"):
        return
    for index, item in enumerate(value):
        if kind == "map" and isinstance(item, Mapping):
            item = {key: item[key] for key in schema.get("x-kubernetes-list-map-keys", ()) if key in item}
        if (text := shown(item)) in seen:
            yield status.duplicate(f"{path}[{index}]", item)
        seen.add(text)


def _string(schema: Schema, value: str, path: str) -> Iterator[Cause]:
    if len(value) > schema.get("maxLength", len(value)):
        yield status.too_long(path, schema["maxLength"])
        return
    if len(value) < schema.get("minLength", 0):
        yield invalid_value(path, value, f"{path} in body should be at least {schema['minLength']} chars long")
    if "pattern" in schema and not matches(schema["pattern"], value):
        yield invalid_value(path, value, f"{path} in body should match '{schema['pattern']}'")
    form = _FORMATS.get(schema.get("format", ""))
    if form is not None and not form(value):
        yield invalid_value(path, value, f"{path} in body must be of type {schema['format']}: {shown(value)}")


def _number(schema: Schema, value: float, path: str) -> Iterator[Cause]:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and (value < low or (value == low and schema.get("exclusiveMinimum"))):
        words = "greater than" if schema.get("exclusiveMinimum") else "greater than or equal to"
        yield invalid_value(path, value, f"{path} in body should be {words} {low}")
    if high is not None and (value > high or (value == high and schema.get("exclusiveMaximum"))):
        words = "less than" if schema.get("exclusiveMaximum") else "less than or equal to"
        yield invalid_value(path, value, f"{path} in body should be {words} {high}")
    if (step := schema.get("multipleOf")) and value % step:
        yield invalid_value(path, value, f"{path} in body should be a multiple of {step}")
    limit = {"int32": 2**31, "int64": 2**63}.get(schema.get("format", ""), 0)
    if limit and not -limit <= value < limit:
        yield invalid_value(path, value, f"{path} in body must be of type {schema['format']}: {shown(str(value))}")


def _nothing(schema: Schema, value: Any, path: str) -> Iterator[Cause]:
    return iter(())


def _combined(schema: Schema, value: Any, path: str) -> Iterator[Cause]:
    for inner in schema.get("allOf", ()):
        yield from _problems(inner, value, path)
    text = f'"{path}"'
    if "anyOf" in schema and not any(_fits(inner, value) for inner in schema["anyOf"]):
        yield Cause(path, "FieldValueInvalid", f'Invalid value: "": {text} must validate at least one schema (anyOf)')
    if "oneOf" in schema and (count := sum(_fits(inner, value) for inner in schema["oneOf"])) != 1:
        number = "none" if count == 0 else str(count)
        detail = f"{text} must validate one and only one schema (oneOf). Found {number} valid" + (" alternatives" if count else "")
        yield Cause(path, "FieldValueInvalid", f'Invalid value: "": {detail}')
    if "not" in schema and _fits(schema["not"], value):
        yield Cause(path, "FieldValueInvalid", f'Invalid value: "": {text} must not validate the schema (not)')


def _fits(schema: Schema, value: Any) -> bool:
    return next(_problems(schema, value, ""), None) is None


def matches(pattern: str, value: str) -> bool:
    """Whether a pattern is found in a string; one that takes too long counts as not found."""
    try:
        return regex.search(pattern, value, timeout=_PATTERN_SECONDS) is not None
    except (TimeoutError, regex.error):
        return False


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    return {dict: "object", list: "array", str: "string", float: "number"}[type(value)]


_CHECKS: Mapping[str, Callable[[Schema, Any, str], Iterator[Cause]]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _number,
    "number": _number,
    "boolean": _nothing,
}


def _parses(parser: Callable[[str], object]) -> Callable[[str], bool]:
    def form(value: str) -> bool:
        try:
            parser(value)
        except ValueError:
            return False
        return True

    return form


_FORMATS: Mapping[str, Callable[[str], bool]] = {
    "ipv4": _parses(ipaddress.IPv4Address),
    "ipv6": _parses(ipaddress.IPv6Address),
    "cidr": _parses(lambda value: ipaddress.ip_network(value, strict=False)),
    "uuid": lambda value: matches(r"^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$", value),
    "date-time": lambda value: matches(r"^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$", value),
    "date": lambda value: matches(r"^\d{4}-\d{2}-\d{2}$", value),
    "duration": lambda value: matches(r"^-?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$|^0$", value),
}
