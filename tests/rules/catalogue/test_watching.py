"""Alarms that never fire, widgets, names of log groups, aliases and signatures: each mistake is one finding."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.texts import event_patterns, event_sources, thresholds
from hyperpod_constructs.templates.values import frozen
from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import Template, findings
from tests.rules.catalogue.text_bases import KEPT, att, function, resource, sending
from tests.templates.models import model_of

ROLE = "arn:aws:iam::123456789012:role/service"
CODE = """
import boto3

def handler(event, context):
    nodes = boto3.client("sagemaker").list_cluster_nodes(ClusterName="a")["ClusterNodeSummaries"]
    return [node for node in nodes if node["InstanceStatus"]["Status"] in ("Running", "Pending")]
"""
STEPS = {
    "StartAt": "Count",
    "States": {
        "Count": {
            "Type": "Task",
            "Resource": "arn:aws:states:::lambda:invoke",
            "Parameters": {"FunctionName": {"Ref": "Count"}},
            "Retry": [{"ErrorEquals": ["Lambda.TooManyRequestsException"]}],
            "End": True,
        }
    },
}
ALERTS = """alertmanager_config: |
  route: {receiver: oncall}
  receivers:
    - name: oncall
      sns_configs:
        - topic_arn: ${Topic}
          sigv4:
            region: us-west-2
"""


def board(**given: Any) -> str:
    properties = {"region": "us-west-2", "metrics": [["AWS/Lambda", "Errors"]], **given}
    return json.dumps({"widgets": [{"type": "metric", "properties": properties}]})


BASE: Template = {
    "Resources": {
        "Busy": resource(
            "AWS::CloudWatch::Alarm",
            Namespace="AWS/RDS",
            MetricName="CPUUtilization",
            Dimensions=[{"Name": "DBInstanceIdentifier", "Value": "db"}],
            Statistic="Average",
            Period=60,
            EvaluationPeriods=5,
            Threshold=90,
            ComparisonOperator="GreaterThanThreshold",
            AlarmActions=["arn:aws:sns:us-west-2:123456789012:alerts"],
        ),
        "Board": resource("AWS::CloudWatch::Dashboard", DashboardBody=board(stat="p99", period=60)),
        "Lines": resource("AWS::Logs::LogGroup", LogGroupName="/aws/lambda/count-nodes", RetentionInDays=7),
        "Count": function(CODE, FunctionName="count-nodes"),
        "Live": resource("AWS::Lambda::Alias", Name="live", FunctionName={"Ref": "Count"}, FunctionVersion="1"),
        "Tries": resource("AWS::Lambda::EventInvokeConfig", FunctionName={"Ref": "Count"}, Qualifier="live"),
        "Steps": resource("AWS::StepFunctions::StateMachine", RoleArn=ROLE, Definition=STEPS),
        "Topic": resource("AWS::SNS::Topic"),
        "TopicPolicy": sending("SNS::Topic", "Topics", "Topic", "aps.amazonaws.com"),
        "Subnet": resource("AWS::EC2::Subnet", VpcId="vpc-0a1b2c3d", CidrBlock="10.0.0.0/24", AvailabilityZone="us-west-2a"),
        "Metrics": {**resource("AWS::APS::Workspace", AlertManagerDefinition={"Fn::Sub": ALERTS}), **KEPT},
        "Letters": {**resource("AWS::SQS::Queue", MessageRetentionPeriod=1209600), **KEPT},
        "Jobs": {
            **resource("AWS::SQS::Queue", RedrivePolicy={"deadLetterTargetArn": att("Letters"), "maxReceiveCount": 3}),
            **KEPT,
        },
        "Data": {
            **resource(
                "AWS::S3::Bucket",
                BucketName="team-data",
                NotificationConfiguration={"EventBridgeConfiguration": {"EventBridgeEnabled": True}},
                MetricsConfigurations=[{"Id": "every"}],
            ),
            **KEPT,
        },
        "Arrivals": resource(
            "AWS::Events::Rule",
            EventPattern={
                "source": ["aws.s3"],
                "detail-type": ["Object Created"],
                "detail": {"bucket": {"name": [{"Ref": "Data"}]}},
            },
            Targets=[{"Id": "a", "Arn": "arn:aws:sns:us-west-2:123456789012:alerts"}],
        ),
        "Slow": resource(
            "AWS::CloudWatch::Alarm",
            Namespace="AWS/S3",
            MetricName="FirstByteLatency",
            Dimensions=[{"Name": "BucketName", "Value": {"Ref": "Data"}}, {"Name": "FilterId", "Value": "every"}],
            Statistic="Average",
            Period=60,
            EvaluationPeriods=5,
            Threshold=500,
            ComparisonOperator="GreaterThanThreshold",
            AlarmActions=["arn:aws:sns:us-west-2:123456789012:alerts"],
        ),
        "Trail": resource("AWS::CloudTrail::Trail", S3BucketName="trail", IsLogging=True),
        "Notes": resource("AWS::Logs::LogGroup", LogGroupName="/aws/fsx/notes", RetentionInDays=7),
        "Scratch": {
            **resource(
                "AWS::FSx::FileSystem",
                FileSystemType="LUSTRE",
                StorageCapacity=1200,
                SubnetIds=["subnet-1"],
                LustreConfiguration={
                    "DeploymentType": "SCRATCH_2",
                    "LogConfiguration": {
                        "Level": "WARN_ONLY",
                        "Destination": {"Fn::Sub": "arn:aws:logs:${AWS::Region}:${AWS::AccountId}:log-group:${Notes}"},
                    },
                },
            ),
            **KEPT,
        },
        "Boards": resource(
            "AWS::Grafana::Workspace",
            AccountAccessType="CURRENT_ACCOUNT",
            AuthenticationProviders=["AWS_SSO"],
            PermissionType="SERVICE_MANAGED",
            DataSources=["PROMETHEUS"],
            RoleArn=ROLE,
        ),
    }
}
RULES = ("HP-TXT-003", "HP-TXT-008", "HP-TXT-011", "HP-TXT-012", "HP-SCH-007")
LESS = "LessThanThreshold"


def used(metric: str) -> dict[str, Any]:
    """An alarm of what a file system uses, in percent."""
    files = [{"Name": "FileSystemId", "Value": "fs-0123456789abcdef0"}]
    return {"Busy/Namespace": "AWS/FSx", "Busy/MetricName": metric, "Busy/Dimensions": files, "Busy/Threshold": 120}


def free(threshold: int, **changes: Any) -> dict[str, Any]:
    """An alarm of the free space of a file system of 1,200 GiB."""
    files = {"FileSystemType": "LUSTRE", "StorageCapacity": 1200, "SubnetIds": [{"Ref": "Subnet"}]}
    return {
        "Files": {**resource("AWS::FSx::FileSystem", **files), **KEPT},
        "Busy/Namespace": "AWS/FSx",
        "Busy/MetricName": "FreeDataStorageCapacity",
        "Busy/Dimensions/0": {"Name": "FileSystemId", "Value": {"Ref": "Files"}},
        "Busy/ComparisonOperator": LESS,
        "Busy/Threshold": threshold,
        **changes,
    }


def used_bytes(threshold: int, **changes: Any) -> dict[str, Any]:
    """An alarm of the used space of a file system of 1,200 GiB."""
    configuration = {"DeploymentType": "SINGLE_AZ_1", "ThroughputCapacity": 128}
    system = {"Files/FileSystemType": "OPENZFS", "Files/OpenZFSConfiguration": configuration}
    asked = {"Busy/MetricName": "UsedStorageCapacity", "Busy/ComparisonOperator": "GreaterThanThreshold"}
    return free(threshold, **{**system, **asked, **changes})


def said(changes: dict[str, Any]) -> list[str]:
    return [one.message for one in findings(edited(BASE, changes), rules="HP-") if one.rule in RULES]


def test_correct_ones_have_no_finding() -> None:
    assert said({}) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Busy/Threshold": 100}, "CPUUtilization is a percentage, and never above 100"),
        ({"Busy/Threshold": 0, "Busy/ComparisonOperator": LESS}, "CPUUtilization is never below 0"),
        ({"Busy/Threshold": -1}, "CPUUtilization is always -1 or more"),
        ({"Board/DashboardBody": board(stat="Total")}, "the statistic 'Total' is none"),
        ({"Board/DashboardBody": board(metrics=[["AWS/Lambda", "Errors", {"stat": "Summ"}]])}, "the nearest is Sum"),
        (
            {"Lines/LogGroupName": "/aws/lambda/count-node"},
            "no AWS::Lambda::Function is named 'count-node'; the nearest is count-nodes",
        ),
        ({"Tries/Qualifier": "lives"}, "Count has no alias 'lives'; the nearest is live"),
        ({"Tries/FunctionName": "count-node", "Tries/Qualifier": "$LATEST"}, "no AWS::Lambda::Function is called count-node"),
        ({"Count/Code/ZipFile": CODE.replace('"Pending"', '"InService"')}, "with 'InService', which it never is"),
        (
            {"Count/Code/ZipFile": CODE.replace('["Status"]', "")},
            "compares node['InstanceStatus'], which is an object, with 'Running'",
        ),
        ({"Count/Code/ZipFile": CODE.replace("return [", "return nodes != 'none' and [")}, "nodes, which is a list, with 'none'"),
        (
            {"Steps/Definition/States/Count/Retry/0/ErrorEquals/0": "Lambda.TooManyRequestException"},
            "the nearest is Lambda.TooManyRequestsException",
        ),
        ({"Metrics/AlertManagerDefinition": {"Fn::Sub": ALERTS.replace("us-west-2", "eu-west-1")}}, "are signed for eu-west-1"),
        ({"Boards/RoleArn": REMOVED}, "RoleArn is missing"),
        ({"Busy/MetricName": "FreeStorageSpace", "Busy/ComparisonOperator": LESS}, "is in bytes, and the threshold is 90"),
        (free(2_000_000_000_000), "Files has 1200 GiB, and always less than 2e+12 bytes free"),
        (used_bytes(2_000_000_000_000), "Files has 1200 GiB, of which never more than 2e+12 bytes are used"),
        (
            used_bytes(1_000_000_000_000, **{"Busy/Statistic": "SampleCount"}),
            "SampleCount is how many values of UsedStorageCapacity",
        ),
        (free(200_000_000_000, **{"Busy/Statistic": "SampleCount"}), "SampleCount is how many values of FreeDataStorageCapacity"),
        (used("CPUUtilization"), "CPUUtilization is a percentage, and never above 120"),
        ({"Busy/MetricName": "cluster_node_count"}, "which is in /aws/sagemaker/Clusters or ContainerInsights"),
        ({"Letters/MessageRetentionPeriod": 86400}, "dead letters of Jobs are kept 86,400 seconds from their first sending"),
        ({"Data/NotificationConfiguration": REMOVED}, "Arrivals awaits events of Data, which sends none to EventBridge"),
        ({"Arrivals/EventPattern/detail-type/0": "Object created"}, "the nearest is 'Object Created'"),
        ({"Arrivals/EventPattern/detail-type/0": "Async Copy Completon"}, "the nearest is 'Async Copy Completion'"),
        ({"Arrivals/EventPattern/detail/bucket/name/0": att("Data")}, "events have the name of an AWS::S3::Bucket"),
        ({"Slow/Dimensions/1/Value": "all"}, "which Data does not have"),
        ({"Trail/IsLogging": False}, "the trail is off"),
        ({"Notes/LogGroupName": "/fsx/notes"}, "begins with /aws/fsx"),
    ],
)
def test_fails_a_mistake(changes: dict[str, Any], message: str) -> None:
    (found,) = said(changes)
    assert message in found


@pytest.mark.parametrize(
    "changes",
    [
        {"Busy/Threshold": 100, "Busy/Statistic": "Sum"},
        {"Busy/Threshold": 0, "Busy/ComparisonOperator": LESS, "Busy/TreatMissingData": "breaching"},
        free(200_000_000_000),
        free(1, **{"Busy/Statistic": "SampleCount"}),
        used_bytes(1_000_000_000_000),
        used_bytes(2_000_000_000_000, **{"Busy/Dimensions/0/Value": "fs-0123456789abcdef0"}),
        used("NetworkThroughputUtilization"),
        {"Busy/MetricName": "ReplicaLag", "Busy/Threshold": 0, "Busy/ComparisonOperator": LESS},
        {"Busy/MetricName": "AuroraBinlogReplicaLag", "Busy/Threshold": 0, "Busy/ComparisonOperator": LESS},
        {"Lines/LogGroupName": "/aws/lambda/another"},
        {"Count/Code/ZipFile": CODE.replace('["InstanceStatus"]["Status"]', '["InstanceId"]')},
        {
            "Count/Code/ZipFile": CODE.replace(
                'node["InstanceStatus"]["Status"] in ("Running", "Pending")', '"Status" in node["InstanceStatus"]'
            )
        },
        {"Tries/Qualifier": "$LATEST"},
        {"Tries/Qualifier": "3"},
        {"Letters/MessageRetentionPeriod": REMOVED},
        {"Arrivals/EventPattern/detail/bucket/name/0": {"prefix": "team-"}, "Data/NotificationConfiguration": REMOVED},
        {"Arrivals/EventPattern/detail-type/0": "Object Renamed"},
        {"Busy/MetricName": "FreeableMemory", "Busy/ComparisonOperator": LESS, "Busy/Threshold": 500000000},
        {"Metrics/AlertManagerDefinition": {"Fn::Sub": ALERTS.replace("us-west-2", "${AWS::Region}")}},
        {"Steps/Definition/States/Count/Retry/0/ErrorEquals/0": "Lambda.ResourceNotReadyException"},
    ],
)
def test_what_may_be_right_is_believed(changes: dict[str, Any]) -> None:
    assert said(changes) == []


@pytest.mark.parametrize(
    ("calls", "metric", "missing", "rings"),
    [
        ({"EventPattern": {"source": ["aws.sagemaker"]}}, "Errors", "breaching", True),
        ({"EventPattern": {"source": ["aws.sagemaker"]}}, "Duration", "breaching", True),
        ({"EventPattern": {"source": ["aws.sagemaker"]}}, "Errors", "notBreaching", False),
        ({"EventPattern": {"source": ["team.beats"]}}, "Errors", "breaching", False),
        ({"ScheduleExpression": "rate(1 minute)"}, "Errors", "breaching", False),
    ],
)
def test_a_function_for_events_has_no_values_without_them(calls: dict[str, Any], metric: str, missing: str, rings: bool) -> None:
    watching = {"Namespace": "AWS/Lambda", "MetricName": metric, "Dimensions": [{"Name": "FunctionName", "Value": {"Ref": "F"}}]}
    asked = {"Statistic": "Maximum", "Threshold": 0.5, "ComparisonOperator": "GreaterThanThreshold", "TreatMissingData": missing}
    resources = {
        "F": function("def handler(event, context):\n    return 1\n"),
        "Rule": resource("AWS::Events::Rule", **calls, Targets=[{"Id": "a", "Arn": att("F")}]),
        "Alarm": resource("AWS::CloudWatch::Alarm", **watching, **asked, Period=300, EvaluationPeriods=1, AlarmActions=[ROLE]),
    }
    (alarm,) = model_of(json.dumps({"Resources": resources})).resources("AWS::CloudWatch::Alarm")
    found = [slip.message for slip in thresholds.WHOLES[alarm.type](alarm)]
    assert [f"F has values of {metric} only when Rule calls it, and the alarm rings without values"] * rings == found


@pytest.mark.parametrize(
    ("source", "name", "near"),
    [
        ("aws.backup", "Backup Job Failed", "Backup Job State Change"),
        ("aws.codebuild", "CodeBuild Build Succeeded", "CodeBuild Build State Change"),
        ("aws.sagemaker", "SageMaker Training Job Completed", "SageMaker Training Job State Change"),
        ("aws.ec2", "EC2 AMI Failed", None),
        ("aws.backup", "Backup Job State Change", None),
        ("aws.backup", "Backup Selection Created", None),
    ],
)
def test_the_type_of_an_event_is_of_any_state(source: str, name: str, near: str | None) -> None:
    pattern = {"source": [source], "detail-type": [name]}
    found = [slip.message.rpartition("the nearest is ")[2] for slip in event_patterns.event_pattern(frozen(pattern))]
    assert found == ([repr(near)] if near else [])


RULE_OF_CLUSTER = """{{Resources: {{
  Cluster: {{Type: AWS::SageMaker::Cluster, Properties: {{ClusterName: {}}}}},
  Rule: {{Type: AWS::Events::Rule, Properties: {{EventPattern: {{source: [aws.sagemaker], detail: {{ClusterName: {}}}}}}}}}}}}}"""


@pytest.mark.parametrize(
    ("cluster", "names", "wrong"),
    [
        ("llm", "[llm]", False),
        ("llm", "[vision]", True),
        ("llm", "[vision, llm]", False),
        ("llm", "[{prefix: l}]", False),
        ("!Sub 'llm-${AWS::Region}'", "[llm-eu-west-1]", False),
        ("!Sub 'llm-${AWS::Region}'", "[vision-eu-west-1]", True),
        ("!Ref AWS::NoValue", "[vision]", False),
    ],
)
def test_a_rule_is_for_the_cluster_of_its_template(cluster: str, names: str, wrong: bool) -> None:
    (found,) = model_of(RULE_OF_CLUSTER.format(cluster, names)).resources("AWS::Events::Rule")
    assert [one.path for one in event_sources.rule(found)] == ([("EventPattern", "detail", "ClusterName")] if wrong else [])


@pytest.mark.parametrize(("name", "wrong"), [("chatters", False), ("chaters", True), ("vision", False)])
def test_a_rule_names_a_group_of_packages_as_it_is_called(name: str, wrong: bool) -> None:
    template = f"""{{Resources: {{
      Group: {{Type: AWS::SageMaker::ModelPackageGroup, Properties: {{ModelPackageGroupName: chatters}}}},
      Rule: {{Type: AWS::Events::Rule, Properties: {{EventPattern: {{source: [aws.sagemaker],
        detail-type: [SageMaker Model Package State Change], detail: {{ModelPackageGroupName: [{name}]}}}}}}}}}}}}"""
    (found,) = model_of(template).resources("AWS::Events::Rule")
    at = ("EventPattern", "detail", "ModelPackageGroupName", 0)
    assert [one.path for one in event_sources.rule(found)] == ([at] if wrong else [])
