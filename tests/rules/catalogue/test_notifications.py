"""Topics and queues that refuse what alarms and rules send."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import Case, edited
from tests.rules.catalogue.templates import findings, rules_of, slurm
from tests.rules.catalogue.test_refused_calls import ROOT, allow, key

ACCOUNT = allow("kms:*", Principal=ROOT)
USE = ["kms:Decrypt", "kms:GenerateDataKey*"]
CLOUDWATCH, EVENTS = ({"Service": f"{name}.amazonaws.com"} for name in ("cloudwatch", "events"))
OWN_KEY = {"Fn::GetAtt": ["Key", "Arn"]}
TOPIC_ARN, QUEUE_ARN = {"Ref": "Topic"}, {"Fn::GetAtt": ["Queue", "Arn"]}


def alarm(**members: Any) -> dict[str, Any]:
    properties = {
        "Namespace": "AWS/FSx",
        "MetricName": "DataReadBytes",
        "Dimensions": [{"Name": "FileSystemId", "Value": "fs-0123456789abcdef0"}],
        "Period": 60,
        "EvaluationPeriods": 1,
        "Statistic": "Sum",
        "Threshold": 1,
        "ComparisonOperator": "GreaterThanThreshold",
        "AlarmActions": [TOPIC_ARN],
    }
    return {"Type": "AWS::CloudWatch::Alarm", "Properties": {**properties, **members}}


def rule(arn: Any) -> dict[str, Any]:
    properties = {"EventPattern": {"source": ["aws.sagemaker"]}, "Targets": [{"Id": "one", "Arn": arn}]}
    return {"Type": "AWS::Events::Rule", "Properties": properties}


def topic(key_id: Any = None) -> dict[str, Any]:
    return {"Type": "AWS::SNS::Topic", "Properties": {} if key_id is None else {"KmsMasterKeyId": key_id}}


def policy(kind: str, *statements: dict[str, Any]) -> dict[str, Any]:
    places = {"Topics": [TOPIC_ARN]} if kind == "SNS::Topic" else {"Queues": [{"Ref": "Queue"}]}
    document = {"Version": "2012-10-17", "Statement": list(statements)}
    return {"Type": f"AWS::{kind}Policy", "Properties": {**places, "PolicyDocument": document}}


def alarmed(key_id: Any, *statements: dict[str, Any]) -> dict[str, Any]:
    return {"Key": key(ACCOUNT, *statements), "Topic": topic(key_id), "Alarm": alarm()}


def publish(principal: Any, action: str = "sns:Publish", resource: Any = TOPIC_ARN) -> dict[str, Any]:
    return {"Effect": "Allow", "Principal": principal, "Action": action, "Resource": resource}


QUEUE = {"Queue": {"Type": "AWS::SQS::Queue"}, "Rule": rule(QUEUE_ARN)}
TO_TOPIC = {"Topic": topic(), "Rule": rule(TOPIC_ARN)}
ON_QUEUE = publish(EVENTS, "sqs:SendMessage", QUEUE_ARN)
LIMITED = {**publish(CLOUDWATCH), "Condition": {"ArnLike": {"aws:SourceArn": "arn:aws:cloudwatch:*:123456789012:alarm:*"}}}
CASES = [
    Case("HP-KEY-004", slurm(), alarmed("alias/aws/sns"), alarmed(OWN_KEY, allow(USE, Principal=CLOUDWATCH))),
    Case("HP-KEY-004", slurm(), alarmed(OWN_KEY), alarmed(None)),
    Case("HP-KEY-004", slurm(), alarmed(OWN_KEY, allow(USE, Principal=EVENTS)), alarmed("alias/own")),
    Case("HP-DLV-002", slurm(), QUEUE, {**QUEUE, "Policy": policy("SQS::Queue", ON_QUEUE)}),
    Case("HP-DLV-002", slurm(), TO_TOPIC, {**TO_TOPIC, "Policy": policy("SNS::Topic", publish(EVENTS))}),
    Case(
        "HP-DLV-002",
        slurm(),
        {"Topic": topic(), "Alarm": alarm(), "Policy": policy("SNS::Topic", publish(EVENTS))},
        {"Topic": topic(), "Alarm": alarm(), "Policy": policy("SNS::Topic", LIMITED)},
    ),
]


FROM_HERE = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
FROM_RULES = {"ArnLike": {"aws:SourceArn": "arn:aws:events:*:*:rule/*"}}
OF_TOPIC = {"ArnLike": {"kms:EncryptionContext:aws:sns:topicArn": "arn:aws:sns:*:*:*"}}


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (FROM_HERE, ["HP-KEY-004"]),
        (FROM_RULES, ["HP-KEY-004"]),
        ({"StringEqualsIfExists": FROM_HERE["StringEquals"]}, []),
        (OF_TOPIC, []),
        (None, []),
    ],
)
def test_rules_use_the_key_of_a_topic_without_naming_their_source(limits: Any, expected: list[str]) -> None:
    use = allow(USE, Principal=EVENTS, **({"Condition": limits} if limits else {}))
    parts = {"Key": key(ACCOUNT, use), "Topic": topic(OWN_KEY), "Policy": policy("SNS::Topic", publish(EVENTS))}
    found = findings(edited(slurm(), {**parts, "Rule": rule(TOPIC_ARN)}))
    assert [one.rule for one in found] == expected
    assert all("events.amazonaws.com, whose calls for it name no source, use kms:Decrypt" in one.message for one in found)


@pytest.mark.parametrize("limits", [FROM_HERE, FROM_RULES])
def test_rules_use_the_key_of_a_queue_with_their_source(limits: Any) -> None:
    queue = {"Type": "AWS::SQS::Queue", "Properties": {"KmsMasterKeyId": OWN_KEY}}
    parts = {"Key": key(ACCOUNT, allow(USE, Principal=EVENTS, Condition=limits)), "Queue": queue, "Rule": rule(QUEUE_ARN)}
    assert rules_of(edited(slurm(), {**parts, "Policy": policy("SQS::Queue", ON_QUEUE)})) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_a_topic_without_a_policy_takes_alarms_of_its_account() -> None:
    assert rules_of(edited(slurm(), {"Topic": topic(), "Alarm": alarm()})) == []


def test_a_rule_with_a_role_needs_no_policy_of_the_queue() -> None:
    role = {**rule(QUEUE_ARN)}
    role["Properties"]["Targets"] = [{"Id": "one", "Arn": QUEUE_ARN, "RoleArn": "arn:aws:iam::123456789012:role/sender"}]
    assert rules_of(edited(slurm(), {"Queue": QUEUE["Queue"], "Rule": role})) == []
