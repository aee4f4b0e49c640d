"""Principals that AWS refuses, and those that never ask for the actions of a trust."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import resource

PROVIDER = "arn:aws:iam::123456789012:oidc-provider/token.actions.githubusercontent.com"
SAML = "arn:aws:iam::123456789012:saml-provider/Okta"
AUDIENCE = {"StringEquals": {"SAML:aud": "https://signin.aws.amazon.com/saml"}}
SUBJECT = {"StringEquals": {"token.actions.githubusercontent.com:sub": "repo:a/b:ref:refs/heads/main"}}


def said(principal: Any, action: Any = "sts:AssumeRole", **more: Any) -> list[tuple[str, str]]:
    """The findings on a role with one statement in its trust."""
    statement = {"Effect": "Allow", "Principal": principal, "Action": action, **more}
    trust = {"Version": "2012-10-17", "Statement": [{key: value for key, value in statement.items() if value is not None}]}
    template = {"Resources": {"Role": resource("AWS::IAM::Role", AssumeRolePolicyDocument=trust)}}
    return [(one.rule, one.message) for one in findings(template)]


def on_queue(principal: Any) -> list[str]:
    """The findings on the policy of a queue."""
    statement = {
        "Effect": "Allow",
        "Principal": principal,
        "Action": "sqs:SendMessage",
        "Resource": {"Fn::GetAtt": ["Queue", "Arn"]},
    }
    document = {"Version": "2012-10-17", "Statement": [statement]}
    policy = resource("AWS::SQS::QueuePolicy", Queues=[{"Ref": "Queue"}], PolicyDocument=document)
    return [one.message for one in findings({"Resources": {"Queue": resource("AWS::SQS::Queue"), "Policy": policy}})]


@pytest.mark.parametrize(
    ("principal", "words"),
    [
        ("lambda.amazonaws.com", "the Principal is the text 'lambda.amazonaws.com'"),
        ("*", "a bare *"),
        ({"Services": "lambda.amazonaws.com"}, "Services is no kind of principals"),
        ({"Service": []}, "names nobody of the kind Service"),
        ({}, "names nobody"),
        ({"Service": "lamda.amazonaws.com"}, "did you mean lambda.amazonaws.com?"),
        ({"Service": "lambda.amazon.com"}, "did you mean lambda.amazonaws.com?"),
        ({"Service": "lambda.amazonaws.con"}, "did you mean lambda.amazonaws.com?"),
        ({"Service": "pod.eks.amazonaws.com"}, "did you mean pods.eks.amazonaws.com?"),
        ({"Federated": "token.actions.githubusercontent.com"}, "is no provider of identities"),
        ({"AWS": "arn:aws:iam::123456789012:user/${aws:username}"}, "is no principal of the kind AWS"),
    ],
)
def test_fails_principals_that_aws_refuses(principal: Any, words: str) -> None:
    found = said(principal)
    assert [rule for rule, _ in found] == ["HP-POL-001"]
    assert words in found[0][1]


def test_fails_a_trust_for_all_but_some() -> None:
    assert [rule for rule, _ in said(None, NotPrincipal={"AWS": "123456789012"})] == ["HP-POL-001"]


@pytest.mark.parametrize(
    "principal",
    [
        {"Service": "pods.eks.amazonaws.com"},
        {"Service": ["states.us-west-2.amazonaws.com", "unheard-of.amazonaws.com"]},
        {"Service": "ec2.amazonaws.com.cn"},
        {"AWS": ["123456789012", "arn:aws:iam::123456789012:root"]},
    ],
)
def test_principals_of_any_form_are_taken(principal: Any) -> None:
    assert said(principal) == []


@pytest.mark.parametrize(
    ("principal", "action", "words"),
    [
        ({"Service": "lambda.amazonaws.com"}, "sts:AssumeRoleWithWebIdentity", "by principals of the kind Service"),
        ({"Federated": SAML}, "sts:AssumeRole", "by principals of the kind SAML"),
        ({"AWS": "123456789012", "Service": "ec2.amazonaws.com"}, "sts:AssumeRoleWithSAML", "of the kind AWS, Service"),
    ],
)
def test_fails_actions_that_the_principals_never_ask_for(principal: Any, action: str, words: str) -> None:
    found = said(principal, action)
    assert [rule for rule, message in found if words in message] == ["HP-POL-002"]


def test_actions_of_the_principals_are_taken() -> None:
    assert said({"Federated": SAML}, ["sts:AssumeRoleWithSAML", "sts:TagSession"], Condition=AUDIENCE) == []
    assert said({"Federated": PROVIDER}, "sts:AssumeRoleWithWebIdentity", Condition=SUBJECT) == []
    assert said({"AWS": "123456789012"}, ["sts:AssumeRole", "sts:SetSourceIdentity"]) == []


@pytest.mark.parametrize("principal", ["arn:aws:iam::123456789012:root", {"aws": "123456789012"}, {"Federated": PROVIDER}])
def test_fails_principals_of_a_queue(principal: Any) -> None:
    assert len(on_queue(principal)) == 1


def test_a_queue_takes_a_service() -> None:
    assert on_queue({"Service": "events.amazonaws.com"}) == []


@pytest.mark.parametrize(
    ("subject", "open_"),
    [("repo:*/*:ref:refs/heads/main", True), ("repo:*", True), ("repo:my-org/*", False), ("repo:my-org/a:*", False)],
)
def test_fails_a_subject_of_whatever_owner(subject: str, open_: bool) -> None:
    condition = {"StringLike": {"token.actions.githubusercontent.com:sub": subject}}
    provider = {"Fn::Sub": PROVIDER.replace("123456789012", "${AWS::AccountId}")}
    found = [rule for rule, _ in said({"Federated": provider}, "sts:AssumeRoleWithWebIdentity", Condition=condition)]
    assert found == (["HP-WID-004"] if open_ else [])


@pytest.mark.parametrize(("condition", "rules"), [(None, ["HP-WID-004"]), ({"StringEquals": {"accounts.google.com:aud": "a"}}, [])])
def test_fails_a_provider_for_everybody_without_an_audience(condition: Any, rules: list[str]) -> None:
    found = said({"Federated": "accounts.google.com"}, "sts:AssumeRoleWithWebIdentity", Condition=condition)
    assert [rule for rule, _ in found] == rules
