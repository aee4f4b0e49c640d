"""Services that send as themselves: the receiver's policy and key let them in, and are there before AWS tries them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.deliveries import refused
from hyperpod_constructs.templates.model import Model
from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import Template, findings, rules_of
from tests.rules.catalogue.test_refused_calls import ROOT, allow

ARN = "arn:aws:{}:us-west-2:123456789012:{}"


def att(name: str, attribute: str = "Arn") -> dict[str, Any]:
    return {"Fn::GetAtt": [name, attribute]}


def policy(kind: str, key: str, names: Any, service: str, action: str, resource: Any, **more: Any) -> Template:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": action, "Resource": resource, **more}
    return {"Type": kind, "Properties": {key: names, "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}}}


def permission(service: str, source: Any) -> Template:
    properties = {"FunctionName": {"Ref": "Function"}, "Action": "lambda:InvokeFunction", "Principal": service, "SourceArn": source}
    return {"Type": "AWS::Lambda::Permission", "Properties": properties}


TRUST = {"Version": "2012-10-17", "Statement": [{**allow("sts:AssumeRole"), "Principal": {"Service": "lambda.amazonaws.com"}}]}
del TRUST["Statement"][0]["Resource"]  # type: ignore[attr-defined]
KEY = {
    "Type": "AWS::KMS::Key",
    "DeletionPolicy": "Retain",
    "UpdateReplacePolicy": "Retain",
    "Properties": {
        "KeyPolicy": {
            "Version": "2012-10-17",
            "Statement": [
                allow("kms:*", Principal=ROOT),
                allow(
                    ["kms:Decrypt", "kms:GenerateDataKey*"],
                    Principal={"Service": [f"{name}.amazonaws.com" for name in ("cloudwatch", "events", "s3", "sns")]},
                ),
            ],
        }
    },
}
KEPT = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
BASE: Template = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "Key": KEY,
        "Queue": {"Type": "AWS::SQS::Queue", "Properties": {"KmsMasterKeyId": {"Ref": "Key"}, "VisibilityTimeout": 60}},
        "QueuePolicy": policy(
            "AWS::SQS::QueuePolicy",
            "Queues",
            [{"Ref": "Queue"}],
            "s3.amazonaws.com",
            "sqs:SendMessage",
            att("Queue"),
            Condition={"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}},
        ),
        "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"KmsMasterKeyId": att("Key")}},
        "TopicPolicy": policy(
            "AWS::SNS::TopicPolicy",
            "Topics",
            [{"Ref": "Topic"}],
            ["cloudwatch.amazonaws.com", "events.amazonaws.com"],  # type: ignore[arg-type]
            "sns:Publish",
            {"Ref": "Topic"},
        ),
        "Uploads": {
            "Type": "AWS::S3::Bucket",
            "DependsOn": ["QueuePolicy", "LogsPolicy"],
            **KEPT,
            "Properties": {
                "NotificationConfiguration": {"QueueConfigurations": [{"Event": "s3:ObjectCreated:*", "Queue": att("Queue")}]},
                "LoggingConfiguration": {"DestinationBucketName": {"Ref": "Logs"}, "LogFilePrefix": "uploads/"},
            },
        },
        "Logs": {
            "Type": "AWS::S3::Bucket",
            **KEPT,
            "Properties": {
                "BucketEncryption": {
                    "ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
                }
            },
        },
        "LogsPolicy": policy(
            "AWS::S3::BucketPolicy",
            "Bucket",
            {"Ref": "Logs"},
            "logging.s3.amazonaws.com",
            "s3:PutObject",
            {"Fn::Sub": "${Logs.Arn}/uploads/*"},
        ),
        "Changes": {
            "Type": "AWS::Events::Rule",
            "Properties": {
                "EventPattern": {"source": ["aws.sagemaker"]},
                "Targets": [{"Id": "topic", "Arn": {"Ref": "Topic"}}, {"Id": "function", "Arn": att("Function")}],
            },
        },
        "Invoke": permission("events.amazonaws.com", att("Changes")),
        "Alarm": {
            "Type": "AWS::CloudWatch::Alarm",
            "Properties": {
                "Namespace": "AWS/SQS",
                "MetricName": "NumberOfMessagesSent",
                "Dimensions": [{"Name": "QueueName", "Value": att("Queue", "QueueName")}],
                "ComparisonOperator": "LessThanThreshold",
                "EvaluationPeriods": 1,
                "Period": 300,
                "Statistic": "Sum",
                "Threshold": 1,
                "AlarmActions": [{"Ref": "Topic"}],
            },
        },
        "Role": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": TRUST,
                "ManagedPolicyArns": ["arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"],
                "Policies": [
                    {
                        "PolicyName": "queue",
                        "PolicyDocument": {
                            "Version": "2012-10-17",
                            "Statement": [
                                {
                                    "Effect": "Allow",
                                    "Action": ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
                                    "Resource": att("Queue"),
                                },
                                {"Effect": "Allow", "Action": "kms:Decrypt", "Resource": att("Key")},
                            ],
                        },
                    }
                ],
            },
        },
        "Function": {
            "Type": "AWS::Lambda::Function",
            "Properties": {
                "Runtime": "python3.13",
                "Handler": "index.handler",
                "Role": att("Role"),
                "Timeout": 30,
                "Code": {"S3Bucket": "code-123456789012", "S3Key": "report.zip"},
            },
        },
        "Mapping": {
            "Type": "AWS::Lambda::EventSourceMapping",
            "Properties": {"EventSourceArn": att("Queue"), "FunctionName": {"Ref": "Function"}},
        },
        "Errors": {
            "Type": "AWS::Logs::SubscriptionFilter",
            "DependsOn": "Subscribe",
            "Properties": {"LogGroupName": {"Ref": "Group"}, "FilterPattern": "ERROR", "DestinationArn": att("Function")},
        },
        "Group": {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": 30}},
        "Subscribe": permission("logs.amazonaws.com", att("Group")),
    },
}
DOCUMENT = "PolicyDocument/Statement/0"
SERVICE = f"{DOCUMENT}/Principal/Service"
SSE = "Logs/BucketEncryption/ServerSideEncryptionConfiguration/0/ServerSideEncryptionByDefault"
QUEUE = "Role/Policies/0/PolicyDocument/Statement/0"
SEPARATE = {
    "Type": "AWS::IAM::Policy",
    "Properties": {
        "PolicyName": "queue",
        "Roles": [{"Ref": "Role"}],
        "PolicyDocument": BASE["Resources"]["Role"]["Properties"]["Policies"][0]["PolicyDocument"],
    },
}
TWO = edited(
    BASE,
    {
        "TopicPolicy/Topics/1": {"Ref": "Second"},
        f"TopicPolicy/{DOCUMENT}/Resource": [{"Ref": "Topic"}, {"Ref": "Second"}],
        "Second": {"Type": "AWS::SNS::Topic", "Properties": {}},
        "Changes/Targets/2": {"Id": "second", "Arn": {"Ref": "Second"}},
    },
)
"""Two topics with one policy."""
CASES = [
    # Policies of receivers
    Case("HP-DLV-001", BASE, {f"QueuePolicy/{SERVICE}": "sns.amazonaws.com"}, {f"QueuePolicy/{SERVICE}": ["s3.amazonaws.com"]}),
    Case("HP-DLV-001", BASE, {"QueuePolicy": REMOVED, "Uploads/.DependsOn": "LogsPolicy"}, {f"QueuePolicy/{SERVICE}": "*"}),
    Case("HP-DLV-001", BASE, {f"QueuePolicy/{DOCUMENT}/Action": "sqs:ReceiveMessage"}, {f"QueuePolicy/{DOCUMENT}/Action": "sqs:*"}),
    Case(
        "HP-DLV-001",
        BASE,
        {"Subscribe/SourceArn": att("Changes")},
        {"Subscribe/SourceArn": REMOVED, "Subscribe/SourceAccount": {"Ref": "AWS::AccountId"}},
    ),
    Case("HP-DLV-001", BASE, {"Subscribe/Principal": "lambda.amazonaws.com"}, {}),
    Case(
        "HP-DLV-002",
        BASE,
        {f"TopicPolicy/{SERVICE}/1": REMOVED},
        {"TopicPolicy": REMOVED, "Changes/Targets/0": REMOVED},  # the first policy of a topic lets alarms in
    ),
    Case(
        "HP-DLV-002",
        BASE,
        {"TopicPolicy": REMOVED},
        {"Changes/Targets/0/RoleArn": ARN.format("iam", "role/x").replace("us-west-2", "")},
    ),
    Case("HP-DLV-002", BASE, {f"LogsPolicy/{DOCUMENT}/Resource": {"Fn::Sub": "${Logs.Arn}/access/*"}}, {}),
    Case("HP-DLV-002", BASE, {"Invoke": REMOVED}, {"Invoke/SourceArn": REMOVED, "Invoke/SourceAccount": {"Ref": "AWS::AccountId"}}),
    Case(
        "HP-DLV-002",
        TWO,
        {f"TopicPolicy/{DOCUMENT}/Principal/Service": "budgets.amazonaws.com"},
        {f"TopicPolicy/{DOCUMENT}/Principal/Service": "*"},
    ),
    # Order
    Case("HP-DLV-003", BASE, {"Uploads/.DependsOn": "LogsPolicy"}, {"Uploads/.DependsOn": "QueuePolicy"}),
    Case("HP-DLV-003", BASE, {"Errors/.DependsOn": REMOVED}, {}),
    # Keys
    Case(
        "HP-KEY-002",
        BASE,
        {"Key/KeyPolicy/Statement/1/Principal/Service": ["cloudwatch.amazonaws.com", "events.amazonaws.com"]},
        {},
    ),
    Case("HP-KEY-004", BASE, {"Key/KeyPolicy/Statement/1/Principal/Service": "s3.amazonaws.com"}, {}),
    Case("HP-KEY-004", BASE, {"Topic/KmsMasterKeyId": "alias/aws/sns"}, {"Topic/KmsMasterKeyId": REMOVED}),
    Case("HP-KEY-004", BASE, {f"{SSE}/SSEAlgorithm": "aws:kms"}, {SSE: {"SSEAlgorithm": "AES256"}}),
    # Calls as a role
    Case("HP-PERM-001", BASE, {f"{QUEUE}/Action/0": REMOVED}, {f"{QUEUE}/Action": "sqs:*"}),
    Case("HP-PERM-001", BASE, {"Role/Policies/0/PolicyDocument/Statement/1": REMOVED}, {}),
    Case(
        "HP-DEP-003",
        BASE,
        {"Role/Policies": REMOVED, "Separate": SEPARATE},
        {"Role/Policies": REMOVED, "Separate": SEPARATE, "Mapping/.DependsOn": "Separate"},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_a_policy_that_is_not_known_may_let_the_service_in() -> None:
    unknown = {"Service": {"Ref": "Sender"}}
    changed = edited(BASE, {f"QueuePolicy/{DOCUMENT}/Principal": unknown})
    assert rules_of({**changed, "Parameters": {"Sender": {"Type": "String"}}}) == []


def test_a_macro_may_add_the_policy() -> None:
    changed = edited(BASE, {"Invoke": REMOVED})
    assert rules_of({**changed, "Transform": "Company::Permissions"}) == []


@pytest.mark.parametrize("outside", [False, True])
def test_a_policy_may_be_in_a_stack_outside_the_input(outside: bool) -> None:
    changed = edited(BASE, {"QueuePolicy": REMOVED, "Uploads/.DependsOn": "LogsPolicy"})
    output = {"Value": att("Queue"), **({"Export": {"Name": "queue"}} if outside else {})}
    named = edited(changed, {"Queue/QueueName": "uploads"})
    assert rules_of({**changed, "Outputs": {"Queue": output}}) == ([] if outside else ["HP-DLV-001"])
    assert rules_of({**named, "Outputs": {"Queue": output}}) == ([] if outside else ["HP-DLV-001"])


@pytest.mark.parametrize(("beside", "count"), [(True, 1), (False, 0)])
def test_a_named_queue_beside_its_sender_has_its_policy_there(beside: bool, count: int) -> None:
    arn = {"Fn::Sub": "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:uploads"}
    rule = {"ScheduleExpression": "rate(1 day)", "Targets": [{"Id": "a", "Arn": arn}]}
    queue = {"Queue": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "uploads"}}}
    sender = {"Rule": {"Type": "AWS::Events::Rule", "Properties": rule}}
    templates = [{**queue, **sender}] if beside else [queue, sender]
    assert len(refused(Model.of({f"{index}": {"Resources": one} for index, one in enumerate(templates)}))) == count


def flow(destination: str, resource: str, **more: Any) -> Template:
    properties = {
        "ResourceType": "VPC",
        "ResourceId": "vpc-0123456789abcdef0",
        "TrafficType": "ALL",
        "LogDestinationType": "s3",
        "LogDestination": {"Fn::Sub": destination},
    }
    writes = allow("s3:PutObject", {"Fn::Sub": resource}, Principal={"Service": "delivery.logs.amazonaws.com"}, **more)
    reads = allow("s3:GetBucketAcl", att("Logs"), Principal={"Service": "delivery.logs.amazonaws.com"})
    return {
        "Flow": {"Type": "AWS::EC2::FlowLog", "DependsOn": "LogsPolicy", "Properties": properties},
        "LogsPolicy/PolicyDocument/Statement/1": writes,
        "LogsPolicy/PolicyDocument/Statement/2": reads,
    }


def owned(acl: str) -> Template:
    return {"Condition": {"StringEquals": {"s3:x-amz-acl": acl}}}


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        (flow("${Logs.Arn}/flow", "${Logs.Arn}/flow/AWSLogs/${AWS::AccountId}/*"), []),
        (flow("${Logs.Arn}/flow/", "${Logs.Arn}/flow/*"), []),
        (flow("${Logs.Arn}", "${Logs.Arn}/AWSLogs/*"), []),
        (flow("${Logs.Arn}/flow", "${Logs.Arn}/AWSLogs/${AWS::AccountId}/*"), ["HP-DLV-002"]),
        (flow("${Logs.Arn}", "${Logs.Arn}/AWSLogs/*", **owned("bucket-owner-full-control")), []),
        (flow("${Logs.Arn}", "${Logs.Arn}/AWSLogs/*", **owned("private")), ["HP-DLV-002"]),
    ],
)
def test_flow_logs_lie_behind_their_prefix_and_are_the_owners(changes: Template, rules: list[str]) -> None:
    assert rules_of(edited(BASE, changes)) == rules


@pytest.mark.parametrize(
    ("group", "service", "name", "rules"),
    [
        ("/aws/events/jobs", "events.amazonaws.com", "/aws/events/jobs", []),
        ("/aws/events/others", "events.amazonaws.com", "/aws/events/jobs", ["HP-DLV-002"]),
        ("/aws/events/others", "events.amazonaws.com", {"Ref": "Name"}, []),
        ("/aws/events/others", "route53.amazonaws.com", "/aws/events/jobs", []),
    ],
)
def test_a_policy_for_another_log_group_lets_nobody_into_this_one(group: str, service: str, name: Any, rules: list[str]) -> None:
    lines_of = f"arn:aws:logs:${{AWS::Region}}:${{AWS::AccountId}}:log-group:{group}:*"
    statement = allow(["logs:CreateLogStream", "logs:PutLogEvents"], lines_of, Principal={"Service": service})
    document = {"Fn::Sub": json.dumps({"Version": "2012-10-17", "Statement": [statement]})}
    changes = {
        "Lines": {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": name, "RetentionInDays": 30}},
        "LinesPolicy": {"Type": "AWS::Logs::ResourcePolicy", "Properties": {"PolicyName": "journal", "PolicyDocument": document}},
        "Changes/Targets/2": {
            "Id": "lines",
            "Arn": {"Fn::Sub": "arn:aws:logs:${AWS::Region}:${AWS::AccountId}:log-group:${Lines}"},
        },
    }
    assert rules_of({**edited(BASE, changes), "Parameters": {"Name": {"Type": "String"}}}) == rules


def test_a_bucket_for_flow_logs_is_looked_at_first() -> None:
    changes = {key: value for key, value in flow("${Logs.Arn}", "${Logs.Arn}/AWSLogs/*").items() if not key.endswith("/2")}
    assert rules_of(edited(BASE, changes)) == ["HP-DLV-002"]


def test_actions_of_another_service_in_the_policy_of_a_key_are_one_mistake() -> None:
    found = findings(edited(BASE, {"Key/KeyPolicy/Statement/1/Action": ["sns:Publish"]}))
    assert [one.rule for one in found if one.resource == "Key"] == ["HP-KEY-002"]


def test_the_permission_for_the_source_is_the_wrong_one() -> None:
    """Another rule has a permission for the right service."""
    nightly = {"ScheduleExpression": "rate(1 day)", "Targets": [{"Id": "function", "Arn": att("Function")}]}
    other = {
        "Night": {"Type": "AWS::Events::Rule", "Properties": nightly},
        "NightInvoke": permission("events.amazonaws.com", att("Night")),
    }
    assert rules_of(edited(BASE, other)) == []
    (found,) = findings(edited(BASE, {**other, "Invoke/Principal": "sns.amazonaws.com"}))
    assert (found.rule, found.resource) == ("HP-DLV-002", "Invoke")
