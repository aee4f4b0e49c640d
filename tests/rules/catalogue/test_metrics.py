"""Metrics of services and of filters: an alarm, a detector, a stream or a widget for one that nobody publishes has no data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import KEPT, att, resource

ROLE = "arn:aws:iam::123456789012:role/service"
NAMED = {"Name": "FileSystemId", "Value": {"Ref": "Lustre"}}


def alarm(namespace: str, metric: str, dimensions: list[Any], period: int = 300) -> dict[str, Any]:
    return resource(
        "AWS::CloudWatch::Alarm",
        Namespace=namespace,
        MetricName=metric,
        Dimensions=dimensions,
        Statistic="Sum",
        Period=period,
        EvaluationPeriods=1,
        Threshold=10_000_000_000,
        AlarmActions=["arn:aws:sns:us-west-2:123456789012:alerts"],
        ComparisonOperator="LessThanThreshold" if metric.startswith("Free") else "GreaterThanThreshold",
    )


def widget(*metrics: Any) -> str:
    properties = {"region": "us-west-2", "metrics": metrics}
    return json.dumps({"widgets": [{"type": "metric", "width": 6, "height": 6, "properties": properties}]})


BASE: dict[str, Any] = {
    "Resources": {
        "Lustre": {"Type": "AWS::FSx::FileSystem", **KEPT, "Properties": {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-1"]}},
        "Bucket": {"Type": "AWS::S3::Bucket", **KEPT, "Properties": {}},
        "Queue": resource("AWS::SQS::Queue"),
        "Machine": resource("AWS::StepFunctions::StateMachine", RoleArn=ROLE, DefinitionS3Location={"Bucket": "b", "Key": "k"}),
        "Free": alarm("AWS/FSx", "FreeDataStorageCapacity", [NAMED], 60),
        "Size": alarm(
            "AWS/S3",
            "BucketSizeBytes",
            [{"Name": "BucketName", "Value": {"Ref": "Bucket"}}, {"Name": "StorageType", "Value": "StandardStorage"}],
            86400,
        ),
        "Broken": alarm("AWS/States", "ExecutionsFailed", [{"Name": "StateMachineArn", "Value": att("Machine")}]),
        "Nodes": alarm("ContainerInsights", "cluster_failed_node_count", [{"Name": "ClusterName", "Value": "eks"}]),
        "Calls": alarm("AWS/SNS", "PhoneNumberDirect", [{"Name": "PhoneNumber", "Value": "+14155550100"}]),
        "Idle": alarm("/aws/sagemaker/Clusters", "cluster_idle_node_count", [{"Name": "ClusterId", "Value": "abcdefgh1234"}]),
        "Lines": resource("AWS::Logs::LogGroup", RetentionInDays=7),
        "Errors": resource(
            "AWS::Logs::MetricFilter",
            LogGroupName={"Ref": "Lines"},
            FilterPattern="ERROR",
            MetricTransformations=[{"MetricNamespace": "Team", "MetricName": "Errors", "MetricValue": "1"}],
        ),
        "Many": alarm("Team", "Errors", []),
        "Band": resource(
            "AWS::CloudWatch::AnomalyDetector", Namespace="AWS/FSx", MetricName="DataReadBytes", Dimensions=[NAMED], Stat="Sum"
        ),
        "Stream": resource(
            "AWS::CloudWatch::MetricStream",
            FirehoseArn="arn:aws:firehose:us-west-2:123456789012:deliverystream/s",
            RoleArn=ROLE,
            OutputFormat="json",
            IncludeFilters=[{"Namespace": "AWS/FSx", "MetricNames": ["DataReadBytes"]}],
        ),
        "Board": resource(
            "AWS::CloudWatch::Dashboard",
            DashboardBody=widget(
                ["AWS/SQS", "NumberOfMessagesSent", "QueueName", "jobs", {"id": "sent"}], [{"expression": "sent / 60"}]
            ),
        ),
    }
}
DIMENSION = {"Name": "FileSystemId", "Value": {"Ref": "Queue"}}
MISTAKES: list[tuple[str, Any, str]] = [
    ("Free/MetricName", "FreeStorageCapacity", "a file system of the type LUSTRE has no metric FreeStorageCapacity"),
    ("Free/MetricName", "DiskFree", "AWS/FSx has no metric DiskFree"),
    ("Free/Namespace", "AWS/Fsx", "the nearest is AWS/FSx"),
    ("Free/Namespace", "FSx", "the nearest is AWS/FSx"),
    ("Free/ActionsEnabled", False, "the actions of the alarm are off"),
    ("Free/Dimensions/0/Name", "FilesystemId", "for FileSystemId"),
    ("Free/Dimensions/0", DIMENSION, "of AWS::SQS::Queue"),
    ("Free/Dimensions", REMOVED, "asked for with no dimensions"),
    ("Size/Dimensions/1", REMOVED, "publishes BucketSizeBytes for BucketName and StorageType"),
    ("Size/Period", 300, "each 86,400 seconds"),
    ("Broken/Dimensions/0/Value", att("Machine", "Name"), "another value than !Ref Machine"),
    ("Broken/Dimensions/0/Name", "StateMachineName", "have no dimension StateMachineName"),
    ("Nodes/MetricName", "cluster_failed_nodes_count", "the nearest is cluster_failed_node_count"),
    ("Nodes/MetricName", "cluster_failed_nodes", "the nearest is cluster_failed_node_count"),
    ("Nodes/Dimensions/0/Name", "Cluster", "for ClusterName"),
    ("Nodes/MetricName", "hyperpod_node_health_status_pending_reboot", "has no metric hyperpod_node_health_status_pending_reboot"),
    ("Idle/MetricName", "cluster_idle_nodes", "the nearest is cluster_idle_node_count"),
    ("Free/Dimensions/0/Value", "lustre", "which does not begin with fs-"),
    ("Size/Dimensions/1/Value", "AllStorageTypes", "under which BucketSizeBytes is not published; it is under StandardStorage"),
    ("Size/Dimensions/1/Value", "StandardStorages", "it is under StandardStorage"),
    ("Nodes/Namespace", "ECS/ContainerInsights", "which is in /aws/sagemaker/Clusters or ContainerInsights"),
    ("Broken/Dimensions/0/Value", "machine", "which does not begin with arn:"),
    ("Idle/Dimensions/0/Name", "ClusterName", "for ClusterId"),
    ("Idle/Dimensions", [], "publishes cluster_idle_node_count for ClusterId, and it is asked for with no dimensions"),
    ("Free/Period", 10, "FreeDataStorageCapacity has a value each 60 seconds, and it is asked for each 10"),
    ("Free/Unit", "Gigabytes", "FreeDataStorageCapacity is published in Bytes, and the alarm asks for Gigabytes"),
    ("Many/Namespace", "AWS/EKS", "Errors writes Errors into Team, and the alarm asks for it in AWS/EKS"),
    ("Many/Namespace", "Teams", "Errors writes Errors into Team"),
    ("Many/Dimensions", [{"Name": "Job", "Value": "a"}], "writes the metric with no dimensions"),
    ("Many/MetricName", "Error", "the nearest is Errors"),
    ("Band/MetricName", "ReadBytes", "AWS/FSx has no metric ReadBytes"),
    ("Stream/IncludeFilters/0/Namespace", "AWS/FSX", "the nearest is AWS/FSx"),
    ("Stream/IncludeFilters/0/MetricNames/0", "DataReadByte", "the nearest is DataReadBytes"),
    ("Board/DashboardBody", widget(["AWS/SQS", "MessagesSent", "QueueName", "jobs"]), "AWS/SQS has no metric MessagesSent"),
    ("Board/DashboardBody", widget([{"expression": "read / 60", "id": "rate"}]), "names 'read'"),
]


def test_published_metrics_are_no_mistakes() -> None:
    assert findings(BASE, rules="HP-TXT") == []


def test_a_function_of_a_serverless_application_is_a_function() -> None:
    """The transform makes it a function of Lambda, whose name its Ref gives."""
    errors = alarm("AWS/Lambda", "Errors", [{"Name": "FunctionName", "Value": {"Ref": "Work"}}])
    resources = {"Work": resource("AWS::Serverless::Function", Runtime="python3.13", Handler="work.handler"), "Errors": errors}
    assert findings({"Transform": "AWS::Serverless-2016-10-31", "Resources": resources}, rules="HP-TXT") == []


@pytest.mark.parametrize(("path", "value", "message"), MISTAKES)
def test_fails_unpublished_metric(path: str, value: Any, message: str) -> None:
    (found,) = findings(edited(BASE, {path: value}), rules="HP-TXT")
    assert (found.rule, found.resource) == ("HP-TXT-011", path.partition("/")[0])
    assert message in found.message


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("Free/MetricName", {"Ref": "AWS::StackName"}),
        ("Free/Dimensions/0/Value", "fs-1"),
        ("Nodes/MetricName", "node_neuroncore_utilization"),
        ("Nodes/MetricName", "hyperpod_node_health_status_unschedulable"),
        ("Size/Dimensions/1/Value", "IntelligentTieringFAStorage"),
        ("Size/Dimensions/1/Value", "SomeNewStorage"),
        ("Broken/Dimensions/0/Value", {"Fn::Sub": "arn:aws:states:us-west-2:123456789012:stateMachine:machine"}),
        ("Nodes/Namespace", "Team/Nodes"),
        ("Free/Namespace", "AWS/ECS"),
        ("Free/Unit", "Bytes"),
        ("Many/Unit", "None"),
        ("Errors/MetricTransformations/0/MetricName", {"Ref": "AWS::StackName"}),
        (
            "Board/DashboardBody",
            widget(["AWS/SQS", "NumberOfMessagesSent", "QueueName", "a"], ["...", "b"], [{"expression": "m1 * 2"}]),
        ),
    ],
)
def test_unknown_metrics_are_believed(path: str, value: Any) -> None:
    assert findings(edited(BASE, {path: value}), rules="HP-TXT-011") == []


@pytest.mark.parametrize(("value", "wrong"), [({"Ref": "Build"}, False), (att("Build", "Arn"), True), ({"Ref": "Queue"}, True)])
def test_dimensions_of_services_whose_metrics_are_not_known_are_judged_too(value: Any, wrong: bool) -> None:
    build = resource("AWS::CodeBuild::Project", ServiceRole=ROLE)
    failed = alarm("AWS/CodeBuild", "FailedBuilds", [{"Name": "ProjectName", "Value": value}])
    found = findings(edited(BASE, {"Build": build, "Failed": failed}), rules="HP-TXT-011")
    assert [one.resource for one in found] == (["Failed"] if wrong else [])


@pytest.mark.parametrize(
    ("metric", "dimension", "operator", "limit", "message"),
    [
        ("AWS/VPN TunnelState", "VpnId", "GreaterThanOrEqualToThreshold", 1, "TunnelState is 1 while all is well"),
        ("AWS/VPN TunnelState", "VpnId", "LessThanThreshold", 1, ""),
        ("AWS/RDS CPUUtilization", "DBInstanceIdentifier", "GreaterThanThreshold", 0.9, "in percent, and the threshold is 0.9"),
        ("AWS/RDS CPUUtilization", "DBInstanceIdentifier", "GreaterThanThreshold", 90, ""),
    ],
)
def test_fails_alarm_that_rings_while_all_is_well(metric: str, dimension: str, operator: str, limit: float, message: str) -> None:
    namespace, name = metric.split()
    made = alarm(namespace, name, [{"Name": dimension, "Value": "one"}])
    states = {"ComparisonOperator": operator, "Threshold": limit, "Statistic": "Average"}
    made["Properties"].update(states)
    found = findings(edited(BASE, {"Ringing": made}), rules="HP-TXT")
    assert [message in one.message for one in found] == ([True] if message else [])


NAMED_QUEUES = {
    "Events": resource("AWS::SQS::Queue", QueueName="train-events"),
    "Dead": resource("AWS::SQS::Queue", QueueName="train-dead-events"),
}


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("train-dead-letters", True),
        ("train-dead-events", False),
        ("serve-dead-letters", False),
        ({"Fn::Sub": "train-${AWS::StackName}"}, False),
        ("arn:aws:sqs:us-west-2:123456789012:train-dead-events", True),
    ],
)
@pytest.mark.parametrize("other", ["train-dead-events", {"Ref": "Dead"}])
def test_a_queue_of_the_family_is_one_of_the_templates(name: Any, wrong: bool, other: Any) -> None:
    dead = alarm("AWS/SQS", "NumberOfMessagesSent", [{"Name": "QueueName", "Value": name}])
    found = findings({"Resources": {**NAMED_QUEUES, "Alarm": dead}}, rules="HP-TXT-011")
    assert [one.resource for one in found] == ["Alarm"] * wrong


@pytest.mark.parametrize(
    "resources",
    [
        {"Queue": resource("AWS::SQS::Queue", QueueName={"Fn::Sub": "train-${AWS::StackName}"})},
        {"Queue": resource("AWS::SQS::Queue", QueueName="serve-events"), "Dead": NAMED_QUEUES["Dead"]},
        {"Queue": resource("AWS::SQS::Queue")},
    ],
)
def test_a_name_that_may_be_of_something_else_is_believed(resources: dict[str, Any]) -> None:
    dead = alarm("AWS/SQS", "NumberOfMessagesSent", [{"Name": "QueueName", "Value": "train-dead-letters"}])
    assert findings({"Resources": {**resources, "Alarm": dead}}, rules="HP-TXT-011") == []


def test_the_default_of_a_parameter_may_name_what_is_elsewhere() -> None:
    dead = alarm("AWS/SQS", "NumberOfMessagesSent", [{"Name": "QueueName", "Value": {"Ref": "Other"}}])
    parameters = {"Other": {"Type": "String", "Default": "train-dead-letters"}}
    assert findings({"Parameters": parameters, "Resources": {**NAMED_QUEUES, "Alarm": dead}}, rules="HP-TXT-011") == []


@pytest.mark.parametrize(("dimension", "wrong"), [("ClusterId", True), ("ClusterName", False)])
def test_the_id_of_a_cluster_is_not_its_name(dimension: str, wrong: bool) -> None:
    nodes = {"Type": "AWS::SageMaker::Cluster", "Properties": {"ClusterName": "train"}}
    space = "/aws/sagemaker/Clusters" if wrong else "ContainerInsights"
    failed = alarm(space, "cluster_failed_node_count", [{"Name": dimension, "Value": "train"}])
    found = findings({"Resources": {"Nodes": nodes, "Alarm": failed}}, rules="HP-TXT-011")
    assert [one.message for one in found] == ["the dimension ClusterId is 'train', the name of Nodes"] * wrong


@pytest.mark.parametrize(
    ("metric", "operator", "limit", "wrong"),
    [
        ("StorageCapacityUtilization", "GreaterThanThreshold", 8500, True),
        ("StorageCapacityUtilization", "GreaterThanThreshold", 85, False),
        ("FileServerDiskIopsBalance", "LessThanThreshold", 2000, True),
        ("FileServerDiskIopsBalance", "LessThanThreshold", 20, False),
        ("FileServerDiskIopsUtilization", "GreaterThanThreshold", 120, False),
    ],
)
def test_percentages_end_at_a_hundred(metric: str, operator: str, limit: float, wrong: bool) -> None:
    made = alarm("AWS/FSx", metric, [{"Name": "FileSystemId", "Value": "fs-1"}])
    made["Properties"].update({"ComparisonOperator": operator, "Threshold": limit, "Statistic": "Average"})
    found = findings({"Resources": {"Alarm": made}}, rules="HP-TXT-011")
    assert ["is a percentage" in one.message for one in found] == [True] * wrong


@pytest.mark.parametrize(("name", "wrong"), [("train-away", True), ("serve-away", False), ("train-errors", False)])
def test_a_composite_alarm_is_of_alarms_of_the_templates(name: str, wrong: bool) -> None:
    errors = edited({"Resources": {"A": alarm("Team", "Errors", [])}}, {"A/AlarmName": "train-errors"})["Resources"]["A"]
    trouble = resource("AWS::CloudWatch::CompositeAlarm", AlarmName="train-trouble", AlarmRule=f'ALARM("{name}")')
    found = findings({"Resources": {"Errors": errors, "Trouble": {**trouble, "DependsOn": "Errors"}}}, rules="HP-TXT-003")
    assert [one.message for one in found] == [f"no alarm of the templates is named {name}"] * wrong


def of_two(namespace: str, part: str, whole: str, expression: str, limit: float) -> dict[str, Any]:
    """An alarm on an expression of two metrics, of which one is a part of the other."""
    of = {"Name": "FileSystemId" if namespace == "AWS/FSx" else "FunctionName", "Value": "fs-1"}
    names = {"part": part, "whole": whole}
    metrics = {id: {"Namespace": namespace, "MetricName": name, "Dimensions": [of]} for id, name in names.items()}
    stats = [
        {"Id": id, "ReturnData": False, "MetricStat": {"Metric": metric, "Stat": "Sum", "Period": 300}}
        for id, metric in metrics.items()
    ]
    asked = {"EvaluationPeriods": 1, "Threshold": limit, "ComparisonOperator": "GreaterThanThreshold"}
    return resource("AWS::CloudWatch::Alarm", Metrics=[{"Id": "full", "Expression": expression}, *stats], **asked)


STORED, FAILED = ("AWS/FSx", "UsedStorageCapacity", "StorageCapacity"), ("AWS/Lambda", "Errors", "Invocations")


@pytest.mark.parametrize(
    ("metrics", "expression", "limit", "said"),
    [
        (STORED, "100 * part / whole", 0.85, "the expression is in percent"),
        (STORED, "(part / whole) * 100", 8500, "never above 8500"),
        (FAILED, "part / whole", 5, "never above 5"),
        (STORED, "part / whole", 0.85, ""),
        (STORED, "100 * (part / whole)", 85, ""),
        (FAILED, "100 * part / whole", 0.5, ""),
        (STORED, "100 - 100 * part / whole", 0.85, ""),
        (("AWS/FSx", "DataReadBytes", "StorageCapacity"), "part / whole", 5, ""),
    ],
)
def test_a_part_of_a_whole_is_one_at_most(metrics: tuple[str, str, str], expression: str, limit: float, said: str) -> None:
    found = findings({"Resources": {"Alarm": of_two(*metrics, expression, limit)}}, rules="HP-TXT-011")
    assert [said in one.message for one in found if one.path.endswith("Threshold")] == ([True] if said else [])


@pytest.mark.parametrize(
    ("metric", "statistic", "period", "place"),
    [
        ("AWS/RDS CPUUtilization", "Sum", 300, "Statistic"),
        ("AWS/RDS FreeStorageSpace", "Sum", 300, "Statistic"),
        ("AWS/RDS CPUUtilization", "Sum", 60, ""),
        ("AWS/RDS CPUUtilization", "Maximum", 300, ""),
        ("AWS/FSx UsedStorageCapacity", "Sum", 300, ""),
        ("AWS/FSx FreeDataStorageCapacity", "Sum", 300, "Period"),
        ("AWS/FSx FreeDataStorageCapacity", "Sum", 60, ""),
        ("AWS/FSx LogicalDiskUsage", "Average", 300, ""),
    ],
)
def test_levels_are_not_added_up(metric: str, statistic: str, period: int, place: str) -> None:
    namespace, name = metric.split()
    dimension = "DBInstanceIdentifier" if namespace == "AWS/RDS" else "FileSystemId"
    made = alarm(namespace, name, [{"Name": dimension, "Value": "fs-1"}], period)
    made["Properties"].update({"Statistic": statistic, "Threshold": 80 if "CPU" in name else 10_000_000_000})
    found = findings({"Resources": {"Alarm": made}}, rules="HP-TXT-011")
    assert [one.path.rpartition("/")[2] for one in found if "adds up" in one.message] == ([place] if place else [])


TIB = 2**40


@pytest.mark.parametrize(
    ("metric", "statistic", "limit", "store", "says"),
    [
        ("FreeDataStorageCapacity", "Minimum", TIB, {}, "while much of the file system is free"),
        ("FreeDataStorageCapacity", "Average", TIB, {"StorageType": "SSD"}, "while much of the file system is free"),
        ("FreeDataStorageCapacity", "Minimum", TIB / 10, {}, ""),
        ("FreeDataStorageCapacity", "Sum", TIB, {}, ""),
        ("FreeDataStorageCapacity", "Minimum", TIB, {"StorageCapacity": 2400}, ""),
        ("FreeDataStorageCapacity", "Minimum", TIB, {"StorageCapacity": {"Ref": "AWS::StackName"}}, ""),
        ("FreeDataStorageCapacity", "Minimum", TIB, {"LustreConfiguration": {"EfaEnabled": {"Ref": "AWS::StackName"}}}, ""),
        ("LogicalDiskUsage", "Maximum", 7 * TIB, {}, "never rings"),
        ("LogicalDiskUsage", "Maximum", TIB, {}, ""),
    ],
)
def test_a_limit_for_the_file_system_is_for_the_sum_of_its_disks(
    metric: str, statistic: str, limit: float, store: dict[str, Any], says: str
) -> None:
    lustre = {"StorageCapacity": 9600, "LustreConfiguration": {"DeploymentType": "SCRATCH_2"}, **store}
    made = alarm("AWS/FSx", metric, [NAMED], 60)
    made["Properties"].update({"Statistic": statistic, "Threshold": limit})
    resources = {"Lustre": resource("AWS::FSx::FileSystem", FileSystemType="LUSTRE", **lustre), "Alarm": made}
    found = [one for one in findings({"Resources": resources}, rules="HP-TXT-011") if "is a value of one disk" in one.message]
    assert [says in one.message for one in found] == ([True] if says else [])


@pytest.mark.parametrize(
    ("kind", "shown", "message"),
    [
        ("alarm", {"alarms": ["${Many.Arn}"]}, None),
        ("alarm", {"alarms": ["${Many.Arn}", "${Many}"]}, "alarms/1 of widgets/0: '${Many}' is no ARN"),
        ("alarm", {"alarms": ["many-errors"]}, "alarms/0 of widgets/0: 'many-errors' is no ARN"),
        ("alarm", {"alarms": ["${Jobs.Arn}"]}, "alarms/0 of widgets/0"),
        ("alarm", {"alarms": ["arn:aws:cloudwatch:us-west-2:123456789012:alarm:others"]}, None),
        ("metric", {"metrics": [["AWS/SQS", "NumberOfMessagesSent", "QueueName", "${Jobs.QueueName}"]]}, None),
        (
            "metric",
            {"metrics": [["AWS/SQS", "NumberOfMessagesSent", "QueueName", "${Jobs.Arn}"]]},
            "metrics/0 of widgets/0: the dimen",
        ),
        (
            "metric",
            {"metrics": [["AWS/SQS", "NumberOfMessagesSent", "QueueName", "${Many}", {"stat": "Sum"}]]},
            "of AWS::CloudWatch::Al",
        ),
        ("metric", {"metrics": [["AWS/SQS", "NumberOfMessagesSent", "QueueName", "."]]}, None),
        ("metric", {"metrics": [["Team", "Errors"]]}, None),
        ("metric", {"metrics": [["Teams", "Errors"]]}, "Errors writes Errors into Team, and the widget asks for it in Teams"),
        ("metric", {"metrics": [["Team", "Error", {"stat": "Sum"}]]}, "nothing writes Error into Team; the nearest is Errors"),
        ("metric", {"metrics": [["Team", "Errors", "Job", "${Jobs}"]]}, "with no dimensions, and the widget asks for it with"),
        ("metric", {"metrics": [["AWS/EKS", "Errors"]]}, "Errors writes Errors into Team, and the widget asks for it in AWS/EKS"),
    ],
)
def test_widgets_name_alarms_and_resources_as_cloudwatch_does(kind: str, shown: dict[str, Any], message: str | None) -> None:
    body = json.dumps({"widgets": [{"type": kind, "properties": {"region": "us-west-2", "title": "a", **shown}}]})
    resources = {
        "Many": BASE["Resources"]["Many"],
        "Errors": BASE["Resources"]["Errors"],
        "Jobs": resource("AWS::SQS::Queue"),
        "Board": resource("AWS::CloudWatch::Dashboard", DashboardBody={"Fn::Sub": body}),
    }
    found = findings({"Resources": resources}, rules="HP-TXT")
    assert [message is not None and message in one.message for one in found] == ([] if message is None else [True]), found


@pytest.mark.parametrize(
    ("kind", "metric", "wrong"),
    [
        ("LUSTRE", "UsedStorageCapacity", True),
        ("LUSTRE", "LogicalDiskUsage", False),
    ],
)
def test_kinds_of_file_systems_have_metrics_of_their_own(kind: str, metric: str, wrong: bool) -> None:
    store = {"Type": "AWS::FSx::FileSystem", **KEPT, "Properties": {"FileSystemType": kind, "SubnetIds": ["subnet-1"]}}
    made = alarm("AWS/FSx", metric, [{"Name": "FileSystemId", "Value": {"Ref": "Store"}}], 60)
    made["Properties"] |= {"ComparisonOperator": "GreaterThanThreshold", "Threshold": 10_000_000_000}
    found = findings({"Resources": {"Store": store, "Alarm": made}}, rules="HP-TXT-011")
    assert [f"of the type {kind} has no metric {metric}" in one.message for one in found] == [True] * wrong


@pytest.mark.parametrize(
    ("namespace", "wrong"), [("AWS/Aurora", True), ("AWS/RDS", False), ("AWS/DocDB", False), ("Team/Aurora", False)]
)
def test_a_metric_of_databases_is_in_the_namespace_of_their_service(namespace: str, wrong: bool) -> None:
    made = alarm(namespace, "CPUUtilization", [{"Name": "DBClusterIdentifier", "Value": "accounting"}])
    made["Properties"] |= {"Statistic": "Average", "Threshold": 90, "ComparisonOperator": "GreaterThanThreshold"}
    found = findings({"Resources": {"Alarm": made}}, rules="HP-TXT-011")
    assert ["which is in AWS/RDS" in one.message for one in found] == [True] * wrong


@pytest.mark.parametrize(("metric", "wrong"), [("NumberOfMessagesSent", True), ("ApproximateNumberOfMessagesVisible", False)])
def test_moved_messages_are_not_sent_even_where_others_are(metric: str, wrong: bool) -> None:
    made = alarm("AWS/SQS", metric, [{"Name": "QueueName", "Value": att("Dead", "QueueName")}])
    made["Properties"] |= {"Statistic": "Sum", "Threshold": 0, "ComparisonOperator": "GreaterThanThreshold"}
    resources = {
        "Dead": resource("AWS::SQS::Queue"),
        "Jobs": resource("AWS::SQS::Queue", RedrivePolicy={"deadLetterTargetArn": att("Dead"), "maxReceiveCount": 3}),
        "Config": resource(
            "AWS::Lambda::EventInvokeConfig",
            FunctionName="a",
            Qualifier="$LATEST",
            DestinationConfig={"OnFailure": {"Destination": att("Dead")}},
        ),
        "Alarm": made,
    }
    found = findings({"Resources": resources}, rules="HP-TXT-011")
    assert ["counts none of them" in one.message for one in found] == [True] * wrong


@pytest.mark.parametrize(
    ("region", "metric", "wrong"),
    [
        ("us-east-1", ["AWS/SQS", "NumberOfMessagesSent", "QueueName", "${Jobs.QueueName}"], True),
        ("us-east-1", ["AWS/SQS", "NumberOfMessagesSent", "QueueName", "${Jobs.QueueName}", {"region": "us-west-2"}], False),
        ("us-east-1", ["Team", "Errors"], True),
        ("us-east-1", ["Others", "Failures"], False),
        ("us-east-1", ["AWS/Billing", "EstimatedCharges", "Currency", "USD"], False),
        ("us-east-1", ["AWS/DDoSProtection", "DDoSDetected", "ResourceArn", "${Zone}"], False),
        ("us-west-2", ["AWS/SQS", "NumberOfMessagesSent", "QueueName", "${Jobs.QueueName}"], False),
        ("${AWS::Region}", ["AWS/SQS", "NumberOfMessagesSent", "QueueName", "${Jobs.QueueName}"], False),
    ],
)
def test_a_widget_asks_for_metrics_in_their_region(region: str, metric: list[Any], wrong: bool) -> None:
    body = json.dumps({"widgets": [{"type": "metric", "properties": {"region": region, "metrics": [metric]}}]})
    resources = {
        "Net": resource("AWS::EC2::Subnet", VpcId="vpc-1", CidrBlock="10.0.0.0/24", AvailabilityZone="us-west-2b"),
        "Many": BASE["Resources"]["Many"],
        "Errors": BASE["Resources"]["Errors"],
        "Jobs": resource("AWS::SQS::Queue"),
        "Zone": resource("AWS::Route53::HostedZone", Name="lab.example"),
        "Board": resource("AWS::CloudWatch::Dashboard", DashboardBody={"Fn::Sub": body}),
    }
    found = findings({"Resources": resources}, rules="HP-TXT-011")
    assert ["the metric is in us-west-2, and the widget asks" in one.message for one in found] == [True] * wrong


def test_an_alarm_tells_of_a_metric_that_a_widget_shows_too() -> None:
    shown = json.dumps({"widgets": [{"type": "metric", "properties": {"region": "us-west-2", "metrics": [["Teams", "Errors"]]}}]})
    board = resource("AWS::CloudWatch::Dashboard", DashboardBody=shown)
    (found,) = findings(edited(BASE, {"Many/Namespace": "Teams", "Board": board}), rules="HP-TXT")
    assert found.resource == "Many"


CLUSTERS: dict[str, Any] = {
    "Plane": {"Type": "AWS::EKS::Cluster", "Properties": {"Name": "train-eks"}},
    "Nodes": {"Type": "AWS::SageMaker::Cluster", "Properties": {"ClusterName": "train-nodes"}},
    "Tasks": {"Type": "AWS::ECS::Cluster", "Properties": {"ClusterName": "train-tasks"}},
}


def of_clusters(namespace: str, metric: str, value: Any, **more: Any) -> list[str]:
    asked = alarm(namespace, metric, [{"Name": "ClusterName", "Value": value}])
    return [one.message for one in findings({"Resources": {**CLUSTERS, "Alarm": asked, **more}}, rules="HP-TXT-011")]


@pytest.mark.parametrize(
    ("namespace", "metric", "value", "says"),
    [
        ("ContainerInsights", "cluster_failed_node_count", "train-nodes", "'train-nodes', the name of Nodes"),
        ("ContainerInsights", "cluster_failed_node_count", "train-tasks", "'train-tasks', the name of Tasks"),
        ("ECS/ContainerInsights", "TaskCount", "train-eks", "'train-eks', the name of Plane"),
        ("ContainerInsights", "cluster_failed_node_count", {"Ref": "Tasks"}, "of AWS::ECS::Cluster"),
        ("ECS/ContainerInsights", "TaskCount", {"Ref": "Plane"}, "of AWS::EKS::Cluster"),
    ],
)
def test_fails_cluster_of_another_kind(namespace: str, metric: str, value: Any, says: str) -> None:
    (found,) = of_clusters(namespace, metric, value)
    assert says in found


@pytest.mark.parametrize(
    ("namespace", "metric", "value", "more"),
    [
        ("ContainerInsights", "cluster_failed_node_count", "train-eks", {}),
        ("ContainerInsights", "cluster_failed_node_count", {"Ref": "Plane"}, {}),
        ("ContainerInsights", "cluster_failed_node_count", "elsewhere", {}),
        ("ECS/ContainerInsights", "TaskCount", "train-tasks", {}),
        (
            *("ContainerInsights", "cluster_failed_node_count", "train-nodes"),
            {"Other": {"Type": "AWS::EKS::Cluster", "Properties": {"Name": "train-nodes"}}},
        ),
    ],
)
def test_a_cluster_that_may_be_of_the_kind(namespace: str, metric: str, value: Any, more: dict[str, Any]) -> None:
    assert of_clusters(namespace, metric, value, **more) == []
