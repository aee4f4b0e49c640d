"""Images that something runs: no rule of their repository expires all of them after some days."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.documents import WHOLES
from tests.templates.models import by_id, model_of

PULL, REPOSITORY = "ecr:BatchGetImage", {"Fn::GetAtt": ["Images", "Arn"]}
TASK = {"ContainerDefinitions": [{"Name": "a", "Image": {"Fn::Sub": "${Images.RepositoryUri}:1"}}]}


def rule(status: str, count: str, number: int, **more: Any) -> dict[str, Any]:
    unit = {"countUnit": "days"} if count.startswith("since") else {}
    selection = {"tagStatus": status, "countType": count, "countNumber": number, **unit, **more}
    return {"rulePriority": 1, "selection": selection, "action": {"type": "expire"}}


def said(*rules: dict[str, Any], action: str = PULL, **beside: dict[str, Any]) -> list[str]:
    """What is wrong with the rules for images that nodes with an action may use."""
    may = {"Effect": "Allow", "Action": action, "Resource": REPOSITORY}
    policies = [{"PolicyName": "a", "PolicyDocument": {"Statement": [may]}}]
    groups = [{"InstanceGroupName": "gpu", "ExecutionRole": {"Fn::GetAtt": ["Role", "Arn"]}}]
    resources = {
        "Images": {
            "Type": "AWS::ECR::Repository",
            "Properties": {"LifecyclePolicy": {"LifecyclePolicyText": json.dumps({"rules": rules})}},
        },
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}, "Policies": policies}},
        "Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": groups}},
        **beside,
    }
    repository = by_id(model_of(json.dumps({"Resources": resources})), "Images")
    return [slip.message for slip in WHOLES[repository.type](repository)]


EVERY = rule("any", "sinceImagePushed", 14)


@pytest.mark.parametrize(
    ("rules", "wrong"),
    [
        ([EVERY], True),
        ([rule("any", "sinceImagePushed", 365)], False),
        ([rule("untagged", "sinceImagePushed", 14)], False),
        ([rule("any", "imageCountMoreThan", 14)], False),
        ([rule("any", "sinceImagePulled", 14)], False),
        ([rule("tagged", "imageCountMoreThan", 30, tagPrefixList=["prod"]), EVERY], False),
        ([rule("untagged", "sinceImagePushed", 1), EVERY], True),
    ],
)
def test_images_of_nodes_do_not_go_by_their_age(rules: list[dict[str, Any]], wrong: bool) -> None:
    message = "every image goes 14 days after its push, also those that Cluster runs"
    assert said(*rules) == ([message] if wrong else [])


def test_images_that_nobody_runs_may_go() -> None:
    assert said(EVERY, action="ecr:PutImage") == []


def test_images_of_tasks_stay() -> None:
    (found,) = said(EVERY, action="ecr:PutImage", Task={"Type": "AWS::ECS::TaskDefinition", "Properties": TASK})
    assert found.endswith("also those that Task runs")
