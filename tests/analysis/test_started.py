"""Roles that may begin a task and lack a part of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.started import unfinished
from tests.templates.models import model_of

PLACE = "${AWS::Region}:${AWS::AccountId}"


def _missing(action: str | list[str], resources: list[str], **more: Any) -> list[str]:
    statement = {"Effect": "Allow", "Action": action, "Resource": [{"Fn::Sub": one} for one in resources], **more}
    policy = {"PolicyName": "a", "PolicyDocument": {"Statement": [statement]}}
    role = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}, "Policies": [policy]}}
    model = model_of(json.dumps({"Resources": {"Role": role, "Cluster": {"Type": "AWS::SageMaker::Cluster"}}}))
    return [missing for one in unfinished(model) for missing in one.missing]


@pytest.mark.parametrize(
    ("action", "resources", "count"),
    [
        ("ssm:StartSession", [f"arn:aws:ssm:{PLACE}:document/shell"], 1),
        ("ssm:StartSession", [f"arn:aws:ssm:{PLACE}:document/shell", "${Cluster.ClusterArn}"], 0),
        ("ssm:StartSession", [f"arn:aws:ssm:{PLACE}:document/shell", f"arn:aws:ec2:{PLACE}:instance/*"], 0),
        ("ssm:StartSession", ["*"], 0),
        ("ssm:StartSession", ["${Given}"], 0),
        ("ssm:*", [f"arn:aws:ssm:{PLACE}:document/shell"], 0),
        ("ssm:SendCommand", ["arn:aws:ssm:${AWS::Region}::document/AWS-RunShellScript"], 1),
        ("ssm:SendCommand", [f"arn:aws:ec2:{PLACE}:instance/*"], 1),
        ("ssm:SendCommand", ["arn:aws:ssm:*:*:document/*", "arn:aws:ec2:*:*:instance/*"], 0),
        ("ec2:RunInstances", [f"arn:aws:ec2:{PLACE}:instance/*"], 4),
        ("ec2:RunInstances", [f"arn:aws:ec2:{PLACE}:*", "arn:aws:ec2:*::image/*"], 0),
    ],
)
def test_an_action_is_asked_for_several_resources(action: str, resources: list[str], count: int) -> None:
    assert len(_missing(action, resources)) == count


def test_a_condition_is_no_refusal() -> None:
    tagged = {"StringEquals": {"ssm:resourceTag/team": "a"}}
    assert _missing("ssm:StartSession", [f"arn:aws:ec2:{PLACE}:instance/*"], Condition=tagged) == []
