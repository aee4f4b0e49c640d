"""Statements for images that no rule of a registry brings, and for secrets and parameters with misspelled names."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from hyperpod_constructs.analysis.documents import idle_words, written
from tests.templates.models import model_of


@pytest.mark.parametrize(
    ("prefix", "pattern", "idle"),
    [
        ("public", "repository/mirror/*", True),
        ("public", "repository/public", True),
        ({"Fn::Sub": "${AWS::StackName}-hub"}, "repository/mirror/*", False),
        ("public", "repository/public/*", False),
        ("public", "repository/p*", False),
        ("public", "repository/public/eks/pause", False),
        ("ROOT", "repository/mirror/*", False),
        ({"Ref": "Given"}, "repository/mirror/*", False),
    ],
)
def test_images_are_imported_where_a_rule_keeps_them(prefix: object, pattern: str, idle: bool) -> None:
    arn = {"Fn::Sub": f"arn:aws:ecr:${{AWS::Region}}:${{AWS::AccountId}}:{pattern}"}
    statement = {"Effect": "Allow", "Action": ["ecr:BatchImportUpstreamImage", "ecr:CreateRepository"], "Resource": arn}
    resources = {
        "Rule": {"Type": "AWS::ECR::PullThroughCacheRule", "Properties": {"EcrRepositoryPrefix": prefix}},
        "Policy": {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": {"Statement": [statement]}}},
    }
    (one,) = written(model_of(json.dumps({"Resources": resources, "Parameters": {"Given": {"Type": "String"}}})))
    assert any("no rule fills" in words for words in idle_words(one)) is idle


OWN = "arn:aws:{}:${{AWS::Region}}:${{AWS::AccountId}}:{}"
NAMED = {
    "Secret": {"Type": "AWS::SecretsManager::Secret", "Properties": {"Name": "train/accounting"}},
    "Host": {"Type": "AWS::SSM::Parameter", "Properties": {"Name": "/train/database-host", "Type": "String", "Value": "a"}},
}


@pytest.mark.parametrize(
    ("patterns", "said"),
    [
        (
            ["secret:train-accounting-*"],
            "no AWS::SecretsManager::Secret is called train-accounting; the nearest is train/accounting",
        ),
        (["secret:train/acounting-??????"], "is called train/acounting; the nearest is train/accounting"),
        (["parameter/train/database_host"], "is called train/database_host; the nearest is train/database-host"),
        (["secret:train/accounting-*"], ""),
        (["secret:train/accountin*"], ""),
        (["secret:train/*"], ""),
        (["secret:train-accounting-*", "secret:train/accounting-*"], ""),
        (["secret:train/wandb-*"], ""),
        (["parameter/train/*"], ""),
        (["parameter/train/database-host"], ""),
    ],
)
def test_secrets_and_parameters_are_called_as_they_are_made(patterns: list[str], said: str) -> None:
    found = list(words(*({"Fn::Sub": OWN.format("ssm" if one.startswith("param") else "secretsmanager", one)} for one in patterns)))
    assert [said in one for one in found] == ([True] if said else [])


def test_names_elsewhere_are_not_known() -> None:
    others = {"Fn::Sub": "arn:aws:secretsmanager:${AWS::Region}:${Given}:secret:train-accounting-*"}
    assert list(words(others)) == []
    assert list(words("arn:aws:secretsmanager:us-east-1:123456789012:secret:train-accounting-*")) == []


def words(*patterns: object) -> Iterator[str]:
    """What is said of a statement for some resources."""
    statement = {"Effect": "Allow", "Action": ["secretsmanager:GetSecretValue", "ssm:GetParameter"], "Resource": list(patterns)}
    policy = {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": {"Statement": [statement]}}}
    resources = {**NAMED, "Policy": policy}
    (one,) = written(model_of(json.dumps({"Resources": resources, "Parameters": {"Given": {"Type": "String"}}})))
    return (said for said in idle_words(one) if "is called" in said)
