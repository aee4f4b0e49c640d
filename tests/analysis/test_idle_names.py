"""Statements for images that no rule of a registry brings."""

from __future__ import annotations

import json

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
