"""The elements of policy documents of types whose schemas have no grammar for them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import resource

READ = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::runs/*"}


def said(statement: Any = READ, **more: Any) -> list[str]:
    """The findings on the policy of a permission set."""
    document = {"Version": "2012-10-17", "Statement": [statement], **more}
    instance = "arn:aws:sso:::instance/ssoins-1234567890abcdef"
    permissions = resource("AWS::SSO::PermissionSet", InstanceArn=instance, Name="ml", InlinePolicy=document)
    return [one.message for one in findings({"Resources": {"Set": permissions}}, rules="HP-POL-001")]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"Conditions": {}}, "a statement has no Conditions; did you mean Condition?"),
        ({"NotResource": "*"}, "Resource and NotResource exclude each other"),
        ({"Principal": {"AWS": "*"}}, "the policy of an identity has no Principal"),
        ({"Sid": ["a"]}, "the Sid is no text"),
        ({"Condition": []}, "the Condition is no object"),
        ({"Action": []}, "the Action is an empty list"),
        ({"Resource": []}, "the Resource is an empty list"),
    ],
)
def test_fails_elements_of_a_statement(changes: Any, words: str) -> None:
    found = said({**READ, **changes})
    assert len(found) == 1
    assert words in found[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"Version": "2012-10-18"}, "the Version is '2012-10-18'"),
        ({"Statements": []}, "a document has no Statements; did you mean Statement?"),
        ({"Statement": []}, "the document has no statements"),
    ],
)
def test_fails_elements_of_a_document(changes: Any, words: str) -> None:
    found = said(**changes)
    assert len(found) == 1
    assert words in found[0]


def test_a_document_with_all_elements_is_taken() -> None:
    assert said({**READ, "Sid": "Read", "Condition": {"Bool": {"aws:SecureTransport": "true"}}}, Id="a") == []
    assert said(Version="2008-10-17") == []


def test_fails_the_policy_of_a_key_without_resource() -> None:
    root = {"Effect": "Allow", "Principal": {"AWS": {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:root"}}, "Action": "kms:*"}

    def key(statement: Any) -> list[str]:
        policy = {"Version": "2012-10-17", "Statement": [statement]}
        return [
            one.message for one in findings({"Resources": {"Key": resource("AWS::KMS::Key", KeyPolicy=policy)}}, rules="HP-POL-001")
        ]

    assert key({**root, "Resource": "*"}) == []
    assert key(root) == ["the statement has no Resource"]
