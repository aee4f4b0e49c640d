"""What watches a function: alarms of the metrics that its code publishes, its log group, and the logs of a control plane."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import KEPT, Template, eks, findings
from tests.rules.catalogue.text_bases import att, function, resource

CODE = """
import os
import boto3

def handler(event, context):
    sagemaker, cloudwatch = boto3.client("sagemaker"), boto3.client("cloudwatch")
    nodes = sagemaker.list_cluster_nodes(ClusterName="a")["ClusterNodeSummaries"]
    cloudwatch.put_metric_data(
        Namespace=os.environ["NAMESPACE"],
        MetricData=[{"MetricName": "NodeCount", "Value": len(nodes), "Dimensions": [{"Name": "Cluster", "Value": "a"}]}],
    )
"""


def alarm(namespace: str, metric: str, *dimensions: tuple[str, Any], threshold: int = 4) -> Template:
    return resource(
        "AWS::CloudWatch::Alarm",
        Namespace=namespace,
        MetricName=metric,
        Dimensions=[{"Name": name, "Value": value} for name, value in dimensions],
        Statistic="Minimum",
        Period=300,
        EvaluationPeriods=2,
        Threshold=threshold,
        ComparisonOperator="LessThanThreshold",
        AlarmActions=["arn:aws:sns:us-west-2:123456789012:alerts"],
    )


BASE: Template = {
    "Resources": {
        "Count": function(CODE, Environment={"Variables": {"NAMESPACE": "Team/Nodes"}}),
        "CountLogs": resource("AWS::Logs::LogGroup", LogGroupName={"Fn::Sub": "/aws/lambda/${Count}"}, RetentionInDays=7),
        "Often": resource("AWS::Events::Rule", ScheduleExpression="rate(5 minutes)", Targets=[{"Id": "a", "Arn": att("Count")}]),
        "MayCount": resource(
            "AWS::Lambda::Permission",
            FunctionName={"Ref": "Count"},
            Action="lambda:InvokeFunction",
            Principal="events.amazonaws.com",
            SourceArn=att("Often"),
        ),
        "Few": alarm("Team/Nodes", "NodeCount", ("Cluster", "a")),
        "Store": {
            "Type": "AWS::FSx::FileSystem",
            **KEPT,
            "Properties": {"FileSystemType": "LUSTRE", "StorageCapacity": 1200, "SubnetIds": ["subnet-1"]},
        },
        "Full": alarm("AWS/FSx", "FreeDataStorageCapacity", ("FileSystemId", {"Ref": "Store"}), threshold=100 << 30),
        "Served": resource(
            "AWS::SageMaker::EndpointConfig",
            ProductionVariants=[
                {"VariantName": "main", "ModelName": "m", "InstanceType": "ml.m5.xlarge", "InitialInstanceCount": 1}
            ],
        ),
        "Ranker": resource(
            "AWS::SageMaker::Endpoint", EndpointName="ranker", EndpointConfigName=att("Served", "EndpointConfigName")
        ),
        "Failing": alarm("AWS/SageMaker", "Invocation5XXErrors", ("EndpointName", "ranker"), ("VariantName", "main")),
    }
}
MISTAKES: list[tuple[str, Any, str]] = [
    ("Few/Namespace", "Team/Node", "Count writes NodeCount into Team/Nodes"),
    ("Few/MetricName", "NodesCount", "nothing writes NodesCount into Team/Nodes"),
    ("Few/Dimensions", REMOVED, "Count writes the metric with Cluster"),
    ("Often/State", "DISABLED", "Count writes the metric, and Often, which calls it, is off"),
    ("CountLogs/LogGroupName", "/aws/lambda/team-count", "Count writes to /aws/lambda/${Count}"),
    ("Full/ComparisonOperator", "GreaterThanThreshold", "the alarm rings while more than"),
    ("Failing/Namespace", "/aws/sagemaker/Endpoints", "has no metric Invocation5XXErrors, which is in AWS/SageMaker"),
    ("Failing/Dimensions/1/Value", "AllTraffic", "which Served does not have"),
]


@pytest.mark.parametrize(("path", "value", "message"), MISTAKES)
def test_what_watches_names_what_is_written(path: str, value: Any, message: str) -> None:
    found = findings(edited(BASE, {path: value}), rules="HP-TXT")
    assert [message in one.message for one in found] == [True], found


OTHERS = {
    "Often/State": "ENABLED",
    "Few/Namespace": {"Ref": "AWS::StackName"},
    "CountLogs/LogGroupName": "/aws/lambda/other",
    "Count/Environment": {"Variables": {"NAMESPACE": {"Ref": "AWS::StackName"}}},
    "Count/LoggingConfig": {"LogGroup": "team"},
    "Full/Threshold": 1100 << 30,
    "Failing/Dimensions/0/Value": att("Ranker", "EndpointName"),
    "Failing/Dimensions": [{"Name": "EndpointName", "Value": "other"}, {"Name": "VariantName", "Value": "AllTraffic"}],
}


@pytest.mark.parametrize("path", OTHERS)
def test_what_is_right_or_not_known_is_no_mistake(path: str) -> None:
    assert findings(edited(BASE, {path: OTHERS[path]}), rules="HP-TXT") == []


def test_a_function_that_another_also_calls_is_not_off() -> None:
    another = resource("AWS::Lambda::EventSourceMapping", FunctionName={"Ref": "Count"}, EventSourceArn="arn:aws:sqs:a:1:b")
    assert findings(edited(BASE, {"Often/State": "DISABLED", "Another": another}), rules="HP-TXT-011") == []


ON = [{"Type": "api"}, {"Type": "audit"}]
CONTROL = edited(
    eks(),
    {
        "Control/Name": "research",
        "Control/Logging": {"ClusterLogging": {"EnabledTypes": ON}},
        "ControlLogs": resource("AWS::Logs::LogGroup", LogGroupName="/aws/eks/research/cluster", RetentionInDays=7),
        "Refused": resource(
            "AWS::Logs::MetricFilter",
            LogGroupName={"Ref": "ControlLogs"},
            FilterPattern="{ $.responseStatus.code = 403 }",
            MetricTransformations=[{"MetricNamespace": "Team", "MetricName": "Refused", "MetricValue": "1"}],
        ),
    },
)
CONTROL["Resources"]["Control"]["DependsOn"] = [*CONTROL["Resources"]["Control"].get("DependsOn", []), "ControlLogs"]


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("ControlLogs/RetentionInDays", 30, []),
        ("Control/Logging/ClusterLogging/EnabledTypes", [{"Type": "api"}], ["Refused"]),
        ("Control/Logging", REMOVED, ["Refused"]),
        ("Refused/FilterPattern", "ERROR", []),
        ("ControlLogs/LogGroupName", "/aws/eks/research/control", ["ControlLogs"]),
        ("ControlLogs/LogGroupName", "/aws/eks/other/cluster", []),
    ],
)
def test_the_logs_of_a_control_plane(path: str, value: Any, expected: list[str]) -> None:
    assert [one.resource for one in findings(edited(CONTROL, {path: value}), rules="HP-TXT")] == expected
