"""Demands of targets, backups, windows, builds and streams: each refuses one thing, and takes the nearest right one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.facts.demands import check_demand

RULE, TASK, STREAM = "AWS::Events::Rule", "AWS::SSM::MaintenanceWindowTask", "AWS::CloudWatch::MetricStream"
SELECTION, BUDGET, PLAN = "AWS::Backup::BackupSelection", "AWS::Budgets::Budget", "AWS::Backup::BackupPlan"
MAPPING, PROJECT, SUBSCRIPTION = "AWS::Lambda::EventSourceMapping", "AWS::CodeBuild::Project", "AWS::SNS::Subscription"
SPEND = {"Amount": 1000, "Unit": "USD"}
FEW = {"MaxConcurrency": "2", "MaxErrors": "1"}


def target(**given: Any) -> dict[str, Any]:
    return {"ScheduleExpression": "rate(1 hour)", "Targets": ({"Id": "a", "Arn": "arn:aws:sns:us-west-2:1:a", **given},)}


def mapped(paths: dict[str, str]) -> dict[str, Any]:
    return target(InputTransformer={"InputPathsMap": paths, "InputTemplate": "{}"})


def chosen(key: str) -> dict[str, Any]:
    return {"BackupSelection": {"Conditions": {"StringEquals": ({"ConditionKey": key, "ConditionValue": "yes"},)}}}


def copied(vault: str) -> dict[str, Any]:
    return {"BackupPlan": {"BackupPlanRule": ({"RuleName": "a", "CopyActions": ({"DestinationBackupVaultArn": vault},)},)}}


def limited(**limits: Any) -> dict[str, Any]:
    return {"Budget": {"BudgetType": "COST", "TimeUnit": "MONTHLY", **limits}}


def run(kind: str) -> dict[str, Any]:
    return {"TaskType": "LAMBDA", "TaskInvocationParameters": {f"MaintenanceWindow{kind}Parameters": {"Payload": "{}"}}}


def aimed(key: str) -> dict[str, Any]:
    return {"Targets": ({"Key": key, "Values": ("a",)},), **FEW}


def counted(form: str, statistic: str) -> dict[str, Any]:
    return {"OutputFormat": form, "StatisticsConfigurations": ({"AdditionalStatistics": (statistic,)},)}


def failed(place: str) -> dict[str, Any]:
    return {"EventSourceArn": "arn:aws:kinesis:us-west-2:1:stream/a", "DestinationConfig": {"OnFailure": {"Destination": place}}}


def filtered(count: int) -> dict[str, Any]:
    return {"Protocol": "sqs", "FilterPolicy": {f"key{index}": ("a",) for index in range(count)}}


def built(size: str) -> dict[str, Any]:
    return {"Environment": {"Type": "LINUX_GPU_CONTAINER", "ComputeType": size, "Image": "a"}}


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [
        (RULE, target(InputPath="detail"), target(InputPath="$.detail")),
        (RULE, mapped({"AWS.a": "$.detail"}), mapped({"a": "$.detail"})),
        (RULE, mapped({f"a{index}": "$.a" for index in range(101)}), mapped({f"a{index}": "$.a" for index in range(100)})),
        (SELECTION, chosen("backup"), chosen("aws:ResourceTag/backup")),
        (PLAN, copied("other"), copied("arn:aws:backup:us-east-1:111122223333:backup-vault:other")),
        (BUDGET, limited(BudgetLimit=SPEND, PlannedBudgetLimits={"1": SPEND}), limited(PlannedBudgetLimits={"1": SPEND})),
        (TASK, {**aimed("InstanceIds"), "MaxErrors": None}, aimed("InstanceIds")),
        (TASK, aimed("WindowTargets"), aimed("WindowTargetIds")),
        (TASK, run("RunCommand"), run("Lambda")),
        (STREAM, counted("opentelemetry0.7", "tm99"), counted("opentelemetry0.7", "p99")),
        (STREAM, counted("opentelemetry0.7", "IQM"), counted("json", "IQM")),
        (
            STREAM,
            {"FirehoseArn": "arn:aws:kinesis:us-west-2:1:stream/a"},
            {"FirehoseArn": "arn:aws:firehose:us-west-2:1:deliverystream/a"},
        ),
        (MAPPING, failed("https://sqs.us-west-2.amazonaws.com/1/a"), failed("arn:aws:sqs:us-west-2:1:a")),
        (PROJECT, built("BUILD_GENERAL1_MEDIUM"), built("BUILD_GENERAL1_SMALL")),
        (SUBSCRIPTION, filtered(6), filtered(5)),
    ],
)
def test_each_demand_refuses_one_thing(kind: str, wrong: dict[str, Any], right: dict[str, Any]) -> None:
    check_demand(kind, wrong, right)
