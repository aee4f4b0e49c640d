"""Patterns of policies for names that nothing of their type has."""

from __future__ import annotations

import json

import pytest

from hyperpod_constructs.analysis.documents import idle_words, written
from tests.templates.models import model_of

RESOURCES = {
    "Queue": {"Type": "AWS::SQS::Queue"},
    "Topic": {"Type": "AWS::SNS::Topic"},
    "Space": {"Type": "AWS::APS::Workspace"},
    "Secret": {"Type": "AWS::SecretsManager::Secret"},
    "Key": {"Type": "AWS::KMS::Key"},
    "Group": {"Type": "AWS::Logs::LogGroup"},
    "Images": {"Type": "AWS::ECR::Repository"},
    "Files": {"Type": "AWS::FSx::FileSystem"},
    "Table": {"Type": "AWS::DynamoDB::Table"},
}
PLACE = "${AWS::Region}:${AWS::AccountId}"


def _said(pattern: str, action: str, type_: str = "AWS::IAM::ManagedPolicy") -> list[str]:
    statement = {"Effect": "Allow", "Action": action, "Resource": {"Fn::Sub": pattern}, "Principal": "*"}
    key = "KeyPolicy" if type_ == "AWS::KMS::Key" else "PolicyDocument"
    policy = {"Type": type_, "Properties": {key: {"Version": "2012-10-17", "Statement": [statement]}}}
    model = model_of(json.dumps({"Resources": {**RESOURCES, "Policy": policy}}))
    return [words for one in written(model) if one.resource.logical_id == "Policy" for words in idle_words(one)]


@pytest.mark.parametrize(
    ("pattern", "action", "words"),
    [
        (f"arn:aws:aps:{PLACE}:workspace/metrics", "aps:RemoteWrite", "an id that begins with ws-"),
        (f"arn:aws:aps:{PLACE}:workspace/metrics-*", "aps:RemoteWrite", "an id that begins with ws-"),
        (f"arn:aws:fsx:{PLACE}:file-system/homes", "fsx:CreateBackup", "an id that begins with fs-"),
        (f"arn:aws:ec2:{PLACE}:subnet/private-a", "ec2:CreateNetworkInterface", "an id that begins with subnet-"),
        (f"arn:aws:kms:{PLACE}:key/data", "kms:Decrypt", "have an id"),
        (f"arn:aws:secretsmanager:{PLACE}:secret:slurm/accounting", "secretsmanager:GetSecretValue", "six characters"),
        (f"arn:aws:ssm:{PLACE}:parameter//slurm/a", "ssm:GetParameter", "single slashes"),
        (f"arn:aws:ecr:{PLACE}:repository/train:latest", "ecr:BatchGetImage", "without a tag"),
        (f"arn:aws:dynamodb:{PLACE}:table/runs/indexes/a", "dynamodb:Query", "/index/"),
        ("arn:aws:route53:::hostedzone/example.com", "route53:ChangeResourceRecordSets", "an id that begins with Z"),
        (f"arn:aws:aps:{PLACE}:workspace/${{Space}}", "aps:RemoteWrite", "an ARN in the place of a name"),
        (f"arn:aws:secretsmanager:{PLACE}:secret:${{Secret}}", "secretsmanager:GetSecretValue", "an ARN in the place of a name"),
        (f"arn:aws:logs:{PLACE}:log-group:${{Group.Arn}}", "logs:PutLogEvents", "an ARN in the place of a name"),
        (f"arn:aws:sns:{PLACE}:${{Topic}}", "sns:Publish", "an ARN in the place of a name"),
        (f"arn:aws:sqs:{PLACE}:${{Queue}}", "sqs:SendMessage", "an address in the place of a name"),
        (f"arn:aws:ecr:{PLACE}:repository/${{Images.RepositoryUri}}", "ecr:BatchGetImage", "an address in the place of a name"),
    ],
)
def test_fails_for_a_name_that_nothing_has(pattern: str, action: str, words: str) -> None:
    for type_ in ("AWS::IAM::ManagedPolicy", "AWS::EC2::VPCEndpoint"):
        assert [words in one for one in _said(pattern, action, type_)] == [True]


@pytest.mark.parametrize(
    ("pattern", "action"),
    [
        (f"arn:aws:aps:{PLACE}:workspace/*", "aps:RemoteWrite"),
        (f"arn:aws:aps:{PLACE}:workspace/ws-01234567-89ab-cdef-0123-456789abcdef", "aps:RemoteWrite"),
        (f"arn:aws:aps:{PLACE}:workspace/${{Space.WorkspaceId}}", "aps:RemoteWrite"),
        ("${Space}", "aps:RemoteWrite"),
        (f"arn:aws:fsx:{PLACE}:file-system/${{Files}}", "fsx:CreateBackup"),
        (f"arn:aws:fsx:{PLACE}:file-system/f*", "fsx:CreateBackup"),
        (f"arn:aws:ec2:{PLACE}:subnet/subnet-*", "ec2:CreateNetworkInterface"),
        (f"arn:aws:kms:{PLACE}:key/${{Key}}", "kms:Decrypt"),
        (f"arn:aws:kms:{PLACE}:key/mrk-0123456789abcdef0123456789abcdef", "kms:Decrypt"),
        (f"arn:aws:secretsmanager:{PLACE}:secret:slurm/accounting-??????", "secretsmanager:GetSecretValue"),
        (f"arn:aws:secretsmanager:{PLACE}:secret:slurm/accounting-AbC123", "secretsmanager:GetSecretValue"),
        ("${Secret}", "secretsmanager:GetSecretValue"),
        (f"arn:aws:ssm:{PLACE}:parameter/slurm/*", "ssm:GetParameter"),
        (f"arn:aws:ecr:{PLACE}:repository/team/train_a", "ecr:BatchGetImage"),
        (f"arn:aws:dynamodb:{PLACE}:table/${{Table}}/index/*", "dynamodb:Query"),
        (f"arn:aws:sqs:{PLACE}:${{Queue.QueueName}}", "sqs:SendMessage"),
        (f"arn:aws:sns:{PLACE}:${{Topic.TopicName}}", "sns:Publish"),
        (f"arn:aws:logs:{PLACE}:log-group:${{Group}}:*", "logs:PutLogEvents"),
        ("arn:aws:ssm:*:*:parameter/${!aws:PrincipalTag/team}/a", "ssm:GetParameter"),
    ],
)
def test_passes_for_ids_and_names(pattern: str, action: str) -> None:
    assert _said(pattern, action) == []
