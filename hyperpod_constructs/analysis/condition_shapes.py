"""Conditions that decide nothing, or never hold, by their form: how many values a key and an operator have.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-single-vs-multi-valued-context-keys.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.arn_shapes import mistaken_region
from hyperpod_constructs.analysis.conditions import taken_apart
from hyperpod_constructs.analysis.policy_document import Statement, listed
from hyperpod_constructs.facts.condition_keys import key_of
from hyperpod_constructs.templates.values import UNKNOWN, Value, as_bool, as_str, at

_Place = tuple[str | int, ...]
_GLOBAL, _REGION = "aws:", "aws:requestedregion"
_BOTH = {True, False}
_OPEN = frozenset("*?$")


def mistaken_shapes(statement: Statement) -> Iterator[tuple[str, _Place]]:
    """The mistakes in the form of conditions: in words, with the place in the statement."""
    conditions = at(statement.raw, "Condition")
    for operator, keys in conditions.items() if isinstance(conditions, Mapping) else ():
        for name, value in keys.items() if isinstance(keys, Mapping) else ():
            words = _of_name(name) or _of_values(operator, name, value) or _of_key(statement, operator, name)
            if words is not None:
                yield words, ("Condition", operator, name)


def _of_name(name: str) -> str | None:
    if ":" in name or not name.isascii() or "${" in name or "." in name.partition(".")[2]:
        return None
    meant = key_of(f"aws:{name.rpartition('.')[2]}")
    return f"{name} is no key of conditions, whose form is PREFIX:NAME{f'; did you mean {meant.name}?' if meant else ''}"


def _of_values(operator: str, name: str, value: Value) -> str | None:
    base, found = taken_apart(operator)[0], listed(value)
    if value is not UNKNOWN and not found:
        return f"{name} is compared with nothing: the list of {operator} is empty"
    if base == "bool" and {as_bool(one) for one in found} == _BOTH:
        return f"{name} is compared with true and with false, and is always one of them"
    for text in filter(None, map(as_str, found)) if name.lower() == _REGION else ():
        wrong = None if _OPEN & set(text) else mistaken_region(text)
        if wrong is not None and wrong.startswith("AWS"):
            return f"{name} is compared with {text}, which {wrong}"
    return None


def _of_key(statement: Statement, operator: str, name: str) -> str | None:
    base, quantifier, _ = taken_apart(operator)
    key = key_of(name)
    if key is None or base == "null":
        return None
    if key.kind.startswith("ArrayOf"):
        words = f"{name} has several values in a call: {operator} takes ForAnyValue: or ForAllValues: before it"
        return None if quantifier or not name.lower().startswith(_GLOBAL) else words
    if quantifier == "forallvalues" and statement.effect == "Allow":
        return f"{operator} holds for calls without {name} too, which has one value: it is {operator.rpartition(':')[2]}"
    value = next(iter(listed(at(statement.raw, "Condition", operator, name))), None)
    if key.kind == "IPAddress" and base.startswith("string") and "/" in (as_str(value) or ""):
        return f"{operator} takes the block {as_str(value)} for a text, and {name} is an address: it is IpAddress"
    if key.kind == "Date" and base.startswith("string"):
        return f"{name} is a time, and {operator} compares texts"
    return None
