"""CEL rules of custom resource definitions (`x-kubernetes-validations`), also those that compare with the object before."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_constructs.local.kubernetes.custom_values import Schema
from hyperpod_constructs.local.kubernetes.expression_process import Answer, Budget, OutOfBudgetError
from hyperpod_constructs.local.kubernetes.status import Cause

RULES = "x-kubernetes-validations"
_ABSENT = object()
LONGEST_RULE = 100_000
"""Characters of a rule. Source: https://github.com/google/cel-go/blob/master/parser/options.go"""
_EXHAUSTED = "validation failed due to running out of cost budget, no further validation rules will be run"
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
    budget = Budget()
    for where, text in _texts(schema, path):
        if (reason := _unreadable(text, budget)) is not None:
            yield where, text, reason


def _texts(schema: Schema, path: str) -> Iterator[tuple[str, str]]:
    """The rules of a schema, each with its path."""
    for index, rule in enumerate(schema.get(RULES) or ()):
        yield f"{path}.{RULES}[{index}].rule", rule["rule"]
    for name, inner in schema.get("properties", {}).items():
        yield from _texts(inner, f"{path}.properties[{name}]")
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), Mapping):
            yield from _texts(schema[name], f"{path}.{name}")


def _unreadable(text: str, budget: Budget) -> str | None:
    if len(text) > LONGEST_RULE:
        return f"it has {len(text)} characters; at most {LONGEST_RULE} are allowed"
    try:
        [(kind, found)] = budget.evaluate([(text, False)], None, present=False)
    except OutOfBudgetError:
        return "to read it takes more time or memory than a rule may"
    return str(found) if kind == "unreadable" else None


def has_rules(schema: Schema) -> bool:
    """Whether a schema has rules anywhere; to walk values of those without would be a waste."""
    children = [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]
    return bool(schema.get(RULES)) or any(isinstance(child, Mapping) and has_rules(child) for child in children)


def broken(schema: Schema, value: Any, before: Any = _ABSENT, path: str = "") -> Iterator[Cause]:
    """The rules that a value breaks; `before` is the value that it replaces.

    When the rules take too much, the last cause says so, and no more are evaluated.
    """
    try:
        yield from _Judgement().broken(schema, value, before, path)
    except OutOfBudgetError:
        kind = schema.get("type", "object")
        yield Cause(path or "<nil>", "FieldValueInvalid", f'Invalid value: "{kind}": {_EXHAUSTED}')


class _Judgement:
    """The rules of one object, with what they may take together."""

    def __init__(self) -> None:
        self._budget = Budget()

    def broken(self, schema: Schema, value: Any, before: Any, path: str) -> Iterator[Cause]:
        if value is None:
            return
        yield from self._here(schema, value, before, path)
        if isinstance(value, Mapping):
            old = before if isinstance(before, Mapping) else {}
            properties, rest = schema.get("properties", {}), schema.get("additionalProperties")
            for key, item in value.items():
                inner = properties.get(key, rest)
                if isinstance(inner, Mapping):
                    yield from self.broken(inner, item, old.get(key, _ABSENT), f"{path}.{key}" if path else key)
        elif isinstance(value, list) and isinstance(schema.get("items"), Mapping):
            same = _same_items(schema, value, before)
            for index, (item, old) in enumerate(zip(value, same, strict=True)):
                yield from self.broken(schema["items"], item, old, f"{path}[{index}]")

    def _here(self, schema: Schema, value: Any, before: Any, path: str) -> Iterator[Cause]:
        """The rules of this value itself."""
        rules = [rule for rule in schema.get(RULES) or () if _applies(rule, before)]
        if not rules:
            return
        variables = {"self": _converted(schema, value), "oldSelf": None if before is _ABSENT else _converted(schema, before)}
        present, kind = before is not _ABSENT, str(schema.get("type", "object"))

        def evaluate(*asked: tuple[Mapping[str, Any], str]) -> list[Answer]:
            expressions = [(str(rule[key]), bool(rule.get("optionalOldSelf"))) for rule, key in asked]
            return self._budget.evaluate(expressions, variables, present=present)

        for rule, (outcome, found) in zip(rules, evaluate(*((rule, "rule") for rule in rules)), strict=True):
            # A rule that cannot be read was answered with a warning when it was defined.
            if outcome == "unreadable" or found is True:
                continue
            where = path + str(rule.get("fieldPath", "")) if path else str(rule.get("fieldPath", "")).removeprefix(".") or "<nil>"
            if outcome == "error":
                message = f'Invalid value: "{kind}": {found} evaluating rule: {rule.get("message", rule["rule"])}'
                yield Cause(where, "FieldValueInvalid", message)
                continue
            said = evaluate((rule, "messageExpression"))[0][1] if rule.get("messageExpression") else None
            reason = rule["reason"] if rule.get("reason") in _REASONS else "FieldValueInvalid"
            yield Cause(where, reason, _prefix(reason, kind) + _message(rule, said))


def _applies(rule: Mapping[str, Any], before: Any) -> bool:
    """Whether a rule is evaluated: one about the value before needs one, and none is too long."""
    text = rule["rule"]
    if len(text) > LONGEST_RULE:
        return False
    return before is not _ABSENT or bool(rule.get("optionalOldSelf")) or not _OLD.search(_LITERAL.sub("", text))


def _same_items(schema: Schema, value: list[Any], before: Any) -> list[Any]:
    """The items of a list before that stand for these: lists of type map have keys; items of others have no past."""
    keys = schema.get("x-kubernetes-list-map-keys")
    if schema.get("x-kubernetes-list-type") != "map" or not keys or not isinstance(before, list):
        return [_ABSENT] * len(value)

    def identity(one: Any) -> str:
        return json.dumps([one.get(key) for key in keys] if isinstance(one, Mapping) else None, sort_keys=True)

    known = {identity(old): old for old in reversed(before)}
    return [known.get(identity(item), _ABSENT) for item in value]


def _prefix(reason: str, kind: str) -> str:
    words = {"FieldValueRequired": "Required value: ", "FieldValueForbidden": "Forbidden: "}
    named = "Duplicate value" if reason == "FieldValueDuplicate" else "Invalid value"
    return words.get(reason, f'{named}: "{kind}": ')


def _message(rule: Mapping[str, Any], said: Any) -> str:
    if isinstance(said, str) and said.strip() and "\n" not in said:
        return said
    return str(rule.get("message") or f"failed rule: {rule['rule']}")


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
