"""Calls of state machines and schedules as their roles."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.api_calls import api_called
from hyperpod_constructs.analysis.state_machines import definition, states
from hyperpod_constructs.templates.values import ABSENT, shown
from tests.templates.models import by_id, model_of

Calls = set[tuple[tuple[str, ...], object]]

THINGS = """
    Role: {Type: AWS::IAM::Role}, Queue: {Type: AWS::SQS::Queue}, Function: {Type: AWS::Lambda::Function},"""


def calls(resources: str) -> Calls:
    """What is done, and on what."""
    model = model_of(f"{{Resources: {{{THINGS} {resources}}}}}")
    return {(one.task.actions, shown(one.arn)) for one in api_called(model)}


def task(resource: str, **parameters: Any) -> dict[str, Any]:
    return {"Type": "Task", "Resource": resource, "Parameters": parameters, "End": True}


def machine(states: dict[str, Any], substitutions: str = "{}") -> str:
    text = json.dumps(json.dumps({"StartAt": next(iter(states)), "States": states}))
    return f"""Machine: {{Type: AWS::StepFunctions::StateMachine, Properties: {{
      RoleArn: !GetAtt Role.Arn, DefinitionString: {text}, DefinitionSubstitutions: {substitutions}}}}}"""


RULE = ("events:PutTargets", "events:PutRule", "events:DescribeRule")


def rule(name: str) -> tuple[tuple[str, ...], str]:
    return RULE, f"arn:aws:events:${{?}}:${{?}}:rule/{name}"


@pytest.mark.parametrize(
    ("state", "substitutions", "expected"),
    [
        (
            task("arn:aws:states:::sqs:sendMessage", QueueUrl="${Url}"),
            "{Url: !Ref Queue}",
            {(("sqs:SendMessage",), "${Queue.Arn}")},
        ),
        (task("arn:aws:states:::sqs:sendMessage", **{"QueueUrl.$": "$.url"}), "{}", {(("sqs:SendMessage",), "${?}")}),
        (task("arn:aws:states:::aws-sdk:ec2:stopInstances"), "{}", {(("ec2:StopInstances",), "${?}")}),
        (task("arn:aws:states:::aws-sdk:sts:getCallerIdentity"), "{}", set()),
        (task("arn:aws:states:::aws-sdk:nothing:doIt"), "{}", set()),
        (task("${Arn}"), "{Arn: !GetAtt Function.Arn}", {(("lambda:InvokeFunction",), "${Function.Arn}")}),
        ({**task("${Arn}"), "Type": "Pass"}, "{Arn: !GetAtt Function.Arn}", set()),
    ],
)
def test_a_task_is_a_call(state: dict[str, Any], substitutions: str, expected: Calls) -> None:
    assert calls(machine({"a": state}, substitutions)) == expected


def test_who_waits_for_a_task_asks_or_is_told() -> None:
    batch = task("arn:aws:states:::batch:submitJob.sync", JobQueue="${?}")
    assert calls(machine({"a": batch})) == {(("batch:SubmitJob",), "${?}"), rule("StepFunctionsGetEventsForBatchJobsRule")}
    glue = task("arn:aws:states:::glue:startJobRun.sync", JobName="curate")
    waits = (("glue:GetJobRun", "glue:GetJobRuns", "glue:BatchStopJobRun"), "${?}")
    found = calls(machine({"a": glue}))
    assert waits in found
    assert len(found) == 2
    assert waits not in calls(machine({"a": {**glue, "Resource": "arn:aws:states:::glue:startJobRun"}}))


def test_states_are_found_in_branches_and_maps() -> None:
    inner = {"StartAt": "in", "States": {"in": task("arn:aws:states:::sqs:sendMessage")}}
    whole = {
        "fork": {"Type": "Parallel", "Branches": [inner, inner]},
        "each": {"Type": "Map", "ItemProcessor": inner},
        "old": {"Type": "Map", "Iterator": inner},
    }
    found = by_id(model_of(f"{{Resources: {{{THINGS} {machine(whole)}}}}}"), "Machine")
    assert [one.path for one in states(definition(found)) if one.name == "in"] == [
        ("States", "fork", "Branches", 0, "States", "in"),
        ("States", "fork", "Branches", 1, "States", "in"),
        ("States", "each", "ItemProcessor", "States", "in"),
        ("States", "old", "Iterator", "States", "in"),
    ]


def schedule(arn: str, text: str = "{}") -> str:
    return f"""Nightly: {{Type: AWS::Scheduler::Schedule, Properties: {{Target: {{
      Arn: {arn}, RoleArn: !GetAtt Role.Arn, Input: {json.dumps(text)}}}}}}}"""


def test_a_schedule_makes_the_call_of_its_arn() -> None:
    stop = "'arn:aws:scheduler:::aws-sdk:rds:stopDBCluster'"
    assert calls(schedule(stop, '{"DbClusterIdentifier": "world"}')) == {
        (("rds:StopDBCluster",), "arn:aws:rds:${?}:${?}:cluster:world")
    }
    assert calls(schedule(stop)) == {(("rds:StopDBCluster",), "${?}")}
    assert calls(schedule("!GetAtt Queue.Arn")) == set()


def test_substitutions_are_filled_anywhere_in_a_definition() -> None:
    state = {**task("arn:aws:states:::sqs:sendMessage"), "TimeoutSeconds": 5, "Retry": [{"ErrorEquals": ["${Kind}", 1]}]}
    model = model_of(f"{{Resources: {{{THINGS} {machine({'a': state}, '{Kind: Lost}')}}}}}")
    (found,) = states(definition(by_id(model, "Machine")))
    assert found.value["Retry"] == ({"ErrorEquals": ("Lost", 1)},)
    assert found.value["TimeoutSeconds"] == 5


def test_machines_in_machines_end_somewhere() -> None:
    inner: dict[str, Any] = {"StartAt": "s", "States": {"s": task("arn:aws:states:::sqs:sendMessage")}}
    for _ in range(12):
        inner = {"StartAt": "s", "States": {"s": {"Type": "Map", "ItemProcessor": inner}}}
    model = model_of(f"{{Resources: {{{THINGS} {machine(inner['States'])}}}}}")
    assert len(list(states(definition(by_id(model, "Machine"))))) == 7


CODE = "import boto3\\ndef handler(event, context):\\n    boto3.client('sqs').send_message(QueueUrl='q', MessageBody='x')\\n"


@pytest.mark.parametrize(("role", "expected"), [("Role: !GetAtt Role.Arn,", {(("sqs:SendMessage",), "${?}")}), ("", set())])
def test_code_calls_as_the_role_of_its_function(role: str, expected: Calls) -> None:
    properties = f'{role} Runtime: python3.12, Code: {{ZipFile: "{CODE}"}}'
    assert calls(f"Caller: {{Type: AWS::Lambda::Function, Properties: {{{properties}}}}}") == expected


TASKS = """Other: {Type: AWS::IAM::Role},
    Tasks: {Type: AWS::ECS::TaskDefinition, Properties: {TaskRoleArn: !GetAtt Function.Arn, ExecutionRoleArn: !GetAtt Other.Arn}},
    """


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (task("arn:aws:states:::sagemaker:createTrainingJob", RoleArn="${Other}"), {"${Other.Arn}"}),
        (task("arn:aws:states:::sagemaker:createTrainingJob", **{"RoleArn.$": "$.role"}), set()),
        (task("arn:aws:states:::sagemaker:createTransformJob", RoleArn="${Other}"), set()),
        (task("arn:aws:states:::ecs:runTask", TaskDefinition="${Tasks}"), {"${Other.Arn}"}),
        (task("arn:aws:states:::ecs:runTask", TaskDefinition="t", Overrides={"TaskRoleArn": "${Other}"}), {"${Other.Arn}"}),
    ],
)
def test_who_starts_a_task_hands_it_its_role(state: dict[str, Any], expected: set[str]) -> None:
    found = calls(f"{TASKS} {machine({'a': state}, '{Other: !GetAtt Other.Arn, Tasks: !Ref Tasks}')}")
    assert {on for names, on in found if names == ("iam:PassRole",)} == expected


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"TableName": "runs"}, "table/runs"),
        ({"TableName": "runs", "IndexName": "by-node"}, "table/runs/index/by-node"),
        ({"IndexName": "by-node"}, "table/${?}/index/by-node"),
    ],
)
def test_a_query_is_on_its_index(parameters: dict[str, str], expected: str) -> None:
    state = task("arn:aws:states:::aws-sdk:dynamodb:query", **parameters)
    assert calls(machine({"a": state})) == {(("dynamodb:Query",), f"arn:aws:dynamodb:${{?}}:${{?}}:{expected}")}


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("put_object(Bucket='a', Key='b')", "absent"),
        ("put_object(Bucket='a', Key='b', ServerSideEncryption='aws:kms')", "aws:kms"),
        ("put_object(Bucket='a', Key='b', **event)", "unknown"),
        ("upload_fileobj(event, 'a', 'b')", "absent"),
        ("upload_fileobj(event, 'a', 'b', event)", "unknown"),
        ("upload_file(Filename='f', Bucket='a', Key='b', ExtraArgs=event)", "unknown"),
    ],
)
def test_an_object_has_the_encryption_that_its_call_says(call: str, expected: str) -> None:
    code = f"import boto3\ndef handler(event, context):\n    boto3.client('s3').{call}\n"
    function = f"""Writer: {{Type: AWS::Lambda::Function, Properties: {{Runtime: python3.13, Handler: index.handler,
      Role: !GetAtt Role.Arn, Code: {{ZipFile: {json.dumps(code)}}}}}}}"""
    (found,) = {id(one): one for one in api_called(model_of(f"{{Resources: {{{THINGS} {function}}}}}"))}.values()
    given = found.task.context.get("s3:x-amz-server-side-encryption", "unknown")
    assert given == (ABSENT if expected == "absent" else expected)


@pytest.mark.parametrize(
    "copying",
    [
        "copy_object(Bucket='b', Key='k', CopySource={})",
        "copy(CopySource={}, Bucket='b', Key='k')",
        "copy({}, 'b', 'k')",
        "upload_part_copy(Bucket='b', Key='k', CopySource={}, PartNumber=1, UploadId='u')",
    ],
)
@pytest.mark.parametrize(
    ("source", "read"),
    [
        ('{"Bucket": "others", "Key": "a/b"}', "arn:aws:s3:::others/a/b"),
        ('{"Bucket": "others", "Key": event["key"]}', "arn:aws:s3:::others/${?}"),
        ('"others/a/b"', "arn:aws:s3:::others/a/b"),
        ('{"Bucket": "others", "Key": "a", "VersionId": "1"}', None),
        ('{"Bucket": event["bucket"], "Key": "a"}', None),
        ('event["source"]', None),
        ('"/others/a"', None),
        ('"others/a?versionId=1"', None),
        ('"arn:aws:s3:us-west-2:123456789012:accesspoint/mine/object/a"', None),
    ],
)
def test_a_copy_reads_its_source(copying: str, source: str, read: str | None) -> None:
    code = f"import boto3\ndef h(event, context):\n boto3.client('s3').{copying.format(source)}"
    function = {"Role": {"Fn::GetAtt": ["Role", "Arn"]}, "Runtime": "python3.13", "Handler": "index.h", "Code": {"ZipFile": code}}
    found = calls(f"Own: {json.dumps({'Type': 'AWS::Lambda::Function', 'Properties': function})}")
    assert found == {(("s3:PutObject",), "arn:aws:s3:::b/k"), *([(("s3:GetObject",), read)] if read else [])}
