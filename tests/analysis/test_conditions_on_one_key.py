"""Several conditions on one key, conditions the wrong way round, and variables that callers lack."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.contexts import OF_ANY_ROLE
from hyperpod_constructs.analysis.joint_conditions import joint_conditions
from hyperpod_constructs.analysis.missing_variables import missing_variables
from hyperpod_constructs.analysis.policy_document import Statement
from hyperpod_constructs.analysis.turned_conditions import turned
from hyperpod_constructs.templates.values import UNKNOWN

KEY, FACTOR, AGE, TLS = "s3:prefix", "aws:MultiFactorAuthPresent", "aws:MultiFactorAuthAge", "aws:SecureTransport"


def _words(**operators: Any) -> list[str]:
    return [
        words for words, _ in joint_conditions(Statement({"Condition": {one: {KEY: value} for one, value in operators.items()}}))
    ]


@pytest.mark.parametrize(
    "operators",
    [
        {"StringEquals": "a", "StringNotEquals": "a"},
        {"StringEquals": ("a", "b"), "StringLike": "c*"},
        {"StringEquals": "a", "Null": "true"},
        {"StringLike": "a*", "Null": "true"},
        {"Bool": "true", "StringEquals": "false"},
        {"NumericGreaterThan": "100", "NumericLessThan": "50"},
        {"NumericEquals": "3", "NumericGreaterThanEquals": 4},
    ],
)
def test_conditions_that_hold_together_never(operators: dict[str, Any]) -> None:
    (words,) = _words(**operators)
    assert words == f"no value of {KEY} fits {' and '.join(operators)}"


def test_values_are_tried_up_to_a_number() -> None:
    assert _words(StringEquals=tuple(map(str, range(250))), StringLike="c*")
    assert _words(StringEquals=tuple(map(str, range(400))), StringLike="c*") == []


@pytest.mark.parametrize("operator", ["StringNotEquals", "StringNotLike", "StringEqualsIfExists"])
def test_null_decides_alone(operator: str) -> None:
    assert _words(Null="true", **{operator: "a"}) == [f"Null holds only without {KEY}, so that {operator} decides nothing"]


@pytest.mark.parametrize(
    "operators",
    [
        {"StringEquals": "a"},
        {"Null": "false", "StringNotEquals": "a"},
        {"Null": "false", "StringLike": "a*", "StringNotLike": "a?"},
        {"StringEquals": ("a", "b"), "StringNotEquals": "a"},
        {"StringLike": "a*", "StringNotLike": "ab*"},
        {"StringEquals": UNKNOWN, "StringNotEquals": "a"},
        {"NumericGreaterThan": "5", "NumericLessThan": "6"},
        {"ForAllValues:StringEquals": "a", "Null": "true"},
        {"ArnEquals": "arn:aws:s3:::a*", "ArnNotEquals": "arn:aws:s3:::a*b"},
    ],
)
def test_conditions_that_may_hold_together(operators: dict[str, Any]) -> None:
    assert _words(**operators) == []


@pytest.mark.parametrize(
    ("principal", "value", "is_open"),
    [
        ({"AWS": "123456789012"}, "true", True),
        ("*", "true", True),
        ({"AWS": "123456789012"}, UNKNOWN, False),
        ({"Service": "ec2.amazonaws.com"}, "true", False),
        (None, "true", False),
    ],
)
def test_access_keys_pass_an_optional_second_factor(principal: Any, value: Any, is_open: bool) -> None:
    raw: dict[str, Any] = {"Effect": "Allow", "Condition": {"BoolIfExists": {FACTOR: value}}}
    whole = Statement(raw if principal is None else {**raw, "Principal": principal})
    assert (turned(whole, "BoolIfExists", FACTOR) is not None) is is_open


def test_access_keys_of_users_pass_an_optional_second_factor() -> None:
    statement = Statement({"Effect": "Allow", "Condition": {"BoolIfExists": {FACTOR: "true"}}})
    assert turned(statement, "BoolIfExists", FACTOR) is None
    assert "access keys" in (turned(statement, "BoolIfExists", FACTOR, of_users=True) or "")


def _turned(effect: str, operator: str, name: str, value: Any) -> str | None:
    return turned(Statement({"Effect": effect, "Condition": {operator: {name: value}}}), operator, name)


@pytest.mark.parametrize(
    ("effect", "operator", "name", "value", "words"),
    [
        ("Allow", "Bool", FACTOR, "false", "without a second factor"),
        ("Allow", "BoolIfExists", FACTOR, False, "without a second factor"),
        ("Allow", "StringEquals", TLS, "false", "without TLS"),
        ("Deny", "Bool", FACTOR, "true", "and nobody else"),
        ("Deny", "Bool", FACTOR, "false", "only BoolIfExists"),
        ("Allow", "NumericGreaterThan", AGE, "3600", "is old"),
        ("Deny", "NumericLessThan", AGE, "3600", "is new"),
    ],
)
def test_conditions_the_wrong_way_round(effect: str, operator: str, name: str, value: Any, words: str) -> None:
    assert words in (_turned(effect, operator, name, value) or "")


@pytest.mark.parametrize(
    ("effect", "operator", "name", "value"),
    [
        ("Allow", "Bool", FACTOR, "true"),
        ("Deny", "BoolIfExists", FACTOR, "false"),
        ("Deny", "Bool", TLS, "false"),
        ("Allow", "NumericLessThan", AGE, "3600"),
        ("Deny", "NumericGreaterThan", AGE, "3600"),
        ("Allow", "Bool", FACTOR, UNKNOWN),
        ("Allow", "Bool", "aws:ViaAWSService", "false"),
    ],
)
def test_conditions_the_right_way_round(effect: str, operator: str, name: str, value: Any) -> None:
    assert _turned(effect, operator, name, value) is None


def _missing(statement: dict[str, Any]) -> list[tuple[str | int, ...]]:
    return [place for _, place in missing_variables(Statement(statement), OF_ANY_ROLE)]


def test_a_role_has_no_user_name() -> None:
    assert _missing({"Resource": ("*", "arn:aws:s3:::a/${aws:username}/*")}) == [("Resource", 1)]
    assert _missing({"NotResource": "arn:aws:s3:::a/${AWS:UserName}/*"}) == [("NotResource",)]
    assert _missing({"Condition": {"StringLike": {KEY: "${aws:username}/*"}}}) == [("Condition", "StringLike", KEY)]


@pytest.mark.parametrize("variable", ["${aws:userid}", "${aws:username, 'nobody'}", "${aws:PrincipalTag/team}", "${*}"])
def test_variables_that_a_role_may_have(variable: str) -> None:
    assert _missing({"Resource": f"arn:aws:s3:::a/{variable}/*"}) == []
