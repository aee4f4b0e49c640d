"""What only others use: a finding where none does, and none beside an error, which may be the reason."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.templates import KEPT, UNUSED, Template, findings, slurm


def ref(name: str) -> dict[str, str]:
    return {"Ref": name}


def att(name: str) -> dict[str, Any]:
    return {"Fn::GetAtt": [name, "Arn"]}


def resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::{kind}", "Properties": properties}


def template(**more: dict[str, Any]) -> Template:
    made = slurm()
    made["Resources"] |= more
    return made


def unused_in(made: Template) -> list[str]:
    return [one.resource for one in findings(made, rules=UNUSED)]


VPC = resource("EC2::VPC", CidrBlock="10.64.0.0/16", EnableDnsHostnames=True, EnableDnsSupport=True)
PLACE = resource("EC2::Subnet", VpcId=ref("Around"), CidrBlock="10.64.0.0/24")
TABLE = {"Around": VPC, "Place": PLACE, "MyTable": resource("EC2::RouteTable", VpcId=ref("Around"))}
ASSOCIATION = resource("EC2::SubnetRouteTableAssociation", RouteTableId=ref("MyTable"), SubnetId=ref("Place"))
MAIL = resource("SNS::Subscription", TopicArn=ref("MyTopic"), Protocol="email", Endpoint="x@example.com")
ALARM = resource(
    "CloudWatch::Alarm",
    Namespace="Own",
    MetricName="x",
    Statistic="Sum",
    Period=60,
    EvaluationPeriods=1,
    Threshold=1,
    ComparisonOperator="GreaterThanThreshold",
    AlarmActions=[ref("MyTopic")],
)
QUEUE = {**resource("SQS::Queue"), **KEPT}
RETRIED = resource("SQS::Queue", RedrivePolicy={"deadLetterTargetArn": att("MyQueue"), "maxReceiveCount": 3})
FILTER = resource(
    "Logs::MetricFilter",
    LogGroupName=ref("MyLines"),
    FilterPattern="ERROR",
    MetricTransformations=[{"MetricName": "x", "MetricNamespace": "Own", "MetricValue": "1"}],
)
LINES = {"MyLines": resource("Logs::LogGroup", RetentionInDays=7), "Filter": FILTER}
FLOWS = resource("EC2::FlowLog", ResourceId=ref("Vpc"), ResourceType="VPC", LogDestination=att("MyLines"), TrafficType="ALL")


@pytest.mark.parametrize(
    ("unused", "made", "used"),
    [
        ("MyTable", TABLE, {"Association": ASSOCIATION}),
        ("MyTopic", {"MyTopic": resource("SNS::Topic"), "Mail": MAIL}, {"Alarm": ALARM}),
        ("MyQueue", {"MyQueue": QUEUE}, {"Retried": RETRIED, "Reader": resource("SNS::Subscription", Endpoint=att("Retried"))}),
        ("MyLines", LINES, {"Flows": FLOWS}),
    ],
)
def test_a_resource_that_nothing_uses_is_named(unused: str, made: dict[str, Any], used: dict[str, Any]) -> None:
    assert unused_in(template(**made)) == [unused]
    assert unused not in unused_in(template(**made, **used))


def test_a_secret_is_read_by_the_arn_that_its_attachment_gives() -> None:
    secret = {**resource("SecretsManager::Secret", GenerateSecretString={}), **KEPT}
    attachment = resource(
        "SecretsManager::SecretTargetAttachment", SecretId=ref("Words"), TargetId="x", TargetType="AWS::RDS::DBInstance"
    )
    reader = resource(
        "Lambda::Function",
        Runtime="python3.13",
        Handler="x.y",
        Code={"S3Bucket": "code", "S3Key": "x.zip"},
        Role="arn:aws:iam::123456789012:role/reader",
        Environment={"Variables": {"SECRET": ref("Attached")}},
    )
    assert "Words" in unused_in(template(Words=secret, Attached=attachment))
    assert "Words" not in unused_in(template(Words=secret, Attached=attachment, Reader=reader))


def test_an_output_of_its_id_may_be_used_elsewhere() -> None:
    assert unused_in({**template(**TABLE), "Outputs": {"Table": {"Value": att("MyTable")}}}) == []


def test_a_queue_with_a_name_may_be_used_by_it() -> None:
    assert unused_in(template(MyQueue={**resource("SQS::Queue", QueueName="jobs"), **KEPT})) == []


def test_beside_an_error_nothing_is_said() -> None:
    outside = resource("EC2::Subnet", VpcId=ref("Around"), CidrBlock="10.9.0.0/24")

    assert unused_in(template(**TABLE, Outside=outside)) == []


def test_a_template_without_a_cluster_may_be_a_part_of_a_deployment() -> None:
    made = template(**TABLE)
    del made["Resources"]["Cluster"]

    assert unused_in(made) == []
