"""IAM refuses policies by their text, over boto3 and in a template."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.local.policy_documents import policy_problem, trust_problem
from hyperpod_constructs.local.server import LocalAws
from tests.local.stacks import deploy

VENDOR = "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc."
TRUST = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
READ = {"Effect": "Allow", "Action": "s3:Get*", "Resource": "arn:aws:s3:::bucket/*"}


def document(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements)}


@pytest.mark.parametrize("asked", [document(READ), json.dumps(document({**READ, "Action": ["s3:*", "*"]}))])
def test_takes_a_policy(asked: Any) -> None:
    assert policy_problem(asked) is None


@pytest.mark.parametrize("action", ["sts:AssumeRole", ["sts:AssumeRole", "sts:TagSession"]])
def test_takes_a_trust_policy(action: Any) -> None:
    assert trust_problem(document({**TRUST, "Action": action})) is None
    assert trust_problem({"Statement": [{**TRUST, "Action": action}]}) is None


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (document({**READ, "Action": "nope"}), VENDOR),
        ({}, "Syntax errors in policy."),
        ("{", "Syntax errors in policy."),
        ({"Version": "2013-10-17", "Statement": [READ]}, "Syntax errors in policy."),
        (document({"Effect": "Allow", "Action": "s3:Get*"}), "Policy statement must contain resources."),
    ],
)
def test_fails_for_a_policy_with_a_mistake(asked: Any, message: str) -> None:
    assert policy_problem(asked) == message


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "Syntax errors in policy."),
        (document(), "Syntax errors in policy."),
        (document({"Effect": "Allow", "Action": "sts:AssumeRole"}), "Missing required field Principal"),
        (document({**TRUST, "Resource": "*"}), "Has prohibited field Resource."),
    ],
)
def test_fails_for_a_trust_policy_with_a_mistake(asked: Any, message: str) -> None:
    assert trust_problem(asked) == message


def resources(kind: str, **properties: Any) -> dict[str, Any]:
    """A template with a role, and a resource of this type that is for the role."""
    role = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": document(TRUST)}}
    return {"Role": role, "Thing": {"Type": kind, "Properties": properties}}


NOPE = document({**READ, "Action": "nope"})
REFUSED = {
    "policy": (VENDOR, resources("AWS::IAM::Policy", PolicyName="p", PolicyDocument=NOPE, Roles=[{"Ref": "Role"}])),
    "managed policy": (VENDOR, resources("AWS::IAM::ManagedPolicy", PolicyDocument=NOPE)),
}


def test_fails_in_requests_and_templates(fresh: LocalAws) -> None:
    iam = fresh.client("iam")
    with pytest.raises(ClientError, match=r"MalformedPolicyDocument.*Syntax errors in policy\."):
        iam.create_role(RoleName="role", AssumeRolePolicyDocument="{}")
    with pytest.raises(ClientError, match=r"MalformedPolicyDocument.*must be prefaced by a vendor"):
        iam.create_policy(PolicyName="policy", PolicyDocument=json.dumps(NOPE))
    for name, (message, template) in REFUSED.items():
        reasons = deploy(fresh, template, name.replace(" ", "-")).reasons
        assert any(message in reason for reason in reasons), name
