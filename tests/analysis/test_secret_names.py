"""Secrets that clusters name for their accounting database."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts.secret_names import WHOLES
from tests.templates.models import by_id, model_of

TEMPLATE = """
Resources:
  Password: {{Type: AWS::SecretsManager::Secret, Properties: {{Name: train/slurmdbd}}}}
  Database:
    Type: AWS::RDS::DBInstance
    Properties: {{MasterUserPassword: !Sub "{{{{resolve:secretsmanager:${{Password}}:SecretString:password}}}}"}}
  Role:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument: {{}}
      Policies:
        - PolicyName: read
          PolicyDocument: {{Statement: [{{Effect: Allow, Action: "secretsmanager:GetSecretValue", Resource: {allowed}}}]}}
  Cluster:
    Type: AWS::SageMaker::Cluster
    Properties:
      Orchestrator: {{Slurm: {{AccountingDatabase: {{Endpoint: !GetAtt Database.Endpoint.Address, SecretArn: {given}}}}}}}
      InstanceGroups:
        - {{InstanceGroupName: a, ExecutionRole: !GetAtt Role.Arn, SlurmConfig: {{NodeType: Controller}}}}
"""
ARN = '!Sub "arn:aws:secretsmanager:${{AWS::Region}}:${{AWS::AccountId}}:secret:{}"'.replace("{{", "{").replace("}}", "}")


def arn(name: str) -> str:
    return ARN.replace(":{}", f":{name}")


@pytest.mark.parametrize(
    ("given", "allowed", "wrong"),
    [
        ("!Ref Password", "!Ref Password", False),
        (arn("train/slurm"), "!Ref Password", True),
        (arn("train/slurmdbd"), "!Ref Password", False),
        (arn("train/slurmdbd-AbCdEf"), "!Ref Password", False),
        (arn("others/slurm"), "!Ref Password", False),
        (arn("train/slurm"), '"*"', False),
        ('!Ref "AWS::NoValue"', "!Ref Password", False),
    ],
)
def test_a_cluster_names_the_secret_of_its_database(given: str, allowed: str, wrong: bool) -> None:
    cluster = by_id(model_of(TEMPLATE.format(given=given, allowed=allowed)), "Cluster")
    found = [slip.message for slip in WHOLES[cluster.type](cluster)]
    assert ["the password of the database is in Password" in one for one in found] == [True] * wrong
