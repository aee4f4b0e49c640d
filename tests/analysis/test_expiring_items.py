"""Times to live of tables, where the templates have everybody who writes items."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.expiring_items import WHOLES
from hyperpod_constructs.templates.model import Model

TABLE = {"Fn::GetAtt": ["Table", "Arn"]}
WRITE = 'table.put_item(Item={"job": event["job"], "expires": 1})'


def role(service: str, *actions: str, **more: Any) -> dict[str, Any]:
    statements = [{"Effect": "Allow", "Action": [*actions], "Resource": TABLE}] if actions else []
    trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": f"{service}.amazonaws.com"}, "Action": "sts:AssumeRole"}]}
    policies = [{"PolicyName": "a", "PolicyDocument": {"Statement": statements}}]
    return {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": trust, "Policies": policies, **more}}


def function(*lines: str, **more: Any) -> dict[str, Any]:
    head = ["import os, boto3", 'table = boto3.resource("dynamodb").Table(os.environ["TABLE"])', "def handler(event, context):"]
    properties = {
        "Runtime": "python3.13",
        "Handler": "index.handler",
        "Role": {"Fn::GetAtt": ["WriterRole", "Arn"]},
        "Environment": {"Variables": {"TABLE": {"Ref": "Table"}}},
        "Code": {"ZipFile": "\n".join([*head, *(f"    {line}" for line in lines)])},
    }
    return {"Type": "AWS::Lambda::Function", "Properties": properties | more}


def machine(action: str, **parameters: Any) -> dict[str, Any]:
    task = {"Type": "Task", "Resource": f"arn:aws:states:::dynamodb:{action}", "Parameters": parameters, "End": True}
    properties = {
        "RoleArn": {"Fn::GetAtt": ["WriterRole", "Arn"]},
        "Definition": {"StartAt": "A", "States": {"A": task}},
        "DefinitionSubstitutions": {"Table": {"Ref": "Table"}},
    }
    return {"Type": "AWS::StepFunctions::StateMachine", "Properties": properties}


def said(attribute: str = "expiry", *, enabled: bool = True, **others: Any) -> list[str]:
    group = {"InstanceGroupName": "a", "InstanceType": "ml.m5.xlarge", "InstanceCount": 1}
    resources: dict[str, Any] = {
        "Cluster": {
            "Type": "AWS::SageMaker::Cluster",
            "Properties": {"InstanceGroups": [group | {"ExecutionRole": {"Fn::GetAtt": ["NodeRole", "Arn"]}}]},
        },
        "NodeRole": role("sagemaker"),
        "BackupRole": role("backup", ManagedPolicyArns=["arn:aws:iam::aws:policy/service-role/Nothing"]),
        "WriterRole": role("lambda", "dynamodb:PutItem", "dynamodb:UpdateItem"),
        "Writer": function(WRITE),
        "Table": {
            "Type": "AWS::DynamoDB::Table",
            "Properties": {
                "TableName": "jobs",
                "KeySchema": [{"AttributeName": "job", "KeyType": "HASH"}],
                "TimeToLiveSpecification": {"AttributeName": attribute, "Enabled": enabled},
            },
        },
    }
    model = Model.of({"t": {"Resources": {key: one for key, one in (resources | others).items() if one is not None}}})
    (table,) = model.resources("AWS::DynamoDB::Table")
    return [slip.message for slip in WHOLES[table.type](table)]


PUT, UPDATE = "putItem", "updateItem"


@pytest.mark.parametrize(
    "writer",
    [
        function(WRITE),
        function('item = {"job": event["job"]}', 'item["expires"] = 5', "table.put_item(Item=item)"),
        function('table.update_item(Key={"job": "a"}, UpdateExpression="SET expires = :a", ExpressionAttributeValues={":a": 1})'),
        function('boto3.client("dynamodb").put_item(TableName="jobs", Item={"job": {"S": "a"}, "expires": {"N": "1"}})'),
        machine(PUT, TableName="${Table}", Item={"job": {"S.$": "$.job"}, "expires": {"N": "1"}}),
        machine(UPDATE, TableName="${Table}", Key={"job": {"S": "a"}}, UpdateExpression="SET expires = :a"),
    ],
)
def test_fails_attribute_that_no_item_has(writer: dict[str, Any]) -> None:
    assert said(Writer=writer) == ["items of Table expire by expiry, which nothing writes; the nearest is expires"]
    assert said("expires", Writer=writer) == []


@pytest.mark.parametrize(
    "others",
    [
        {"Writer": function('table.put_item(Item={"job": "a", "expiry": 1})')},
        {"Writer": function(WRITE, 'table.put_item(Item=event["detail"])')},
        {"Writer": function('table.put_item(Item={"job": "a", **event})')},
        {"Writer": function(WRITE, "with table.batch_writer() as batch:", '    batch.put_item(Item=event["a"])')},
        {"Writer": function("table.update_item(Key={}, UpdateExpression=event['how'])")},
        {"Writer": function(WRITE, 'name = "expi" + "ry"', "table.put_item(Item={name: 1, event['a']: 2})")},
        {"Writer": function(WRITE, Layers=["arn:aws:lambda:us-west-2:123456789012:layer:shared:1"])},
        {"Writer": function(WRITE, Environment={"Variables": {"TABLE": {"Ref": "Table"}, "TTL": "expiry"}})},
        {"Writer": function("print(event)")},
        {"Writer": None},
        {"Other": function(Code={"S3Bucket": "b", "S3Key": "k"})},
        {"NodeRole": role("sagemaker", "dynamodb:*")},
        {"PipeRole": role("pipes", "dynamodb:PutItem")},
        {"NodeRole": role("sagemaker", ManagedPolicyArns=["arn:aws:iam::123456789012:policy/own"])},
        {"Name": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": {"Ref": "Table"}}}},
        {"Filler": {"Type": "Custom::Items", "Properties": {"ServiceToken": "a", "Table": {"Ref": "Table"}}}},
        {"Cluster": None},
        {"Machine": machine(PUT, TableName="${Table}", **{"Item.$": "$.item"})},
        {"Machine": machine(PUT, **{"TableName.$": "$.table", "Item.$": "$.item"})},
    ],
)
def test_writers_that_are_not_known(others: dict[str, Any]) -> None:
    assert said(**others) == []


def test_a_time_to_live_that_is_off() -> None:
    assert said(enabled=False) == []


def test_items_of_another_table() -> None:
    other = {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {"TableName": "others"}}
    line = 'boto3.client("dynamodb").put_item(TableName="others", Item=event)'
    assert len(said(Writer=function(WRITE, line), Others=other)) == 1
