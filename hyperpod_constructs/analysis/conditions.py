"""Conditions of a statement, before the context of a call: yes, no, or `None` where a key of the context is not known.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
"""

from __future__ import annotations

import ipaddress
import operator as op
import re
from collections.abc import Callable, Iterator, Mapping

from hyperpod_constructs.analysis.answers import all_of, any_of
from hyperpod_constructs.analysis.arns import arn_matches
from hyperpod_constructs.templates.globs import matches
from hyperpod_constructs.templates.values import (
    ABSENT,
    UNKNOWN,
    Part,
    Reference,
    Text,
    Value,
    as_float,
    as_str,
    is_known,
    joined,
    parts_of,
)

Context = Mapping[str, Value]
"""The keys of a call, in lower case, with their values: `ABSENT` for a key that the call surely lacks. Other keys are not known."""
ENCRYPTION_CONTEXT = "kms:encryptioncontext:"
"""The beginning of the keys with the pairs of an encryption context; as a key of its own it says that a call has no other pairs."""
_Test = Callable[[Value, Value], bool | None]
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_LITERAL = ("*", "?", "$")


def holds(conditions: Value, context: Context) -> bool | None:
    """Whether all conditions of a statement hold in a context."""
    if conditions is ABSENT:
        return True
    if not isinstance(conditions, Mapping):
        return None
    return all_of(answer for operator, keys in conditions.items() for answer in _of_operator(operator, keys, context))


def is_operator(operator: str) -> bool:
    """Whether IAM has an operator of this name; case does not count."""
    base, quantifier, optional = taken_apart(operator)
    if base == "null" and optional:
        return False
    return (base in _TESTS or base in _UNTESTED) and quantifier in ("", "forallvalues", "foranyvalue")


def substituted(value: Value, context: Context) -> Value:
    """A value of a policy with its variables (`${aws:PrincipalAccount}`) in place; one that is not known is an unknown part."""
    if not isinstance(value, str) or "${" not in value:
        return value
    return joined(part for index, piece in enumerate(_VARIABLE.split(value)) for part in _piece(piece, index, context))


def _piece(piece: str, index: int, context: Context) -> tuple[Part, ...]:
    """A text between variables, or behind each the parts of one."""
    if index % 2 == 0 or piece in _LITERAL:
        return (piece,)
    return parts_of(context.get(piece.partition(",")[0].strip().lower(), UNKNOWN))


def value_of(key: str, context: Context) -> Value:
    """The value of a key in a context: `ABSENT` if the call surely lacks it, unknown if that is not known."""
    lowered = key.lower()
    lacking = lowered.startswith(ENCRYPTION_CONTEXT) and ENCRYPTION_CONTEXT in context
    return context.get(lowered, ABSENT if lacking else UNKNOWN)


def _of_operator(operator: str, keys: Value, context: Context) -> Iterator[bool | None]:
    if not isinstance(keys, Mapping):
        yield None
        return
    for key, expected in keys.items():
        values = expected if isinstance(expected, tuple) else (expected,)
        yield _holds(operator, value_of(key, context), [substituted(value, context) for value in values])


def _holds(operator: str, actual: Value, expected: list[Value]) -> bool | None:
    base, quantifier, optional = taken_apart(operator)
    if base == "null":
        return _is_missing(actual, expected)
    if base not in _TESTS or actual is UNKNOWN:
        return None
    negated = base in _NEGATED
    if actual is ABSENT:
        return optional or quantifier == "forallvalues" or (negated and quantifier != "foranyvalue")
    values = actual if isinstance(actual, tuple) else (actual,)
    answers = [_of_value(_TESTS[base], value, expected, negated=negated) for value in values]
    return all_of(answers) if quantifier == "forallvalues" else any_of(answers)


def _is_missing(actual: Value, expected: list[Value]) -> bool | None:
    wanted = as_str(expected[0]) if len(expected) == 1 else None
    return None if actual is UNKNOWN or wanted is None else (actual is ABSENT) is (wanted.lower() == "true")


def _of_value(test: _Test, actual: Value, expected: list[Value], *, negated: bool) -> bool | None:
    found = any_of(test(one, actual) for one in expected)
    return found if not negated or found is None else not found


def taken_apart(operator: str) -> tuple[str, str, bool]:
    """The bare operator, its quantifier (`forallvalues`, `foranyvalue` or none), and whether a missing key is enough."""
    quantifier, _, base = operator.lower().rpartition(":")
    return base.removesuffix("ifexists"), quantifier, base.endswith("ifexists")


def _equal(expected: Value, actual: Value) -> bool | None:
    texts = as_str(expected), as_str(actual)
    if None not in texts:
        return texts[0] == texts[1]
    if is_known(expected) and expected == actual:
        return True
    wild = any(isinstance(part, str) and ("*" in part or "?" in part) for part in parts_of(expected))
    return None if wild else arn_matches(expected, actual)


def _equal_ignoring_case(expected: Value, actual: Value) -> bool | None:
    one, other = as_str(expected), as_str(actual)
    return None if one is None or other is None else one.lower() == other.lower()


def _like(expected: Value, actual: Value) -> bool | None:
    return arn_matches(expected, actual) if isinstance(actual, Text | Reference) else matches(parts_of(expected), parts_of(actual))


def _numbers(compare: Callable[[float, float], bool]) -> _Test:
    def test(expected: Value, actual: Value) -> bool | None:
        one, other = as_float(actual), as_float(expected)
        return None if one is None or other is None else compare(one, other)

    return test


def _within(expected: Value, actual: Value) -> bool | None:
    block, address = as_str(expected), as_str(actual)
    if block is None or address is None:
        return None
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network(block, strict=False)
    except ValueError:
        return None


_NUMBERS: Mapping[str, Callable[[float, float], bool]] = {
    "numericequals": op.eq,
    "numericnotequals": op.eq,
    "numericlessthan": op.lt,
    "numericlessthanequals": op.le,
    "numericgreaterthan": op.gt,
    "numericgreaterthanequals": op.ge,
}
_TESTS: Mapping[str, _Test] = {
    **dict.fromkeys(("stringequals", "stringnotequals"), _equal),
    **dict.fromkeys(("stringequalsignorecase", "stringnotequalsignorecase", "bool"), _equal_ignoring_case),
    **dict.fromkeys(("stringlike", "stringnotlike"), _like),
    **dict.fromkeys(("arnequals", "arnlike", "arnnotequals", "arnnotlike"), arn_matches),
    **dict.fromkeys(("ipaddress", "notipaddress"), _within),
    **{name: _numbers(compare) for name, compare in _NUMBERS.items()},
}
_NEGATED = frozenset(name for name in _TESTS if "not" in name)
# The date of a deployment is not known, and binary keys are rare.
_UNTESTED = frozenset(
    ("null", "binaryequals", *(f"date{name.removeprefix('numeric')}" for name in _NUMBERS)),
)
