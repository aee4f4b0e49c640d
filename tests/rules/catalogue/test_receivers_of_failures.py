"""What fails is kept where its service takes it, schedules have targets that they reach, and statistics and layers are such."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import resource

ROLE, FUNCTION = "arn:aws:iam::123456789012:role/service", "arn:aws:lambda:us-west-2:123456789012:function:f"
LAYER, METRIC = "arn:aws:lambda:us-west-2:123456789012:layer", {"Namespace": "Own", "MetricName": "Loss"}
DEAD = {"Fn::GetAtt": ["Dead", "Arn"]}
BASE: dict[str, Any] = {
    "Resources": {
        "Dead": resource("AWS::SQS::Queue"),
        "Bucket": resource("AWS::S3::Bucket"),
        "Lines": resource("AWS::Logs::LogGroup", RetentionInDays=30),
        "Schedule": resource(
            "AWS::Scheduler::Schedule",
            FlexibleTimeWindow={"Mode": "OFF"},
            ScheduleExpression="rate(1 hour)",
            Target={"Arn": FUNCTION, "RoleArn": ROLE, "DeadLetterConfig": {"Arn": DEAD}},
        ),
        "Results": resource(
            "AWS::Lambda::EventInvokeConfig",
            FunctionName="f",
            Qualifier="$LATEST",
            DestinationConfig={"OnFailure": {"Destination": {"Fn::GetAtt": ["Bucket", "Arn"]}}},
        ),
        "Messages": resource("AWS::Lambda::EventSourceMapping", FunctionName="f", EventSourceArn=DEAD),
        "Function": resource(
            "AWS::Lambda::Function",
            Role=ROLE,
            Runtime="python3.12",
            Handler="index.handler",
            Code={"S3Bucket": "code-of-ours", "S3Key": "a.zip"},
            Layers=[f"{LAYER}:a:1", f"{LAYER}:b:1"],
        ),
        "Detector": resource("AWS::CloudWatch::AnomalyDetector", SingleMetricAnomalyDetector={**METRIC, "Stat": "p90"}),
        "Stream": resource(
            "AWS::CloudWatch::MetricStream",
            FirehoseArn="arn:aws:firehose:us-west-2:123456789012:deliverystream/a",
            RoleArn=ROLE,
            OutputFormat="json",
            StatisticsConfigurations=[{"AdditionalStatistics": ["tm99"], "IncludeMetrics": [METRIC]}],
        ),
    }
}


def test_correct_receivers_have_no_finding() -> None:
    assert findings(BASE, rules="HP-TXT") == []


@pytest.mark.parametrize(
    ("rule", "path", "value", "message"),
    [
        ("HP-TXT-012", "Dead/FifoQueue", True, "lost events go to a standard queue"),
        ("HP-TXT-012", "Schedule/Target/Arn", {"Fn::GetAtt": ["Lines", "Arn"]}, "has no group of logs as its target"),
        (
            "HP-TXT-012",
            "Results/DestinationConfig",
            {"OnSuccess": {"Destination": {"Fn::GetAtt": ["Bucket", "Arn"]}}},
            "only failed events go to a bucket",
        ),
        (
            "HP-TXT-012",
            "Messages/DestinationConfig",
            {"OnFailure": {"Destination": "arn:aws:sqs:us-west-2:1:a"}},
            "dead-letter queue",
        ),
        ("HP-TXT-012", "Function/Layers/1", f"{LAYER}:a:2", "two versions of a are layers"),
        ("HP-TXT-001", "Detector/Configuration", {"MetricTimeZone": "CEST"}, "no time zone is named 'CEST'"),
        ("HP-TXT-003", "Detector/SingleMetricAnomalyDetector/Stat", "avg", "the statistic 'avg' is none"),
        ("HP-TXT-003", "Stream/StatisticsConfigurations/0/AdditionalStatistics", ["Average"], "Average is a Statistic"),
    ],
)
def test_fails_receiver_that_is_not_taken(rule: str, path: str, value: Any, message: str) -> None:
    found = [one for one in findings(edited(BASE, {path: value}), rules="HP-TXT") if message in one.message]
    assert [one.rule for one in found] == [rule]
