"""Several conditions of a statement on one key, which hold together never, or of which one decides alone.

>>> [words for words, _ in joint_conditions(statement)]
['no value of s3:prefix fits StringEquals and StringNotEquals']

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-logic-multiple-context-keys-or-values.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.conditions import holds, taken_apart
from hyperpod_constructs.analysis.policy_document import Statement, listed
from hyperpod_constructs.templates.values import ABSENT, Value, as_float, as_str, at

_LISTING = frozenset(("bool", "numericequals", "stringequals"))
"""Operators that hold for the values alone that are written."""
_OTHER = "another value than all that are written"
_MOST_TRIED = 300
"""Values that are tried against each other, at most; nothing is said of conditions with more."""


def joint_conditions(statement: Statement) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The mistakes in conditions on one key: in words, with the place in the statement."""
    for name, operators in grouped(_parts(statement)).items():
        if len(operators) > 1:
            words = _words(name, operators, at(statement.raw, "Condition"))
            if words:
                yield words, ("Condition", operators[-1][0], operators[-1][1])


def _parts(statement: Statement) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each condition by its key in small letters, with its operator and the key as it is written."""
    conditions = at(statement.raw, "Condition")
    for operator, keys in conditions.items() if isinstance(conditions, Mapping) else ():
        for name in keys if isinstance(keys, Mapping) else ():
            yield name.lower(), (operator, name)


def _words(key: str, operators: list[tuple[str, str]], conditions: Value) -> str | None:
    given = {operator: at(conditions, operator, name) for operator, name in operators}
    if any(taken_apart(operator)[1] for operator in given) or not _are_listed(given):
        return None
    name = operators[0][1]
    tried = list(islice(_tried(given), _MOST_TRIED + 1))
    if len(tried) > _MOST_TRIED:
        return None
    together = {operator: {name: value} for operator, value in given.items()}
    if all(holds(together, {key: one}) is False for one in tried):
        return f"no value of {name} fits {' and '.join(given)}"
    missing = next((operator for operator, value in given.items() if _is_for_missing(operator, value)), None)
    others = [operator for operator in given if operator != missing]
    return None if missing is None else f"{missing} holds only without {name}, so that {' and '.join(others)} decides nothing"


def _is_for_missing(operator: str, value: Value) -> bool:
    return taken_apart(operator)[0] == "null" and [as_str(one) for one in listed(value)] == ["true"]


def _are_listed(given: Mapping[str, Value]) -> bool:
    """Whether the values that were tried are all that matter: a pattern has others, unless another operator lists values."""
    bases = {taken_apart(operator)[0] for operator in given} - {"null"}
    lists = any(_is_for_missing(*one) for one in given.items()) or bool(bases & _LISTING)
    return lists or all(map(_compares, bases))


def _compares(base: str) -> bool:
    return base.startswith("numeric")


def _tried(given: Mapping[str, Value]) -> Iterator[Value]:
    """A missing key, every value that is written, the numbers beside it, and another text."""
    yield ABSENT
    for operator, value in given.items():
        for one in listed(value) if taken_apart(operator)[0] != "null" else ():
            number = as_float(one) if _compares(taken_apart(operator)[0]) else None
            yield from (one,) if number is None else (str(number - 0.5), str(number), str(number + 0.5))
    if not all(_compares(taken_apart(operator)[0]) for operator in given):
        yield _OTHER
