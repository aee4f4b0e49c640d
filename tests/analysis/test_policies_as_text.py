"""Policies as text in JSON, as templates write them around names that only Fn::Sub knows: they are read as such a document is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import resource

TRUST = """{"Version": "2012-10-17", "Statement": [
 {"Effect": "Allow", "Action": "sts:AssumeRoleWithWebIdentity", "Principal": {"Federated": "${Provider}"},
  "Condition": {"StringEquals": {"${Issuer}:sub": "system:serviceaccount:a:b", "${Issuer}": "c", "${Other}": "d"}}}]}"""
GIVEN = '{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "${Scripts.Arn}/*"}}'
OPEN = '{"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": "*"}]}'


def said(trust: str = TRUST, given: str = GIVEN) -> list[str]:
    names = {
        "Provider": "arn:aws:iam::123456789012:oidc-provider/a",
        "Issuer": {"Ref": "AWS::StackName"},
        "Other": {"Ref": "AWS::Region"},
    }
    role = resource(
        "AWS::IAM::Role",
        AssumeRolePolicyDocument={"Fn::Sub": [trust, names]},
        Policies=[{"PolicyName": "a", "PolicyDocument": {"Fn::Sub": given}}],
    )
    template: dict[str, Any] = {"Resources": {"R": role, "Scripts": resource("AWS::S3::Bucket")}}
    return [one.message for one in findings(template, rules="HP-TXT-007")]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2012-10-17", "2012-17-10", "the version of the policy is '2012-17-10'"),
        ('"Effect": "Allow"', '"Effect": "allow"', "Effect of Statement/0 is 'allow'"),
        ('"Statement"', '"Statements"', "a policy has no Statements"),
        ('"Principal"', '"Principals"', "Statement/0 has no Principals"),
        ("}]}", "}}]", "the text is not JSON"),
        ('"Action"', '"Action": "sts:TagSession", "Action"', "key 'Action' is there twice"),
    ],
)
def test_fails_trust_as_text(old: str, new: str, message: str) -> None:
    assert said() == []
    assert said(trust=TRUST.replace(old, new))[0].startswith(message) or message in said(trust=TRUST.replace(old, new))[0]


@pytest.mark.parametrize(("old", "new"), [("2012-10-17", "2012-10-07"), ('"Action"', '"Actions"'), ("}}", "}")])
def test_fails_policy_of_an_identity_as_text(old: str, new: str) -> None:
    assert said(given=GIVEN.replace(old, new)) != []


def test_a_policy_of_a_bucket_has_principals() -> None:
    def policy(text: str) -> list[str]:
        template = {"Resources": {"P": resource("AWS::S3::BucketPolicy", Bucket="a", PolicyDocument={"Fn::Sub": text})}}
        return [one.message for one in findings(template, rules="HP-TXT-007")]

    assert policy(OPEN) == []
    assert policy(OPEN.replace('"Principal": "*", ', "")) == ["Statement/0 has no Principal"]
