"""What feeds functions and pipes, and what functions and machines write: filters, answers, keys of tables, packages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import Template, findings
from tests.rules.catalogue.text_bases import KEPT, att, function, may_send, resource

CODE = """
import os
import boto3

table = boto3.resource("dynamodb").Table(os.environ["TABLE"])


def handler(event, context):
    failed = []
    for record in event["Records"]:
        table.put_item(Item={"node": record["messageId"], "time": "now", "reason": "x"})
    table.update_item(Key={"node": "a", "time": "b"}, UpdateExpression="SET c = 1")
    return {"batchItemFailures": failed}
"""
STORE = {
    "StartAt": "Put",
    "States": {
        "Put": {
            "Type": "Task",
            "Resource": "arn:aws:states:::dynamodb:putItem",
            "Parameters": {"TableName": "${Table}", "Item": {"node": {"S.$": "$.node"}, "time": {"S": "now"}}},
            "End": True,
        }
    },
}
IMAGE = {"eventName": ["INSERT"], "dynamodb": {"NewImage": {"reason": {"S": ["disk"]}}}}


def template(of_queue: Any = None, of_table: Any = None, code: str = CODE, steps: Any = None, view: str = "NEW_IMAGE") -> Template:
    filters = [{"Pattern": json.dumps(of_queue or {"body": {"kind": ["resize"]}})}]
    stream = {"StartingPosition": "LATEST", "FilterCriteria": {"Filters": [{"Pattern": json.dumps(of_table or IMAGE)}]}}
    return {
        "Resources": {
            "Jobs": {**resource("AWS::SQS::Queue", VisibilityTimeout=60), **KEPT},
            "Nodes": {
                **resource(
                    "AWS::DynamoDB::Table",
                    BillingMode="PAY_PER_REQUEST",
                    AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("node", "time")],
                    KeySchema=[{"AttributeName": "node", "KeyType": "HASH"}, {"AttributeName": "time", "KeyType": "RANGE"}],
                    StreamSpecification={"StreamViewType": view},
                    PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
                ),
                **KEPT,
            },
            "Keep": function(code, Timeout=30, Environment={"Variables": {"TABLE": {"Ref": "Nodes"}}}),
            "FromJobs": resource(
                "AWS::Lambda::EventSourceMapping",
                EventSourceArn=att("Jobs"),
                FunctionName={"Ref": "Keep"},
                FunctionResponseTypes=["ReportBatchItemFailures"],
                FilterCriteria={"Filters": filters},
            ),
            "FromNodes": resource(
                "AWS::Lambda::EventSourceMapping", EventSourceArn=att("Nodes", "StreamArn"), FunctionName="other", **stream
            ),
            "Steps": resource(
                "AWS::StepFunctions::StateMachine",
                RoleArn="arn:aws:iam::123456789012:role/steps",
                DefinitionSubstitutions={"Table": {"Ref": "Nodes"}},
                Definition=steps or STORE,
            ),
        }
    }


def found(given: Template) -> list[str]:
    return [f"{one.resource}: {one.message}" for one in findings(given, rules="HP-TXT")]


def stored(**item: Any) -> dict[str, Any]:
    task = {**STORE["States"]["Put"], "Parameters": {"TableName": "${Table}", "Item": item}}  # type: ignore[index]
    return {**STORE, "States": {"Put": task}}


CORRECT = [
    template(),
    template(of_queue={"$or": [{"body": {"a": ["b"]}}, {"messageAttributes": {"c": {"stringValue": ["d"]}}}]}),
    template(of_table={"dynamodb": {"OldImage": {"reason": {"S": ["disk"]}}}}, view="NEW_AND_OLD_IMAGES"),
    template(of_table={"dynamodb": {"Keys": {"node": {"S": [{"prefix": "i-"}]}}}}, view="KEYS_ONLY"),
    template(of_table={"dynamodb": {"NewImage": {"tries": {"N": ["3"]}}}}),
    template(code=CODE.replace('"time": "now", ', "**record, ")),
    template(code="def handler(event, context):\n    print(event)\n"),
    template(code="def handler(event, context):\n    return {'seen': 1}\n"),
]
"""Filters, items and answers that are right, or not known."""


@pytest.mark.parametrize("given", CORRECT)
def test_what_is_right_or_not_known(given: Template) -> None:
    assert found(given) == []


def test_an_answer_about_failures_is_read() -> None:
    unread = edited(template(), {"FromJobs/FunctionResponseTypes": REMOVED})
    assert found(unread) == ["FromJobs: Keep answers batchItemFailures, and nothing reads it: failed messages count as done"]


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({}, True),
        ({"FromJobs/Enabled": True}, False),
        ({"FromJobs/Enabled": {"Ref": "On"}}, False),
        ({"Often/Targets/0/Arn": "arn:aws:sqs:us-west-2:123456789012:others"}, False),
        ({"Another": resource("AWS::Lambda::EventSourceMapping", EventSourceArn=att("Jobs"), FunctionName="other")}, False),
        ({"Reader": resource("AWS::Pipes::Pipe", Source=att("Jobs"), Target="arn:a", RoleArn="arn:b")}, False),
    ],
)
def test_a_source_of_events_that_is_off_leaves_its_queue(changes: dict[str, Any], wrong: bool) -> None:
    rule = resource("AWS::Events::Rule", EventPattern={"source": ["aws.sagemaker"]}, Targets=[{"Id": "jobs", "Arn": att("Jobs")}])
    given = edited(template(), {"FromJobs/Enabled": False, "Often": rule, "MaySend": may_send()})
    given = edited(given, changes)
    given["Parameters"] = {"On": {"Type": "String", "Default": "false"}}
    assert any("Often fills Jobs, and nothing takes its messages" in one for one in found(given)) is wrong


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (template(of_queue={"detail": {"kind": ["resize"]}}), "FromJobs: no message has detail beside its body"),
        (template(of_table={"eventName": ["Insert"]}), "eventName is never 'Insert'; the nearest is INSERT"),
        (template(of_table={"NewImage": {"reason": {"S": ["disk"]}}}), "no record of a stream has NewImage"),
        (template(of_table={"dynamodb": {"newImage": {"a": {"S": ["b"]}}}}), "the nearest is NewImage"),
        (
            template(of_table={"dynamodb": {"OldImage": {"a": {"S": ["b"]}}}}),
            "the stream of Nodes has no OldImage: it is of NEW_IMAGE",
        ),
        (template(of_table={"dynamodb": {"NewImage": {"reason": ["disk"]}}}), "reason is below no type"),
        (
            template(of_table={"dynamodb": {"NewImage": {"tries": {"N": [{"numeric": [">", 3]}]}}}}),
            "tries is compared with a number",
        ),
        (
            template(code=CODE.replace('    return {"batchItemFailures": failed}', "    failed.append({'itemIdentifier': 1})")),
            "Keep answers nothing where batchItemFailures says",
        ),
        (template(code=CODE.replace("batchItemFailures", "failures")), "Keep answers failures where batchItemFailures"),
        (template(code=CODE.replace('"time": "now", ', "")), "PutItem without time, a key of Nodes"),
        (template(code=CODE.replace('"time": "b"', '"reason": "b"')), "UpdateItem without time, a key of Nodes"),
        (template(code=CODE.replace('"time": "b"', '"time": "b", "reason": "c"')), "with reason, which is no key of Nodes"),
        (template(steps=stored(node={"S": "a"})), "Steps: the state 'Put' calls dynamodb:PutItem without time"),
    ],
)
def test_fails_filter_answer_or_item(given: Template, message: str) -> None:
    (said,) = found(given)
    assert message in said


SCRIPT = """
const { CloudWatchClient, PutMetricDataCommand } = require("@aws-sdk/client-cloudwatch");
exports.handler = async (event) => new CloudWatchClient({}).send(new PutMetricDataCommand({}));
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("PutMetricDataCommand", "PutMetricDatumCommand", "which @aws-sdk/client-cloudwatch does not have"),
        ("@aws-sdk/client-cloudwatch", "aws-sdk", "the code needs aws-sdk, which the runtime does not have"),
        ("exports.handler", "const axios = require('axios');\nexports.handler", "the code needs axios"),
    ],
)
def test_fails_package_that_is_not_there(old: str, new: str, message: str) -> None:
    def said(code: str, **more: Any) -> list[str]:
        return found({"Resources": {"Count": function(code, Runtime="nodejs22.x", **more)}})

    assert said(SCRIPT) == []
    (wrong,) = said(SCRIPT.replace(old, new))
    assert message in wrong
    assert said(SCRIPT.replace(old, new), Layers=["arn:aws:lambda:us-west-2:123456789012:layer:sdk:1"]) == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"FunctionName": {"Fn::Sub": "${Keep}:live"}}, []),
        ({"FunctionName": {"Fn::Sub": "${Keep}:prod"}}, ["FromJobs: Keep has no alias 'prod'"]),
    ],
)
def test_an_event_source_calls_an_alias_that_is_there(given: dict[str, Any], expected: list[str]) -> None:
    whole = template()
    whole["Resources"]["FromJobs"]["Properties"].update(given)
    whole["Resources"]["Live"] = resource("AWS::Lambda::Alias", Name="live", FunctionName={"Ref": "Keep"}, FunctionVersion="1")
    assert found(whole) == expected


def test_a_product_that_is_no_source_of_events_is_named() -> None:
    metric = {"MetricNamespace": "Team", "MetricName": "Calls", "MetricValue": "1"}

    def filter_(source: str) -> Template:
        lines = f'{{ ($.eventSource = "{source}.amazonaws.com") && ($.eventName = "DeleteCluster") }}'
        given = {"LogGroupName": "trail", "FilterPattern": lines, "MetricTransformations": [metric]}
        return {"Resources": {"Count": resource("AWS::Logs::MetricFilter", **given)}}

    assert found(filter_("sagemaker")) == []
    assert found(filter_("hyperpod")) == [
        "Count: CloudTrail writes no eventSource hyperpod.amazonaws.com, but sagemaker.amazonaws.com"
    ]


@pytest.mark.parametrize(
    ("source", "name", "near"),
    [
        ("sagemaker.amazonaws.com", "DeleteCluster", ""),
        ("sagemaker.amazonaws.com", "DeleteHyperPodCluster", "DeleteCluster"),
        ("lambda.amazonaws.com", "UpdateFunctionCode20150331v2", ""),
        ("signin.amazonaws.com", "ConsoleLogin", ""),
        ("kms.amazonaws.com", "RotateKey", ""),
    ],
)
def test_names_of_calls_are_operations(source: str, name: str, near: str) -> None:
    detail = {"eventSource": [source], "eventName": [name]}
    lines = f'{{ ($.eventSource = "{source}") && ($.eventName = "{name}") }}'
    metric = {"MetricNamespace": "Team", "MetricName": "Calls", "MetricValue": "1"}
    pattern = {"source": [f"aws.{source.partition('.')[0]}"], "detail-type": ["AWS API Call via CloudTrail"], "detail": detail}
    target = {"Id": "a", "Arn": "arn:aws:sns:us-west-2:123456789012:alerts"}
    whole = {
        "Rule": resource("AWS::Events::Rule", EventPattern=pattern, Targets=[target]),
        "Count": resource("AWS::Logs::MetricFilter", LogGroupName="trail", FilterPattern=lines, MetricTransformations=[metric]),
    }
    said = [f"{of}: no call is named {name}; the nearest is {near}" for of in ("Rule", "Count")] if near else []
    assert sorted(found({"Resources": whole})) == sorted(said)
