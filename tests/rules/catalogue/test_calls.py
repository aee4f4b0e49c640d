"""Calls of AWS by services, state machines, schedules and code of functions, as the roles that the template gives them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import Template, findings
from tests.rules.catalogue.test_deliveries import KEPT, att

PYTHON = """\
import os
import boto3

table = boto3.resource("dynamodb").Table(os.environ["TABLE"])
queue = boto3.client("sqs")

def handler(event, context):
    table.put_item(Item={"Name": event["name"]})
    queue.send_message(QueueUrl=os.environ["QUEUE"], MessageBody=event["name"])
"""
JAVASCRIPT = """\
const { SQSClient, SendMessageCommand } = require("@aws-sdk/client-sqs");
const client = new SQSClient({});
exports.handler = async (event) => client.send(new SendMessageCommand({ QueueUrl: process.env.QUEUE, MessageBody: "a" }));
"""
STEPS = json.dumps(
    {
        "StartAt": "Note",
        "States": {
            "Note": {
                "Type": "Task",
                "Resource": "arn:aws:states:::lambda:invoke",
                "Parameters": {"FunctionName": "${Function}"},
                "Next": "Tell",
            },
            "Tell": {
                "Type": "Task",
                "Resource": "arn:aws:states:::sqs:sendMessage",
                "Parameters": {"QueueUrl": "${Queue}", "MessageBody": "done"},
                "End": True,
            },
        },
    }
)


def allowing(*statements: tuple[str | list[str], Any]) -> list[dict[str, Any]]:
    """The inline policy of a role."""
    written = [{"Effect": "Allow", "Action": actions, "Resource": resource} for actions, resource in statements]
    return [{"PolicyName": "own", "PolicyDocument": {"Version": "2012-10-17", "Statement": written}}]


def role(service: str, *statements: tuple[str | list[str], Any], condition: dict[str, Any] | None = None) -> dict[str, Any]:
    trust: dict[str, Any] = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    if condition is not None:
        trust["Condition"] = condition
    document = {"Version": "2012-10-17", "Statement": [trust]}
    lines = {"ManagedPolicyArns": ["arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"]}
    properties = {"AssumeRolePolicyDocument": document, **(lines if service == "lambda.amazonaws.com" else {})}
    return {"Type": "AWS::IAM::Role", "Properties": {**properties, "Policies": allowing(*statements)}}


NAMED = {"TABLE": {"Ref": "Names"}, "QUEUE": {"Ref": "Queue"}}
CALLS: Template = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "Names": {
            "Type": "AWS::DynamoDB::Table",
            **KEPT,
            "Properties": {
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "Name", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "Name", "KeyType": "HASH"}],
            },
        },
        "Queue": {"Type": "AWS::SQS::Queue", "Properties": {}},
        "Function": {
            "Type": "AWS::Lambda::Function",
            "Properties": {
                "Runtime": "python3.13",
                "Handler": "index.handler",
                "Code": {"ZipFile": PYTHON},
                "Role": att("FunctionRole", "Arn"),
                "Environment": {"Variables": NAMED},
            },
        },
        "FunctionRole": role(
            "lambda.amazonaws.com", ("dynamodb:PutItem", att("Names", "Arn")), ("sqs:SendMessage", att("Queue", "Arn"))
        ),
        "Steps": {
            "Type": "AWS::StepFunctions::StateMachine",
            "Properties": {
                "DefinitionString": STEPS,
                "DefinitionSubstitutions": {"Function": att("Function", "Arn"), "Queue": {"Ref": "Queue"}},
                "RoleArn": att("StepsRole", "Arn"),
            },
        },
        "StepsRole": role(
            "states.amazonaws.com", ("lambda:InvokeFunction", att("Function", "Arn")), ("sqs:SendMessage", att("Queue", "Arn"))
        ),
        "Nightly": {
            "Type": "AWS::Scheduler::Schedule",
            "Properties": {
                "ScheduleExpression": "rate(1 days)",
                "FlexibleTimeWindow": {"Mode": "OFF"},
                "Target": {"Arn": {"Ref": "Steps"}, "RoleArn": att("NightlyRole", "Arn")},
            },
        },
        "NightlyRole": role("scheduler.amazonaws.com", ("states:StartExecution", {"Ref": "Steps"})),
        "Trained": {"Type": "AWS::S3::Bucket", **KEPT, "Properties": {}},
        "Build": {
            "Type": "AWS::CodeBuild::Project",
            "Properties": {
                "ServiceRole": att("BuildRole", "Arn"),
                "Artifacts": {"Type": "S3", "Location": {"Ref": "Trained"}},
                "Environment": {
                    "Type": "LINUX_CONTAINER",
                    "ComputeType": "BUILD_GENERAL1_SMALL",
                    "Image": "aws/codebuild/standard:7.0",
                },
                "Source": {"Type": "NO_SOURCE", "BuildSpec": "version: 0.2"},
                "LogsConfig": {"CloudWatchLogs": {"Status": "DISABLED"}},
            },
        },
        "BuildRole": role("codebuild.amazonaws.com", ("s3:PutObject", {"Fn::Sub": "${Trained.Arn}/*"})),
    },
}
OF_FUNCTION, OF_STEPS = "FunctionRole/Policies/0/PolicyDocument/Statement", "StepsRole/Policies/0/PolicyDocument/Statement"
OF_NIGHTLY, OF_BUILD = "NightlyRole/Policies/0/PolicyDocument/Statement/0", "BuildRole/Policies/0/PolicyDocument/Statement/0"
IN_JAVASCRIPT = {"Function/Runtime": "nodejs22.x", "Function/Code/ZipFile": JAVASCRIPT}
OF_SENDER = "NightlyRole/AssumeRolePolicyDocument/Statement/0/Condition"
SCHEDULES = {"Fn::Sub": "arn:aws:scheduler:${AWS::Region}:${AWS::AccountId}:schedule-group/default"}
RULES = {"Fn::Sub": "arn:aws:events:${AWS::Region}:${AWS::AccountId}:rule/nightly"}

CASES = [
    Case("HP-PERM-002", CALLS, {f"{OF_FUNCTION}/0/Action": "dynamodb:GetItem"}, {f"{OF_FUNCTION}/0/Action": "dynamodb:Put*"}),
    Case("HP-PERM-002", CALLS, {f"{OF_FUNCTION}/1/Resource": "arn:aws:sqs:*:*:other"}, {f"{OF_FUNCTION}/1/Resource": "*"}),
    Case("HP-PERM-002", CALLS, {**IN_JAVASCRIPT, f"{OF_FUNCTION}/1/Action": "sqs:ReceiveMessage"}, IN_JAVASCRIPT),
    Case("HP-PERM-002", CALLS, {f"{OF_STEPS}/0/Action": "lambda:InvokeAsync"}, {f"{OF_STEPS}/0/Action": "lambda:*"}),
    Case("HP-PERM-002", CALLS, {f"{OF_STEPS}/1/Action": "sqs:SendMessageBatch"}, {f"{OF_STEPS}/1/Resource": "*"}),
    Case("HP-PERM-002", CALLS, {f"{OF_NIGHTLY}/Action": "states:StopExecution"}, {f"{OF_NIGHTLY}/Resource": "*"}),
    Case("HP-PERM-002", CALLS, {f"{OF_BUILD}/Resource": att("Trained", "Arn")}, {"Build/Artifacts": {"Type": "NO_ARTIFACTS"}}),
    Case(
        "HP-ROL-001",
        CALLS,
        {OF_SENDER: {"ArnLike": {"aws:SourceArn": RULES}}},
        {OF_SENDER: {"ArnLike": {"aws:SourceArn": SCHEDULES}}},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_the_finding_is_at_the_role_and_names_the_caller_and_the_action() -> None:
    (found,) = findings(edited(CALLS, {f"{OF_STEPS}/0/Action": "lambda:InvokeAsync"}))
    assert found.resource == "StepsRole"
    assert "lambda:InvokeFunction" in found.message


def test_a_variable_that_names_what_the_role_may_not_touch() -> None:
    """Where the code is not in the template, what it is told of is what it uses."""
    elsewhere = {"Function/Code": {"S3Bucket": "code", "S3Key": "handler.zip"}}
    (found,) = findings(edited(CALLS, {**elsewhere, f"{OF_FUNCTION}/0": REMOVED}))
    assert (found.rule, found.resource) == ("HP-PERM-004", "FunctionRole")
    assert "Names" in found.message
    assert findings(edited(CALLS, elsewhere)) == []


HANDLER = "def handler(event, context):\n    pass\n"


@pytest.mark.parametrize("code", [f"import boto3\nboto3.client('personalize').nothing()\n{HANDLER}", "boto3\n" * 20_000 + HANDLER])
def test_code_that_says_nothing_known_has_no_finding(code: str) -> None:
    assert findings(edited(CALLS, {"Function/Code/ZipFile": code, f"{OF_FUNCTION}/1/Action": "sqs:*"})) == []


@pytest.mark.parametrize(("objects", "found"), [("kept/*", []), ("keep/*", ["HP-PERM-002"])])
def test_code_writes_an_object_that_its_role_may_write(objects: str, found: list[str]) -> None:
    call = 'boto3.client("s3").put_object(Bucket="store-of-a", Key="kept/a", Body=b"")'
    code = f"import boto3\ndef handler(event, context):\n    {call}\n"
    function = {"Runtime": "python3.12", "Handler": "index.handler", "Role": att("Role"), "Code": {"ZipFile": code}}
    writer = role("lambda.amazonaws.com", ("s3:PutObject", f"arn:aws:s3:::store-of-a/{objects}"))
    template = {"Resources": {"Role": writer, "Writer": {"Type": "AWS::Lambda::Function", "Properties": function}}}
    assert [one.rule for one in findings(template)] == found


@pytest.mark.parametrize(("namespace", "found"), [("Fairy", ["HP-PERM-002"]), ("Ferry", [])])
def test_code_writes_metrics_into_the_namespace_of_its_permission(namespace: str, found: list[str]) -> None:
    call = 'boto3.client("cloudwatch").put_metric_data(Namespace="Ferry", MetricData=[])'
    code = f"import boto3\ndef handler(event, context):\n    {call}\n"
    allowed = {"Effect": "Allow", "Action": "cloudwatch:PutMetricData", "Resource": "*"}
    limited = {**allowed, "Condition": {"StringEquals": {"cloudwatch:namespace": namespace}}}
    writer = role("lambda.amazonaws.com")
    policies = [{"PolicyName": "own", "PolicyDocument": {"Version": "2012-10-17", "Statement": [limited]}}]
    function = {"Runtime": "python3.12", "Handler": "index.handler", "Role": att("Role"), "Code": {"ZipFile": code}}
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {
            "Role": {**writer, "Properties": {**writer["Properties"], "Policies": policies}},
            "Writer": {"Type": "AWS::Lambda::Function", "Properties": function},
        },
    }
    assert [one.rule for one in findings(template)] == found


@pytest.mark.parametrize(("named", "found"), [("FunctionRole", []), ("StepsRole", ["HP-PERM-002"])])
def test_a_policy_of_the_queue_that_names_the_role_is_enough(named: str, found: list[str]) -> None:
    statement = {"Effect": "Allow", "Principal": {"AWS": att(named)}, "Action": "sqs:SendMessage", "Resource": att("Queue")}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    policy = {"Type": "AWS::SQS::QueuePolicy", "Properties": {"Queues": [{"Ref": "Queue"}], "PolicyDocument": document}}
    changes = {"Policy": policy, f"{OF_FUNCTION}/1": REMOVED}
    assert [one.rule for one in findings(edited(CALLS, changes), rules="HP-PERM")] == found


ALERTS = "arn:aws:sns:us-west-2:123456789012:alerts"
TELLING = f'import boto3\ndef handler(event, context):\n    boto3.client("sns").publish(TopicArn="{ALERTS}", Message="b")\n'
WATCHED: Template = {
    "Resources": {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": True}},
        "Inner": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24"}},
        "Group": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {
                "GroupDescription": "x",
                "VpcId": {"Ref": "Vpc"},
                "SecurityGroupIngress": [{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "10.0.0.0/16"}],
            },
        },
        "ForTopics": {
            "Type": "AWS::EC2::VPCEndpoint",
            "Properties": {
                "VpcId": {"Ref": "Vpc"},
                "ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}.sns"},
                "VpcEndpointType": "Interface",
                "PrivateDnsEnabled": True,
                "SubnetIds": [{"Ref": "Inner"}],
                "SecurityGroupIds": [{"Ref": "Group"}],
            },
        },
        "Left": {"Type": "AWS::SQS::Queue"},
        "WatchRole": role("lambda.amazonaws.com", ("sqs:SendMessage", att("Left")), ("sns:Publish", "*")),
        "Watch": {
            "Type": "AWS::Lambda::Function",
            "Properties": {
                "Runtime": "python3.13",
                "Handler": "index.handler",
                "Role": att("WatchRole"),
                "VpcConfig": {"SubnetIds": [{"Ref": "Inner"}], "SecurityGroupIds": [{"Ref": "Group"}]},
                "DeadLetterConfig": {"TargetArn": att("Left")},
                "Code": {"ZipFile": TELLING},
            },
        },
    }
}
"""A function in a network with one way out, for topics."""


def of_all(action: str) -> Template:
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", "Action": action, "Resource": "*"}]}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []),
        ({"Watch/DeadLetterConfig": REMOVED}, ["Watch"]),
        ({"Watch/Code/ZipFile": PYTHON}, ["Watch"]),
        ({"ForTopics/PolicyDocument": of_all("sns:Subscribe")}, ["ForTopics"]),
    ],
)
def test_a_function_reaches_what_its_code_calls_and_lambda_sends_what_is_left(changes: Template, found: list[str]) -> None:
    assert [one.resource for one in findings(edited(WATCHED, changes), rules="HP-REACH")] == found


def test_lambda_sends_on_what_a_source_gives_and_a_function_fails_at() -> None:
    """It sends from its own network, as the role of the function."""
    left = {"OnFailure": {"Destination": att("Left")}}
    source = {"FunctionName": {"Ref": "Watch"}, "EventSourceArn": "arn:aws:kinesis:us-west-2:123456789012:stream/a"}
    mapped = {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {**source, "DestinationConfig": left}}
    assert findings(edited(WATCHED, {"Watch/DeadLetterConfig": REMOVED, "Source": mapped}), rules="HP-REACH") == []


@pytest.mark.parametrize(
    ("key", "found"),
    [("arn:aws:kms:us-west-2:123456789012:alias/aws/s3", []), ("arn:aws:kms:us-west-2:123456789012:key/a", ["Role"])],
)
def test_a_key_of_aws_takes_no_permission(key: str, found: list[str]) -> None:
    bucket = ["s3:AbortMultipartUpload", "s3:GetBucketLocation", "s3:GetObject", "s3:ListBucket", "s3:PutObject"]
    written = {
        "BucketARN": "arn:aws:s3:::team-lines",
        "RoleARN": att("Role"),
        "EncryptionConfiguration": {"KMSEncryptionConfig": {"AWSKMSKeyARN": key}},
    }
    stream = {"Type": "AWS::KinesisFirehose::DeliveryStream", "Properties": {"ExtendedS3DestinationConfiguration": written}}
    template = {
        "Resources": {"Role": role("firehose.amazonaws.com", ([*bucket, "s3:ListBucketMultipartUploads"], "*")), "Stream": stream}
    }
    assert [one.resource for one in findings(template, rules="HP-PERM")] == found


@pytest.mark.parametrize(("acl", "found"), [("LogDeliveryWrite", []), ("Private", ["LinesPolicy"])])
def test_the_acl_of_a_bucket_lets_the_lines_of_others_in(acl: str, found: list[str]) -> None:
    deny = {"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": att("Lines")}
    over = {**deny, "Condition": {"Bool": {"aws:SecureTransport": "false"}}}
    owners = {"Rules": [{"ObjectOwnership": "ObjectWriter"}]}
    template = {
        "Resources": {
            "Lines": {"Type": "AWS::S3::Bucket", **KEPT, "Properties": {"AccessControl": acl, "OwnershipControls": owners}},
            "LinesPolicy": {
                "Type": "AWS::S3::BucketPolicy",
                "Properties": {"Bucket": {"Ref": "Lines"}, "PolicyDocument": {"Version": "2012-10-17", "Statement": [over]}},
            },
            "Data": {
                "Type": "AWS::S3::Bucket",
                **KEPT,
                "Properties": {"LoggingConfiguration": {"DestinationBucketName": {"Ref": "Lines"}}},
            },
        }
    }
    assert [one.resource for one in findings(template, rules="HP-DLV")] == found


def past(resource: str, **condition: Any) -> Template:
    """A policy of an endpoint for one topic."""
    document = of_all("sns:Publish")
    document["Statement"][0].update(Resource=resource, **condition)
    return document


OF_PUBLISHING = "WatchRole/Policies/0/PolicyDocument/Statement/1/Condition"
PAST_IT = {"StringEquals": {"aws:SourceVpce": {"Ref": "ForTopics"}}}
IN_VPC = {"WatchRole/ManagedPolicyArns": ["arn:aws:iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole"]}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"ForTopics/PolicyDocument": past(ALERTS)}, []),
        ({"ForTopics/PolicyDocument": past(f"{ALERTS}-of-others")}, ["ForTopics"]),
        ({OF_PUBLISHING: PAST_IT}, []),
        ({OF_PUBLISHING: {"StringEquals": {"aws:SourceVpc": "vpc-0a"}}}, ["WatchRole"]),
        ({OF_PUBLISHING: PAST_IT, "Watch/VpcConfig": REMOVED}, ["WatchRole"]),
    ],
)
def test_a_function_calls_from_its_place_in_the_network(changes: Template, found: list[str]) -> None:
    assert [one.resource for one in findings(edited(WATCHED, {**IN_VPC, **changes}))] == found


STORE = "store-of-jobs"
TRAIN = {
    "TrainingJobName": "a",
    "RoleArn": "${JobRole.Arn}",
    "OutputDataConfig": {"S3OutputPath": f"s3://{STORE}/results"},
    "InputDataConfig": [{"DataSource": {"S3DataSource": {"S3Uri": f"s3://{STORE}/sets/"}}}],
}
STARTS = {"Type": "Task", "Resource": "arn:aws:states:::sagemaker:createTrainingJob", "Parameters": TRAIN, "End": True}
JOBS: Template = {
    "Resources": {
        "JobRole": role(
            "sagemaker.amazonaws.com",
            ("s3:PutObject", f"arn:aws:s3:::{STORE}/results/*"),
            ("s3:GetObject", f"arn:aws:s3:::{STORE}/sets/*"),
            ("s3:ListBucket", f"arn:aws:s3:::{STORE}"),
        ),
        "StartRole": role(
            "states.amazonaws.com", (["sagemaker:CreateTrainingJob", "sagemaker:AddTags"], "*"), ("iam:PassRole", att("JobRole"))
        ),
        "Start": {
            "Type": "AWS::StepFunctions::StateMachine",
            "Properties": {
                "RoleArn": att("StartRole"),
                "DefinitionString": {"Fn::Sub": json.dumps({"StartAt": "Train", "States": {"Train": STARTS}})},
            },
        },
    }
}
OF_JOB = "JobRole/Policies/0/PolicyDocument/Statement"


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({}, None),
        ({f"{OF_JOB}/0/Resource": f"arn:aws:s3:::{STORE}/sets/*"}, "s3:PutObject"),
        ({f"{OF_JOB}/1/Resource": f"arn:aws:s3:::{STORE}/set/*"}, "s3:GetObject"),
        ({f"{OF_JOB}/2": REMOVED}, "s3:ListBucket"),
    ],
)
def test_the_role_of_a_job_may_do_what_the_job_does(changes: Template, missing: str | None) -> None:
    found = [(one.resource, one.message) for one in findings(edited(JOBS, changes), rules="HP-PERM")]
    assert [place for place, _ in found] == ([] if missing is None else ["JobRole"])
    assert all("the jobs of Start may not" in message and str(missing) in message for _, message in found)


@pytest.mark.parametrize(("condition", "found"), [("StringNotEquals", ["HP-PERM-002"]), ("StringEquals", [])])
def test_services_come_past_no_endpoint_of_the_network(condition: str, found: list[str]) -> None:
    """Firehose writes from a network of AWS."""
    denial = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:PutObject",
        "Resource": f"arn:aws:s3:::{STORE}/*",
        "Condition": {condition: {"aws:SourceVpce": "vpce-0123456789abcdef0"}},
    }
    document = {"Version": "2012-10-17", "Statement": [denial]}
    rights = ["s3:AbortMultipartUpload", "s3:GetBucketLocation", "s3:GetObject", "s3:ListBucket", "s3:PutObject"]
    place = {"BucketARN": f"arn:aws:s3:::{STORE}", "RoleARN": att("PipeRole")}
    template = {
        "Resources": {
            "PipeRole": role("firehose.amazonaws.com", ([*rights, "s3:ListBucketMultipartUploads"], "*")),
            "Policy": {"Type": "AWS::S3::BucketPolicy", "Properties": {"Bucket": STORE, "PolicyDocument": document}},
            "Pipe": {"Type": "AWS::KinesisFirehose::DeliveryStream", "Properties": {"S3DestinationConfiguration": place}},
        }
    }
    assert [one.rule for one in findings(template, rules="HP-PERM")] == found


def trained(*rights: tuple[str | list[str], Any]) -> Template:
    """A pipeline with a step that trains as the role of jobs."""
    step = {"Name": "Train", "Type": "Training", "Arguments": TRAIN}
    body = {"Fn::Sub": json.dumps({"Version": "2020-12-01", "Steps": [step]})}
    given = {"PipelineName": "a", "RoleArn": att("RunRole"), "PipelineDefinition": {"PipelineDefinitionBody": body}}
    run = {"RunRole": role("sagemaker.amazonaws.com", *rights), "Run": {"Type": "AWS::SageMaker::Pipeline", "Properties": given}}
    return {"Resources": {"JobRole": JOBS["Resources"]["JobRole"], **run}}


@pytest.mark.parametrize(
    ("rights", "missing"),
    [
        ([("sagemaker:CreateTrainingJob", "*"), ("iam:PassRole", att("JobRole"))], None),
        ([("sagemaker:CreateTrainingJob", "*")], "iam:PassRole"),
        ([("sagemaker:CreateProcessingJob", "*"), ("iam:PassRole", att("JobRole"))], "sagemaker:CreateTrainingJob"),
    ],
)
def test_a_pipeline_may_do_its_steps(rights: list[tuple[str, Any]], missing: str | None) -> None:
    found = [(one.resource, one.message) for one in findings(trained(*rights), rules="HP-PERM")]
    assert [place for place, _ in found] == ([] if missing is None else ["RunRole"])
    assert all("do its step Train" in message and str(missing) in message for _, message in found)


def healing(role_of_document: Any, given: Any, *rights: tuple[str | list[str], Any]) -> Template:
    """A machine that starts an automation, which works as a role of its own."""
    state = {
        "Type": "Task",
        "Resource": "arn:aws:states:::aws-sdk:ssm:startAutomationExecution",
        "Parameters": {"DocumentName": "${Heal}", **({"Parameters": given} if given else {})},
        "End": True,
    }
    content = {
        "schemaVersion": "0.3",
        "assumeRole": role_of_document,
        "parameters": {"AutomationAssumeRole": {"type": "String", "default": ""}},
        "mainSteps": [{"name": "wait", "action": "aws:sleep", "inputs": {"Duration": "PT5M"}}],
    }
    machine = {
        "RoleArn": att("StartRole"),
        "DefinitionSubstitutions": {"Heal": {"Ref": "Heal"}, "Role": att("HealRole")},
        "Definition": {"StartAt": "Heal", "States": {"Heal": state}},
    }
    return {
        "Resources": {
            "HealRole": role("ssm.amazonaws.com", ("sagemaker:BatchRebootClusterNodes", "*")),
            "StartRole": role("states.amazonaws.com", ("ssm:StartAutomationExecution", "*"), *rights),
            "Heal": {"Type": "AWS::SSM::Document", "Properties": {"DocumentType": "Automation", "Content": content}},
            "Machine": {"Type": "AWS::StepFunctions::StateMachine", "Properties": machine},
        }
    }


BY_PARAMETER = ("{{ AutomationAssumeRole }}", {"AutomationAssumeRole": ["${Role}"]})


@pytest.mark.parametrize("way", [(att("HealRole"), None), BY_PARAMETER])
@pytest.mark.parametrize(("passed", "places"), [([("iam:PassRole", att("HealRole"))], []), ([], ["StartRole"])])
def test_who_starts_an_automation_hands_it_the_role(way: tuple[Any, Any], passed: list[tuple[str, Any]], places: list[str]) -> None:
    found = [(one.resource, one.message) for one in findings(healing(*way, *passed), rules="HP-PERM")]
    assert [place for place, _ in found] == places
    assert all("missing iam:PassRole on ${HealRole.Arn}" in message for _, message in found)
