"""Alarms, events, log metrics and the dashboard of a cluster, by their templates."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Environment, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from typer.main import get_command

from hyperpod_constructs import (
    ClusterAlarms,
    ClusterDashboard,
    ClusterEvents,
    ClusterInstanceType,
    ClusterLogGroup,
    ClusterLogMetrics,
    ClusterMonitoring,
    ClusterNetwork,
    EventLevel,
    ExistingCluster,
    FailureClass,
    HyperPodCluster,
    LustreStorage,
    OpenZfsStorage,
    SlurmCluster,
    alarms_topic,
)
from hyperpod_constructs.cli import commands as cli
from hyperpod_constructs.facts.metric_names import namespaces
from hyperpod_constructs.observability.file_systems import MonitoredFileSystem
from tests.conftest import only, resources, synthesize

ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefgh1234"
ALARM, RULE = "AWS::CloudWatch::Alarm", "AWS::Events::Rule"


@pytest.fixture
def existing() -> ExistingCluster:
    return HyperPodCluster.from_cluster_attributes(cluster_arn=ARN, cluster_name="demo")


@pytest.fixture
def topic(stack: Stack) -> sns.Topic:
    return alarms_topic(stack, "Topic", emails=["team@example.com"])


def metrics_of(namespace: str, name: str) -> Collection[str]:
    """The metrics of a namespace; those of users have any name."""
    found = namespaces().get(namespace)
    return (name,) if found is None else found.metrics


def alarms(stack: Stack) -> dict[str, dict[str, Any]]:
    return {name: alarm["Properties"] for name, alarm in resources(stack, ALARM).items()}


def alarm(stack: Stack, end: str) -> dict[str, Any]:
    (found,) = [alarm for name, alarm in alarms(stack).items() if name[:-8].endswith(end)]
    return found


def patterns(stack: Stack) -> dict[str, dict[str, Any]]:
    return {
        rule["Properties"]["EventPattern"]["detail-type"][0].split()[-2]: rule["Properties"]
        for rule in resources(stack, RULE).values()
    }


def test_the_short_way_watches_the_cluster_and_its_file_systems(
    stack: Stack, network: ClusterNetwork, lustre: LustreStorage, topic: sns.Topic
) -> None:
    homes = OpenZfsStorage(stack, "Homes", network=network)
    cluster = SlurmCluster(
        stack,
        "Slurm",
        network=network,
        file_system=lustre,
        home_file_system=homes,
        worker_type=ClusterInstanceType.P5_48XLARGE,
        worker_count=2,
        alarms_topic=topic,
    )
    assert cluster.monitoring is not None
    own = ["FailedNodes", *(failure.value for failure in FailureClass), "FailedOperations"]
    of_lustre = [f"Lustre{name}" for name in ("Capacity", "Reads", "Writes", "Imports", "Exports")]
    assert list(cluster.monitoring.alarms.alarms) == [*own, *of_lustre, "HomesCapacity", "HomesReads", "HomesWrites"]
    arn = stack.resolve(topic.topic_arn)
    for each in alarms(stack).values():
        assert (each["AlarmActions"], each["OKActions"], each["TreatMissingData"]) == ([arn], [arn], "notBreaching")
        assert each["MetricName"] in metrics_of(str(each["Namespace"]), each["MetricName"])
    composite = only(stack, "AWS::CloudWatch::CompositeAlarm")["Properties"]
    assert "AlarmActions" not in composite
    rule = json.dumps(composite["AlarmRule"])
    assert all(f'"Ref": "{name}"' in rule for name in alarms(stack))


def test_without_a_topic_there_is_nothing(stack: Stack, network: ClusterNetwork, lustre: LustreStorage) -> None:
    kind = ClusterInstanceType.P5_48XLARGE
    cluster = SlurmCluster(stack, "Slurm", network=network, file_system=lustre, worker_type=kind, worker_count=2)
    assert cluster.monitoring is None
    assert not resources(stack, ALARM)
    assert not resources(stack, RULE)


def test_every_alarm_says_what_to_do(stack: Stack, existing: ExistingCluster, topic: sns.Topic, lustre: LustreStorage) -> None:
    ClusterMonitoring(stack, "Monitoring", cluster=existing, topic=topic, file_systems={"Lustre": lustre})
    commands: Any = get_command(cli.app)
    for name, each in alarms(stack).items():
        said = each["AlarmDescription"]
        assert all(commands.get_command(None, word) for word in re.findall(r"hyperpod ([a-z-]+)", said)), said
        assert "hyperpod " in said or "aws fsx" in said or "raise its capacity" in said, name
        assert "--cluster demo" in said or "Lustre" in name
        assert len(said) <= 1024


def test_a_cluster_that_cloudformation_names_is_named_by_its_arn(stack: Stack) -> None:
    ClusterAlarms(stack, "Alarms", cluster=HyperPodCluster.from_cluster_arn(ARN))
    assert f"hyperpod status --cluster {ARN}." in alarm(stack, "FailedNodes")["AlarmDescription"]


def test_another_alarm_renames_none(stack: Stack, existing: ExistingCluster, lustre: LustreStorage) -> None:
    other = Stack(App(), "Stack", env=Environment(account="123456789012", region="us-west-2"))
    network = ClusterNetwork(other, "Network", availability_zone_id="usw2-az4")
    homes = OpenZfsStorage(other, "Homes", network=network)
    ClusterAlarms(stack, "Alarms", cluster=existing, file_systems={"Lustre": lustre})
    same = LustreStorage(other, "Lustre", network=network)
    ClusterAlarms(other, "Alarms", cluster=existing, file_systems={"Homes": homes, "Lustre": same})
    assert alarms(stack).keys() < alarms(other).keys()


def test_thresholds_of_a_lustre_file_system(stack: Stack, existing: ExistingCluster, lustre: LustreStorage) -> None:
    """A minute has one sample for each disk, so that the sum of one minute is the whole file system's room."""
    ClusterAlarms(
        stack, "Alarms", cluster=existing, file_systems={"Lustre": lustre}, used_percent=75, throughput_percent=50, queue_minutes=10
    )
    room = alarm(stack, "Capacity")
    assert (room["MetricName"], room["Statistic"], room["Period"]) == ("FreeDataStorageCapacity", "Sum", 60)
    assert (room["Threshold"], room["ComparisonOperator"]) == (300 * 2**30, "LessThanOrEqualToThreshold")
    assert alarm(stack, "Reads")["Threshold"] == 300e6 * 300 / 2
    assert alarm(stack, "Exports")["Threshold"] == 600
    assert {"Name": "Publisher", "Value": "AutoExport"} in alarm(stack, "Exports")["Dimensions"]


def test_thresholds_of_an_openzfs_file_system(stack: Stack, existing: ExistingCluster, network: ClusterNetwork) -> None:
    homes = OpenZfsStorage(stack, "Homes", network=network, storage_capacity_gib=100, throughput_capacity=320)
    ClusterAlarms(stack, "Alarms", cluster=existing, file_systems={"Homes": homes})
    room = alarm(stack, "Capacity")
    assert (room["MetricName"], room["Statistic"], room["Threshold"]) == ("UsedStorageCapacity", "Average", 85 * 2**30)
    assert alarm(stack, "Writes")["Threshold"] == pytest.approx(320e6 * 300 * 0.9)
    assert not [name for name in alarms(stack) if "Imports" in name]


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({"used_percent": None}, {"Reads", "Writes", "Imports", "Exports"}),
        ({"throughput_percent": None}, {"Capacity", "Imports", "Exports"}),
        ({"queue_minutes": None}, {"Capacity", "Reads", "Writes"}),
    ],
)
def test_alarms_are_left_out_by_none(
    stack: Stack, existing: ExistingCluster, lustre: LustreStorage, given: dict[str, Any], left: set[str]
) -> None:
    made = ClusterAlarms(stack, "Alarms", cluster=existing, slurm_metrics=False, file_systems={"": lustre}, **given)
    assert set(made.alarms) == left


def test_figures_that_are_not_known_have_no_alarm(stack: Stack, existing: ExistingCluster, network: ClusterNetwork) -> None:
    size: Any = CfnParameter(stack, "Size", type="Number", default=1200).value_as_number
    imported = LustreStorage.from_attributes(file_system_id="fs-0123456789abcdef0", mount_name="abcdefgh")
    systems: dict[str, MonitoredFileSystem] = {
        "Unknown": LustreStorage(stack, "Lustre", network=network, storage_capacity_gib=size),
        "Imported": imported,
    }
    made = ClusterAlarms(stack, "Alarms", cluster=existing, slurm_metrics=False, file_systems=systems)
    assert set(made.alarms) == {"UnknownImports", "UnknownExports", "ImportedImports", "ImportedExports"}


def test_alarms_without_any_have_a_composite_that_never_rings(stack: Stack, existing: ExistingCluster) -> None:
    ClusterAlarms(stack, "Alarms", cluster=existing, slurm_metrics=False)
    assert only(stack, "AWS::CloudWatch::CompositeAlarm")["Properties"]["AlarmRule"] == "FALSE"


def test_an_alarm_of_ones_own_joins_the_composite_one(stack: Stack, existing: ExistingCluster) -> None:
    made = ClusterAlarms(stack, "Alarms", cluster=existing)
    metric = cloudwatch.Metric(namespace="N", metric_name="m")
    own = cloudwatch.Alarm(stack, "Own", metric=metric, threshold=1, evaluation_periods=1)
    made.include("Own", own)
    assert json.dumps({"Ref": stack.get_logical_id(own.node.default_child)}) in json.dumps(  # type: ignore[arg-type]
        only(stack, "AWS::CloudWatch::CompositeAlarm")["Properties"]["AlarmRule"]
    )
    with pytest.raises(ValueError, match="an alarm 'Own' exists; the names are FailedNodes, Own"):
        made.include("Own", own)


def test_a_topic_of_alarms_is_encrypted_with_a_key_that_lets_them_in(stack: Stack, existing: ExistingCluster) -> None:
    topic = alarms_topic(stack, "Topic", emails=["a@example.com", "b@example.com"])
    ClusterMonitoring(stack, "Monitoring", cluster=existing, topic=topic)
    statements = only(stack, "AWS::KMS::Key")["Properties"]["KeyPolicy"]["Statement"]
    services = [f"{name}.amazonaws.com" for name in ("budgets", "cloudwatch", "events")]
    assert {"Service": services} in [statement["Principal"] for statement in statements]
    senders = {
        str(statement["Principal"].get("Service")): statement.get("Condition")
        for statement in only(stack, "AWS::SNS::TopicPolicy")["Properties"]["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    }
    assert senders.keys() == {"cloudwatch.amazonaws.com", "events.amazonaws.com"}
    assert all({"StringEquals", "ArnLike"} == (condition or {}).keys() for condition in senders.values())
    assert {each["Properties"]["Endpoint"] for each in resources(stack, "AWS::SNS::Subscription").values()} == {
        "a@example.com",
        "b@example.com",
    }
    synthesize(stack)


def test_a_key_from_elsewhere_is_a_warning(stack: Stack) -> None:
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-west-2:123456789012:key/1234abcd-0000-4000-8000-1234567890ab")
    topic = alarms_topic(stack, "Topic", encryption_key=key)
    (warning,) = [entry for entry in stack.node.metadata if entry.type == "aws:cdk:warning"]
    assert "it must allow budgets.amazonaws.com and cloudwatch.amazonaws.com and events.amazonaws.com" in str(warning.data)
    assert topic.node.id == "Topic"


def test_fails_for_an_address_that_is_none(stack: Stack) -> None:
    with pytest.raises(ValueError, match=r"allowed: an address such as team@example\.com"):
        alarms_topic(stack, "Topic", emails=["team"])


@pytest.mark.parametrize(
    ("level", "levels", "status", "health"),
    [
        (EventLevel.ERROR, ["Error"], ["Failed"], True),
        (EventLevel.WARN, ["Warn", "Error"], ["Failed", "RollingBack"], True),
        (EventLevel.INFO, ["Info", "Warn", "Error"], None, False),
    ],
)
def test_rules_by_level(
    stack: Stack, existing: ExistingCluster, level: EventLevel, levels: list[str], status: list[str] | None, health: bool
) -> None:
    ClusterEvents(stack, "Events", cluster=existing, level=level, queues=[sqs.Queue(stack, "Queue", enforce_ssl=True)])
    found = {name: rule["EventPattern"] for name, rule in patterns(stack).items()}
    assert found["Cluster"]["detail"] == {"EventDetails": {"EventLevel": levels}}
    assert found["State"].get("detail", {}).get("ClusterStatus") == status
    assert ("detail" in found["Health"]) is health
    assert found["Health"]["source"] == ["aws.sagemaker", "hyperpod-constructs"]
    assert {tuple(pattern["resources"]) for pattern in found.values()} == {(ARN,)}


def test_events_reach_topics_queues_and_functions(stack: Stack, existing: ExistingCluster, topic: sns.Topic) -> None:
    queue = sqs.Queue(stack, "Queue", enforce_ssl=True)
    code = lambda_.Code.from_inline("def handler(event, context): ...")
    function = lambda_.Function(stack, "Function", code=code, handler="index.handler", runtime=lambda_.Runtime.PYTHON_3_14)
    made = ClusterEvents(stack, "Events", cluster=existing, topics=[topic], queues=[queue], functions=[function])
    for rule in patterns(stack).values():
        assert [target["Arn"] for target in rule["Targets"]] == [
            stack.resolve(arn) for arn in (topic.topic_arn, queue.queue_arn, function.function_arn)
        ]
    permissions = resources(stack, "AWS::Lambda::Permission").values()
    sources = [permission["Properties"]["SourceArn"] for permission in permissions]
    assert sorted(map(str, sources)) == sorted(str(stack.resolve(rule.attr_arn)) for rule in made.rules)
    allowed = only(stack, "AWS::SQS::QueuePolicy")["Properties"]["PolicyDocument"]["Statement"]
    assert {"Service": "events.amazonaws.com"} in [statement["Principal"] for statement in allowed]
    synthesize(stack)


def test_fails_for_events_that_nobody_receives(stack: Stack, existing: ExistingCluster) -> None:
    with pytest.raises(ValueError, match="Events: topics, queues and functions are empty; give at least one receiver"):
        ClusterEvents(stack, "Events", cluster=existing)


def test_faults_in_the_log_group_become_events_that_only_this_function_may_send(
    stack: Stack, existing: ExistingCluster, topic: sns.Topic
) -> None:
    group = ClusterLogGroup(stack, "LogGroup", cluster=existing)
    ClusterEvents(stack, "Events", cluster=existing, topics=[topic], log_group=group)
    subscription = only(stack, "AWS::Logs::SubscriptionFilter")
    name = stack.resolve(group.log_group_name)
    assert (subscription["Properties"]["FilterPattern"], subscription["Properties"]["LogGroupName"]) == (
        "HealthMonitoringAgentDetectionEvent",
        name,
    )
    awaited = {resources(stack)[each]["Type"] for each in subscription["DependsOn"]}
    assert awaited == {"AWS::Lambda::Permission", "AWS::IAM::Policy"}
    statements = [
        statement
        for policy in resources(stack, "AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]
    (sending,) = [statement for statement in statements if statement["Action"] == "events:PutEvents"]
    assert sending["Condition"] == {"StringEquals": {"events:source": "hyperpod-constructs"}}


def test_each_class_of_failures_is_a_metric_of_the_cluster(stack: Stack, existing: ExistingCluster) -> None:
    group = ClusterLogGroup(stack, "LogGroup", cluster=existing)
    ClusterLogMetrics(stack, "Metrics", cluster=existing, log_group=group)
    transformations = [
        filter["Properties"]["MetricTransformations"][0] for filter in resources(stack, "AWS::Logs::MetricFilter").values()
    ]
    assert {each["MetricName"] for each in transformations} == {failure.value for failure in FailureClass}
    assert {each["MetricNamespace"] for each in transformations} == {"HyperPod/Clusters/abcdefgh1234"}


def test_the_log_group_is_kept_and_its_key_lets_logs_in(stack: Stack, existing: ExistingCluster) -> None:
    key = kms.Key(stack, "Key")
    ClusterLogGroup(stack, "LogGroup", cluster=existing, retention_days=30, encryption_key=key)
    properties = only(stack, "Custom::HyperPodClusterLogGroup")["Properties"]
    assert (properties["ClusterArn"], properties["RetentionInDays"]) == (ARN, 30)
    assert ":log-group:/aws/sagemaker/Clusters/*" in json.dumps(only(stack, "AWS::KMS::Key")["Properties"]["KeyPolicy"])
    policies = json.dumps(resources(stack, "AWS::IAM::Policy"))
    assert all(f"logs:{action}" in policies for action in ("CreateLogGroup", "PutRetentionPolicy", "AssociateKmsKey"))
    assert ":log-group:/aws/sagemaker/Clusters/demo/abcdefgh1234*" in policies


def test_fails_for_days_that_are_not_offered(stack: Stack, existing: ExistingCluster) -> None:
    with pytest.raises(ValueError, match=r"LogGroup: retention_days is 31; allowed: 1, 3, .*; write retention_days=60"):
        ClusterLogGroup(stack, "LogGroup", cluster=existing, retention_days=31)


def test_the_dashboard_shows_known_metrics_side_by_side(
    stack: Stack, network: ClusterNetwork, existing: ExistingCluster, lustre: LustreStorage, topic: sns.Topic
) -> None:
    homes = OpenZfsStorage(stack, "Homes", network=network)
    ClusterMonitoring(stack, "Monitoring", cluster=existing, topic=topic, file_systems={"Lustre": lustre, "Homes": homes})
    parts = only(stack, "AWS::CloudWatch::Dashboard")["Properties"]["DashboardBody"]["Fn::Join"][1]
    widgets = json.loads("".join(part if isinstance(part, str) else "X" for part in parts))["widgets"]
    title, states, *graphs = widgets
    assert title["properties"]["markdown"] == "# HyperPod cluster demo"
    assert len(states["properties"]["alarms"]) == len(alarms(stack))
    shown = [metric for graph in graphs for metric in graph["properties"]["metrics"]]
    assert all(name in metrics_of(namespace, name) for namespace, name, *_ in shown)
    assert {name for namespace, name, *_ in shown if namespace == "/aws/sagemaker/Clusters"} <= set(
        namespaces()["/aws/sagemaker/Clusters"].metrics
    )
    places = [(graph["x"], graph["y"]) for graph in graphs]
    assert len(set(places)) == len(places)
    assert {x for x, _ in places} == {0, 8, 16}


def test_a_dashboard_of_a_cluster_alone(stack: Stack, existing: ExistingCluster) -> None:
    ClusterDashboard(stack, "Dashboard", cluster=existing, slurm_metrics=False)
    body = json.loads(only(stack, "AWS::CloudWatch::Dashboard")["Properties"]["DashboardBody"])
    assert [widget["type"] for widget in body["widgets"]] == ["text"]
