"""Subscriptions: a parameter that gives an endpoint takes those of the protocol."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.templates import findings

MAIL, WEB, PHONE = r"^[^@\s]+@[^@\s]+$", r"https://[a-z./]+", r"\+\d{8,15}"
QUEUE = r"arn:aws:sqs:[a-z0-9-]+:\d{12}:[a-z]+"


def said(protocol: str, parameter: dict[str, str], *, inside: bool = False) -> list[str]:
    one = {"Protocol": protocol, "Endpoint": {"Ref": "To"}}
    topic: dict[str, Any] = {"Type": "AWS::SNS::Topic", "Properties": {"Subscription": [one]} if inside else {}}
    apart = {"Type": "AWS::SNS::Subscription", "Properties": {**one, "TopicArn": {"Ref": "Topic"}}}
    resources = {"Topic": topic} if inside else {"Topic": topic, "Subscription": apart}
    template = {"Parameters": {"To": {"Type": "String", **parameter}}, "Resources": resources}
    return [one.message for one in findings(template, rules="HP-TXT")]


@pytest.mark.parametrize(
    ("protocol", "pattern", "taken"),
    [
        ("https", MAIL, "email, email-json"),
        ("sms", MAIL, "email, email-json"),
        ("sqs", MAIL, "email, email-json"),
        ("email", WEB, "https"),
        ("http", WEB, "https"),
        ("email", PHONE, "sms"),
        ("lambda", QUEUE, "sqs"),
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_fails_parameter_for_another_protocol(protocol: str, pattern: str, taken: str, inside: bool) -> None:
    (found,) = said(protocol, {"AllowedPattern": pattern}, inside=inside)
    assert found == f"the endpoint of {protocol} is the parameter To, which takes those of {taken}"


@pytest.mark.parametrize(
    ("protocol", "parameter"),
    [
        ("email", {"AllowedPattern": MAIL}),
        ("email-json", {"AllowedPattern": MAIL}),
        ("https", {"AllowedPattern": WEB}),
        ("https", {"AllowedPattern": r"https?://.*"}),
        ("https", {"AllowedPattern": r"https://hooks\.train\.internal/.*"}),
        ("sms", {"AllowedPattern": r"[+@a-z0-9.]+"}),
        ("https", {"AllowedPattern": r"^([a-z]+)+@(\w+\.)+$"}),
        ("https", {}),
    ],
)
def test_a_parameter_that_may_be_of_the_protocol(protocol: str, parameter: dict[str, str]) -> None:
    assert said(protocol, parameter) == []
