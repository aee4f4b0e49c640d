"""Alarms, filters of logs, rules and budgets of the embedded AWS, in one stack."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from hyperpod_constructs.local.server import LocalAws
from tests.local.stacks import Stack, delete, deploy
from tests.patience import until


def alarm(worker: str) -> dict[str, Any]:
    properties = {
        "Namespace": "N",
        "MetricName": "errors",
        "Dimensions": [{"Name": "worker", "Value": worker}],
        "Period": 10,
        "EvaluationPeriods": 1,
        "Statistic": "Sum",
        "Threshold": 1,
        "ComparisonOperator": "GreaterThanOrEqualToThreshold",
        "TreatMissingData": "notBreaching",
        "AlarmActions": [{"Ref": "Topic"}],
    }
    return {"Type": "AWS::CloudWatch::Alarm", "Properties": properties}


def arn(name: str) -> dict[str, Any]:
    return {"Fn::GetAtt": [name, "Arn"]}


def budget(limit: int) -> dict[str, Any]:
    notification = {"NotificationType": "ACTUAL", "ComparisonOperator": "GREATER_THAN", "Threshold": 80}
    subscribers = [{"SubscriptionType": "EMAIL", "Address": "a@example.com"}]
    budget = {"BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit": {"Amount": limit, "Unit": "USD"}}
    properties = {"Budget": budget, "NotificationsWithSubscribers": [{"Notification": notification, "Subscribers": subscribers}]}
    return {"Type": "AWS::Budgets::Budget", "Properties": properties}


def resources(limit: int, word: str) -> dict[str, Any]:
    rule = {"Fn::Join": ["", ['ALARM("', arn("One"), '") OR ALARM("', arn("Two"), '")']]}
    transformation = {"MetricName": "errors", "MetricNamespace": "N", "MetricValue": "1"}
    per_worker = {**transformation, "Dimensions": [{"Key": "worker", "Value": "$.worker"}]}
    subscription = {"Protocol": "sqs", "Endpoint": arn("Queue"), "TopicArn": {"Ref": "Topic"}}
    return {
        "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"KmsMasterKeyId": f"alias/{word}"}},
        "Queue": {"Type": "AWS::SQS::Queue"},
        "Subscription": {"Type": "AWS::SNS::Subscription", "Properties": subscription},
        "One": alarm("one"),
        "Two": alarm("two"),
        "Any": {"Type": "AWS::CloudWatch::CompositeAlarm", "Properties": {"AlarmRule": rule, "AlarmDescription": word}},
        "Logs": {"Type": "AWS::Logs::LogGroup"},
        "Filter": {
            "Type": "AWS::Logs::MetricFilter",
            "Properties": {
                "LogGroupName": {"Ref": "Logs"},
                "FilterPattern": '{ $.level = "ERR*" }',
                "MetricTransformations": [per_worker],
            },
        },
        "Rule": {
            "Type": "AWS::Events::Rule",
            "Properties": {
                "EventPattern": {"source": ["aws.cloudwatch"], "detail": {"state": {"value": ["ALARM"]}}},
                "Targets": [{"Id": "queue", "Arn": arn("Queue")}],
            },
        },
        "Budget": budget(limit),
    }


@pytest.fixture
def stack(fresh: LocalAws) -> Stack:
    made = deploy(fresh, resources(100, "before"))
    assert made.status == "CREATE_COMPLETE", made.reasons
    return made


def states(aws: LocalAws, stack: Stack) -> dict[str, str]:
    found = aws.client("cloudwatch").describe_alarms(AlarmTypes=["MetricAlarm", "CompositeAlarm"])
    names = {physical: logical for logical, physical in stack.resources.items()}
    return {names[each["AlarmName"]]: each["StateValue"] for each in (*found["MetricAlarms"], *found["CompositeAlarms"])}


def test_a_log_line_rings_its_alarm_and_the_composite_one_until_the_period_is_over(fresh: LocalAws, stack: Stack) -> None:
    logs, sqs = fresh.client("logs"), fresh.client("sqs")
    place = {"logGroupName": stack.resources["Logs"], "logStreamName": "stream"}
    logs.create_log_stream(**place)
    lines = [json.dumps({"level": level, "worker": "two"}) for level in ("INFO", "ERROR")]
    logs.put_log_events(**place, logEvents=[{"timestamp": int(time.time() * 1000), "message": line} for line in lines])

    assert states(fresh, stack) == {"One": "OK", "Two": "ALARM", "Any": "ALARM"}
    messages = sqs.receive_message(QueueUrl=stack.resources["Queue"], MaxNumberOfMessages=10)["Messages"]
    bodies = [json.loads(message["Body"]) for message in messages]
    assert [body["Subject"].partition(":")[0] for body in bodies if "Subject" in body] == ["ALARM"]
    assert sorted(body["detail"]["alarmName"] for body in bodies if "detail" in body) == sorted(
        stack.resources[name] for name in ("Two", "Any")
    )
    until(lambda: states(fresh, stack) == dict.fromkeys(("One", "Two", "Any"), "OK") or None, "the end of the period")


def test_the_key_of_a_log_group_is_noted(fresh: LocalAws, stack: Stack) -> None:
    logs, group = fresh.client("logs"), stack.resources["Logs"]
    key = "arn:aws:kms:us-west-2:123456789012:key/1234abcd-0000-4000-8000-1234567890ab"
    logs.associate_kms_key(logGroupName=group, kmsKeyId=key)
    (found,) = logs.describe_log_groups(logGroupNamePrefix=group)["logGroups"]
    assert found["kmsKeyId"] == key
    with pytest.raises(logs.exceptions.ResourceNotFoundException):
        logs.associate_kms_key(logGroupName="/none", kmsKeyId=key)


def test_composite_alarms_and_budgets_change_in_place_and_go(fresh: LocalAws, stack: Stack) -> None:
    budgets, cloudwatch = fresh.client("budgets"), fresh.client("cloudwatch")
    changed = deploy(fresh, resources(200, "after"))
    assert changed.status == "UPDATE_COMPLETE", changed.reasons
    assert changed.resources == stack.resources
    (found,) = budgets.describe_budgets(AccountId=fresh.account)["Budgets"]
    assert float(found["BudgetLimit"]["Amount"]) == 200
    (composite,) = cloudwatch.describe_alarms(AlarmTypes=["CompositeAlarm"])["CompositeAlarms"]
    assert composite["AlarmDescription"] == "after"
    topic = fresh.client("sns").get_topic_attributes(TopicArn=changed.resources["Topic"])["Attributes"]
    assert topic["KmsMasterKeyId"] == "alias/after"

    assert delete(fresh).status == "DELETE_COMPLETE"
    assert budgets.describe_budgets(AccountId=fresh.account)["Budgets"] == []
    assert cloudwatch.describe_alarms(AlarmTypes=["CompositeAlarm", "MetricAlarm"])["CompositeAlarms"] == []
