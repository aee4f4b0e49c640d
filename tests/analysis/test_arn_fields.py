"""Patterns of policies for names that nothing of their type has."""

from __future__ import annotations

import json

import pytest

from hyperpod_constructs.analysis.condition_words import idle_conditions
from hyperpod_constructs.analysis.documents import idle_words, refused_words, written
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


@pytest.mark.parametrize(
    ("pattern", "refused"),
    [
        ("arn:s3:::data/*", True),
        ("arn:amazon:s3:::data/*", True),
        ("arn:aws-cn:s3:::data/*", False),
        ("arn:${AWS::Partition}:s3:::data/*", False),
        ("arn:*:s3:::data/*", False),
    ],
)
def test_an_arn_has_a_partition(pattern: str, refused: bool) -> None:
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": {"Fn::Sub": pattern}}
    policy = {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": {"Statement": [statement]}}}
    (one,) = written(model_of(json.dumps({"Resources": {"Policy": policy}})))
    assert any("partition" in words for words, _ in refused_words(one)) is refused


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
        (f"arn:aws:s3:{PLACE}:train-data/*", "s3:GetObject", "the ARN of a bucket has none"),
        ("arn:aws:s3::111122223333:train-data/*", "s3:GetObject", "the ARN of a bucket has none"),
        (f"arn:aws:logs:{PLACE}:log-group:/train/nodes", "logs:PutLogEvents", "works on none of these resources"),
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
        (f"arn:aws:logs:{PLACE}:log-group:/train/nodes:*", "logs:PutLogEvents"),
        (f"arn:aws:logs:{PLACE}:log-group:/train/nodes:log-stream:a", "logs:PutLogEvents"),
        (f"arn:aws:logs:{PLACE}:log-group:/train/*", "logs:PutLogEvents"),
        (f"arn:aws:logs:{PLACE}:log-group:/train/nodes", "logs:DescribeLogStreams"),
        (f"arn:aws:s3:{PLACE}:accesspoint/data/object/*", "s3:GetObject"),
        ("arn:aws:s3:::train-data/*", "s3:GetObject"),
        ("arn:aws:ssm:*:*:parameter/${!aws:PrincipalTag/team}/a", "ssm:GetParameter"),
    ],
)
def test_passes_for_ids_and_names(pattern: str, action: str) -> None:
    assert _said(pattern, action) == []


@pytest.mark.parametrize(
    ("operator", "key", "value", "wrong"),
    [
        ("ArnLike", "aws:SourceArn", f"arn:aws:s3:{PLACE}:data", True),
        ("ArnLike", "aws:SourceArn", "arn:aws:s3:::data", False),
        ("ArnEquals", "aws:SourceArn", "arn:aws:cloudwatch:${AWS::Region}::alarm:*", True),
        ("ArnEquals", "aws:SourceArn", f"arn:aws:cloudwatch:{PLACE}:alarm:*", False),
        ("ArnLike", "aws:SourceArn", f"arn:aws:sqs:{PLACE}:${{Queue}}", True),
        ("ArnLike", "aws:SourceArn", "${Queue.Arn}", False),
        ("ArnLike", "aws:PrincipalArn", f"arn:aws:iam:{PLACE}:role/a", True),
        ("StringEquals", "aws:SourceAccount", "arn:aws:iam::${AWS::AccountId}:root", True),
        ("StringEquals", "aws:SourceAccount", "${AWS::AccountId}", False),
    ],
)
def test_arns_in_conditions_have_the_same_forms(operator: str, key: str, value: str, wrong: bool) -> None:
    condition = {operator: {key: {"Fn::Sub": value}}}
    service = {"Service": "s3.amazonaws.com"}
    statement = {"Effect": "Allow", "Principal": service, "Action": "sns:Publish", "Resource": "*", "Condition": condition}
    policy = {"Type": "AWS::SNS::TopicPolicy", "Properties": {"Topics": [], "PolicyDocument": {"Statement": [statement]}}}
    (one,) = written(model_of(json.dumps({"Resources": {**RESOURCES, "Policy": policy}})))
    assert bool([*idle_conditions(one.statement)]) is wrong
