"""CEL rules of custom resource definitions (`x-kubernetes-validations`), also those that compare with the object before."""

from __future__ import annotations

import datetime
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import regex  # type: ignore[import-untyped]

from hyperpod_constructs.local.kubernetes.custom_values import Schema
from hyperpod_constructs.local.kubernetes.status import Cause

RULES = "x-kubernetes-validations"
_ABSENT = object()
_OLD = re.compile(r"\boldSelf\b")
_LITERAL = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_WORDS = frozenset(
    [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_REASONS = {"FieldValueRequired", "FieldValueInvalid", "FieldValueForbidden", "FieldValueDuplicate"}


def unreadable(schema: Schema, path: str = "") -> Iterator[tuple[str, str, str]]:
    """The rules that this implementation cannot compile: path, rule and reason."""
    for index, rule in enumerate(schema.get(RULES) or ()):
        try:
            _program(rule["rule"])
        except ValueError as error:
            yield f"{path}.{RULES}[{index}].rule", rule["rule"], str(error).splitlines()[0]
    for name, inner in schema.get("properties", {}).items():
        yield from unreadable(inner, f"{path}.properties[{name}]")
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), Mapping):
            yield from unreadable(schema[name], f"{path}.{name}")


def has_rules(schema: Schema) -> bool:
    """Whether a schema has rules anywhere; to walk values of those without would be a waste."""
    children = [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]
    return bool(schema.get(RULES)) or any(isinstance(child, Mapping) and has_rules(child) for child in children)


def broken(schema: Schema, value: Any, before: Any = _ABSENT, path: str = "") -> Iterator[Cause]:
    """The rules that a value breaks; `before` is the value that it replaces."""
    if value is None:
        return
    for rule in schema.get(RULES) or ():
        cause = _evaluate(rule, schema, value, before, path)
        if cause is not None:
            yield cause
    if isinstance(value, Mapping):
        old = before if isinstance(before, Mapping) else {}
        properties, rest = schema.get("properties", {}), schema.get("additionalProperties")
        for key, item in value.items():
            inner = properties.get(key, rest)
            if isinstance(inner, Mapping):
                yield from broken(inner, item, old.get(key, _ABSENT), f"{path}.{key}" if path else key)
    elif isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for index, item in enumerate(value):
            yield from broken(schema["items"], item, _same_item(schema, item, before), f"{path}[{index}]")


def _same_item(schema: Schema, item: Any, before: Any) -> Any:
    """The item of a list before that stands for this one: lists of type map have keys; items of others have no past."""
    keys = schema.get("x-kubernetes-list-map-keys")
    if schema.get("x-kubernetes-list-type") != "map" or not keys or not isinstance(before, list):
        return _ABSENT

    def identity(one: Any) -> list[Any]:
        return [one.get(key) for key in keys]

    return next((old for old in before if identity(old) == identity(item)), _ABSENT)


def _evaluate(rule: Mapping[str, Any], schema: Schema, value: Any, before: Any, path: str) -> Cause | None:
    text, variables = rule["rule"], {"self": _converted(schema, value)}
    if _OLD.search(_LITERAL.sub("", text)):
        optional = rule.get("optionalOldSelf")
        if before is _ABSENT and not optional:
            return None
        variables["oldSelf"] = None if before is _ABSENT else _converted(schema, before)
        if optional:
            variables["oldSelf"] = _optional(variables["oldSelf"], present=before is not _ABSENT)
    try:
        program = _program(text)
    except ValueError:
        return None  # Its definition was answered with a warning.
    reason = rule.get("reason") if rule.get("reason") in _REASONS else "FieldValueInvalid"
    where = path + str(rule.get("fieldPath", "")) if path else str(rule.get("fieldPath", "")).removeprefix(".") or "<nil>"
    kind = schema.get("type", "object")
    try:
        if program(variables) is True:
            return None
    except Exception as error:  # The library raises what the functions of the rule raise.
        detail = str(error).strip("'")
        if isinstance(error, KeyError):
            detail = f"no such key: {detail}"
        return Cause(where, "FieldValueInvalid", f'Invalid value: "{kind}": {detail} evaluating rule: {rule.get("message", text)}')
    return Cause(where, str(reason), _prefix(str(reason), kind) + _message(rule, variables))


def _prefix(reason: str, kind: str) -> str:
    words = {"FieldValueRequired": "Required value: ", "FieldValueForbidden": "Forbidden: "}
    named = "Duplicate value" if reason == "FieldValueDuplicate" else "Invalid value"
    return words.get(reason, f'{named}: "{kind}": ')


def _message(rule: Mapping[str, Any], variables: Mapping[str, Any]) -> str:
    if rule.get("messageExpression"):
        try:
            found = _program(rule["messageExpression"])(variables)
        except Exception:
            found = None
        if isinstance(found, str) and found.strip() and "\n" not in found:
            return found
    return str(rule.get("message") or f"failed rule: {rule['rule']}")


def _optional(value: Any, *, present: bool) -> Any:
    import cel

    return cel.OptionalValue.of(value) if present else cel.OptionalValue.none()


@lru_cache(maxsize=1000)
def _program(text: str) -> Callable[[Mapping[str, Any]], Any]:
    """A compiled rule.

    :raises ValueError: for one that the library cannot read.
    """
    import cel

    program = cel.compile(text)

    def execute(variables: Mapping[str, Any]) -> Any:
        return program.execute(cel.Context(variables=dict(variables), functions=dict(_FUNCTIONS)))

    return execute


def _converted(schema: Schema, value: Any) -> Any:
    """A value as CEL sees it by its schema: names escaped, numbers as double, times and durations as such."""
    if isinstance(value, Mapping):
        properties, rest = schema.get("properties", {}), schema.get("additionalProperties")
        inner = rest if isinstance(rest, Mapping) else {}
        return {
            _escaped(key) if key in properties else key: _converted(properties.get(key, inner), item) for key, item in value.items()
        }
    if isinstance(value, list):
        return [_converted(schema.get("items", {}), item) for item in value]
    if schema.get("type") == "number" and isinstance(value, int):
        return float(value)
    if isinstance(value, str) and schema.get("format") in ("date-time", "duration"):
        try:
            return _time(value) if schema["format"] == "date-time" else _duration(value)
        except ValueError:
            return value
    return value


def _escaped(name: str) -> str:
    if name in _WORDS:
        return f"__{name}__"
    return re.sub("__|[.\\-/]", lambda match: _ESCAPES[match[0]], name)


def _time(value: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))


_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def _duration(value: str) -> datetime.timedelta:
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|h|m|s)", value)
    if not parts:
        raise ValueError(value)
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    return datetime.timedelta(seconds=-seconds if value.startswith("-") else seconds)


_SUFFIXES = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_SUFFIXES |= {f"{letter}i": 1024.0 ** (power + 1) for power, letter in enumerate("KMGTPE")}
_QUANTITY = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([numkMGTPE]|[KMGTPE]i)?")


def _quantity(value: str) -> float:
    found = _QUANTITY.fullmatch(value)
    if found is None:
        raise ValueError(f"{value!r} is no quantity")
    return float(found[1]) * _SUFFIXES[found[2] or ""]


def _find(value: str, pattern: str) -> str:
    found = regex.search(pattern, value, timeout=0.5)
    return found[0] if found else ""


def _find_all(value: str, pattern: str, limit: int = -1) -> list[str]:
    found = [match[0] for match in regex.finditer(pattern, value, timeout=0.5)]
    return found if limit < 0 else found[:limit]


def _url(value: str) -> bool:
    from urllib.parse import urlsplit

    parts = urlsplit(value)
    return bool(parts.scheme and (parts.netloc or parts.path.startswith("/")))


def _address(value: str) -> bool:
    import ipaddress

    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def _cidr(value: str) -> bool:
    import ipaddress

    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        return False
    return "/" in value


def _is_quantity(value: str) -> bool:
    return _QUANTITY.fullmatch(value) is not None


def _is_sorted(values: Sequence[Any]) -> bool:
    return all(first <= second for first, second in itertools.pairwise(values))


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "split": lambda value, separator, limit=-1: value.split(separator, -1 if limit < 0 else limit - 1) if limit else [],
    "join": lambda values, separator="": separator.join(values),
    "replace": lambda value, old, new, limit=-1: value.replace(old, new, limit),
    "substring": lambda value, start, end=None: value[start:end],
    "charAt": lambda value, index: value[index : index + 1],
    "indexOf": lambda value, one, start=0: value.find(one, start) if isinstance(value, str) else _position(value, one),
    "lastIndexOf": lambda value, one: value.rfind(one),
    "lowerAscii": lambda value: value.lower(),
    "upperAscii": lambda value: value.upper(),
    "trim": lambda value: value.strip(),
    "find": _find,
    "findAll": _find_all,
    "isSorted": _is_sorted,
    "sum": lambda values: sum(values),
    "isURL": _url,
    "isIP": _address,
    "isCIDR": _cidr,
    "quantity": _quantity,
    "isQuantity": _is_quantity,
    "isGreaterThan": lambda one, other: one > other,
    "isLessThan": lambda one, other: one < other,
    "compareTo": lambda one, other: (one > other) - (one < other),
    "asInteger": lambda one: int(one),
    "asApproximateFloat": lambda one: float(one),
    "sign": lambda one: (one > 0) - (one < 0),
}


def _position(values: list[Any], one: Any) -> int:
    return values.index(one) if one in values else -1
