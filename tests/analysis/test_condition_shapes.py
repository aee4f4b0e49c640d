"""Conditions of a form that decides nothing, and variables that IAM does not read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import resource

OBJECTS = "arn:aws:s3:::runs/*"


def said(condition: Any = None, *, effect: str = "Allow", action: str = "s3:GetObject", on: str = OBJECTS) -> list[tuple[str, str]]:
    """The findings on a managed policy with one statement."""
    more = {} if condition is None else {"Condition": condition}
    statement = {"Effect": effect, "Action": action, "Resource": on, **more}
    policy = resource("AWS::IAM::ManagedPolicy", PolicyDocument={"Version": "2012-10-17", "Statement": [statement]})
    return [(one.rule, one.message) for one in findings({"Resources": {"Policy": policy}})]


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"StringEquals": {"SourceVpc": "vpc-12345678"}}, "did you mean aws:SourceVpc?"),
        ({"StringEquals": {"aws.SourceVpc": "vpc-12345678"}}, "did you mean aws:SourceVpc?"),
        ({"StringEquals": {"aws:SourceVpc": []}}, "is compared with nothing"),
        ({"Bool": {"aws:SecureTransport": ["true", "false"]}}, "with true and with false"),
        ({"StringEquals": {"aws:RequestedRegion": "us-eas-1"}}, "did you mean us-east-1?"),
        ({"ForAllValues:StringEquals": {"aws:SourceVpc": "vpc-12345678"}}, "holds for calls without aws:SourceVpc too"),
        ({"StringEquals": {"aws:SourceIp": "203.0.113.0/24"}}, "it is IpAddress"),
        ({"StringLike": {"aws:CurrentTime": "2020-01-01T00:00:00Z"}}, "is a time"),
        ({"Bool": {"aws:SecureTransport": "${aws:PrincipalTag/a}"}}, "reads no variables"),
    ],
)
def test_fails_conditions_of_a_form_that_never_decides(condition: Any, words: str) -> None:
    found = said(condition)
    assert [rule for rule, _ in found] == ["HP-POL-006"]
    assert words in found[0][1]


def test_fails_a_key_with_several_values_without_a_quantifier() -> None:
    def made(operator: str) -> list[str]:
        return [rule for rule, _ in said({operator: {"aws:TagKeys": "a"}}, action="s3:CreateBucket", on="*")]

    assert made("StringEquals") == ["HP-POL-006"]
    assert made("ForAllValues:StringEquals") == made("ForAnyValue:StringEquals") == []


def test_a_denial_for_all_values_holds_for_more_calls_and_is_meant() -> None:
    assert said({"ForAllValues:StringNotEquals": {"aws:SourceVpc": "vpc-12345678"}}, effect="Deny") == []


@pytest.mark.parametrize(
    ("condition", "rule"),
    [
        ({"NullIfExists": {"aws:SourceVpc": "true"}}, "HP-POL-001"),
        ({"StringEquals": {"aws:PrincipalTag/a": "b", "AWS:principaltag/a": "c"}}, "HP-POL-001"),
    ],
)
def test_fails_conditions_that_iam_refuses(condition: Any, rule: str) -> None:
    assert [one for one, _ in said(condition)] == [rule]


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("${aws:username/*", "without its closing brace"),
        ("${}/*", "without a name"),
        ("${aws: username}/*", "a space"),
        ("${aws:PrincipalTag/team, 'x}/*", "single quotes"),
        ("${aws:usernme}/*", "there is no global key"),
        ("${s3:prefixx}/*", "s3 has no key"),
    ],
)
def test_fails_variables_that_are_none(end: str, words: str) -> None:
    found = said(on=f"arn:aws:s3:::runs/{end}")
    assert [rule for rule, _ in found] == ["HP-POL-006"]
    assert words in found[0][1]


@pytest.mark.parametrize("end", ["${aws:PrincipalTag/team, 'x y'}/*", "${*}", "${aws:PrincipalTag/team}/${aws:userid}", "${$}{a"])
def test_variables_of_any_form_are_taken(end: str) -> None:
    assert said(on=f"arn:aws:s3:::runs/{end}") == []
