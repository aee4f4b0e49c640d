"""Metrics that nobody writes, where the templates have everybody who could."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts.own_metrics import written
from tests.templates.models import by_id, model_of

TEMPLATE = """
Resources:
  Cluster:
    Type: AWS::SageMaker::Cluster
    Properties:
      InstanceGroups: [{{InstanceGroupName: a, InstanceType: ml.m5.xlarge, InstanceCount: 1, ExecutionRole: {node}}}]
  NodeRole:
    Type: AWS::IAM::Role
    Properties:
      ManagedPolicyArns: [{policy}]
      AssumeRolePolicyDocument: {{Statement: [{{Effect: Allow, Principal: {{Service: {service}}}, Action: "sts:AssumeRole"}}]}}
  WriterRole:
    Type: AWS::IAM::Role
    Properties:
      Policies: [{{PolicyName: a, PolicyDocument: {{Statement: [{{Effect: Allow, Action: "cloudwatch:*", Resource: "*"}}]}}}}]
  Writer:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: python3.13
      Role: !GetAtt WriterRole.Arn
      Code: {code}
  Filter:
    Type: AWS::Logs::MetricFilter
    Properties:
      FilterPattern: ERROR
      MetricTransformations: [{{MetricNamespace: Team, MetricName: Errors, MetricValue: "1"}}]
  Alarm:
    Type: AWS::CloudWatch::Alarm
    Properties: {{Namespace: Team, MetricName: {metric}, Dimensions: {dimensions}}}
"""
NODES = "arn:aws:iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy"
AGENT = "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"
SEND = """import boto3
          boto3.client("cloudwatch").put_metric_data(Namespace="Team", MetricData=[{"MetricName": NAME, "Value": 1}])"""


def said(metric: str = "Idle", python: str | None = "print()", **given: str) -> list[str]:
    code = "{S3Bucket: b, S3Key: k}" if python is None else f"\n        ZipFile: |\n          {python}"
    filled = {"node": "!GetAtt NodeRole.Arn", "policy": NODES, "service": "sagemaker.amazonaws.com", "dimensions": "[]"} | given
    return [one.message for one in written(by_id(model_of(TEMPLATE.format(metric=metric, code=code, **filled)), "Alarm"))]


def test_fails_metric_that_nobody_writes() -> None:
    assert said() == ["nothing writes Idle into Team"]
    assert said(python=SEND.replace("NAME", '"Busy"')) == ["nothing writes Idle into Team"]
    assert said(policy=AGENT, service="pods.eks.amazonaws.com", node="!GetAtt WriterRole.Arn") == []


@pytest.mark.parametrize(
    ("python", "given"),
    [
        (SEND.replace("NAME", '"Idle"'), {}),
        (SEND.replace("NAME", "name"), {}),
        ('print({"_aws": {"CloudWatchMetrics": []}})', {}),
        (None, {}),
        ("print()", {"policy": AGENT}),
        ("print()", {"policy": "arn:aws:iam::aws:policy/AdministratorAccess"}),
        ("print()", {"policy": "!Ref Given"}),
        ("print()", {"node": "!ImportValue nodes"}),
    ],
)
def test_what_others_may_write_is_believed(python: str | None, given: dict[str, str]) -> None:
    assert said(python=python, **given) == []


def test_a_metric_that_is_written() -> None:
    assert said("Errors") == []


@pytest.mark.parametrize(
    ("written", "asked", "count"),
    [("'a'", "a", 0), ("'a'", "b", 1), ("name", "b", 0), ("'a'", "!Ref Cluster", 0)],
)
def test_values_of_dimensions(written: str, asked: str, count: int) -> None:
    python = SEND.replace("NAME", f'"Idle", "Dimensions": [{{"Name": "Group", "Value": {written}}}]')
    assert len(said(python=python, dimensions=f"[{{Name: Group, Value: {asked}}}]")) == count
