"""Software updates in batches: their order, the waits, the alarms, failures, and what the operations show of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import BotoClients
from hyperpod_constructs.local.hyperpod.service import HyperPod
from hyperpod_constructs.local.hyperpod.watch import alarm_states
from hyperpod_constructs.local.server import LocalAws
from tests.local.hyperpod_requests import checked, cluster, group
from tests.local.moto_cloud import Cloud, moto_cloud
from tests.patience import until

Call = Callable[..., dict[str, Any]]


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud("10.1.0.0/20") as account:
        yield account


@pytest.fixture
def call(cloud: Cloud) -> Call:
    return checked(HyperPod(cloud.faults, cloud.client, cloud.clock))


def eks(cloud: Cloud, counts: dict[str, int], **members: Any) -> dict[str, Any]:
    groups = [group(cloud, name, None, count, **{"ImageReleaseVersion": "1.0.0", **members}) for name, count in counts.items()]
    orchestrator = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/one"}}
    return cluster(cloud, InstanceGroups=groups, Orchestrator=orchestrator)


def created(cloud: Cloud, call: Call, request: dict[str, Any]) -> None:
    call("CreateCluster", **request)
    cloud.clock.tick(10)
    assert described(call)["ClusterStatus"] == "InService"


def described(call: Call) -> dict[str, Any]:
    return call("DescribeCluster", ClusterName="demo")


def of_group(call: Call, name: str = "workers") -> dict[str, Any]:
    return next(item for item in described(call)["InstanceGroups"] if item["InstanceGroupName"] == name)


def states(call: Call, part: str = "") -> Counter[str]:
    asked = {"InstanceGroupNameContains": part} if part else {}
    nodes = call("ListClusterNodes", ClusterName="demo", MaxResults=100, **asked)["ClusterNodeSummaries"]
    return Counter(node["InstanceStatus"]["Status"] for node in nodes)


def sizes(update: int | None, back: int | None = None, kind: str = "INSTANCE_COUNT") -> dict[str, Any]:
    given = {"MaximumBatchSize": update, "RollbackMaximumBatchSize": back}
    return {"RollingUpdatePolicy": {key: {"Type": kind, "Value": value} for key, value in given.items() if value is not None}}


def update(call: Call, *names: str, version: str = "1.0.1", **config: Any) -> None:
    groups = [{"InstanceGroupName": name, "ImageReleaseVersion": version} for name in names or ("workers",)]
    call("UpdateClusterSoftware", ClusterName="demo", InstanceGroups=groups, DeploymentConfig=config)


def alarm(cloud: Cloud, state: str = "OK", name: str = "errors") -> dict[str, Any]:
    """An alarm in a state, as a member of a DeploymentConfig."""
    cloudwatch = cloud.client("cloudwatch")
    rule = {"Namespace": "n", "MetricName": "m", "Statistic": "Sum", "Period": 60, "EvaluationPeriods": 1, "Threshold": 1.0}
    cloudwatch.put_metric_alarm(AlarmName=name, ComparisonOperator="GreaterThanThreshold", **rule)
    cloudwatch.set_alarm_state(AlarmName=name, StateValue=state, StateReason="a test")
    return {"AutoRollbackConfiguration": [{"AlarmName": name}]}


def descriptions(call: Call, **asked: Any) -> list[str]:
    events = call("ListClusterEvents", ClusterName="demo", SortOrder="Ascending", MaxResults=100, **asked)["Events"]
    return [event["Description"] for event in events if "oftware update" in event["Description"]]


def test_a_rolling_update_goes_batch_by_batch(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"workers": 5}))
    update(call, **sizes(2), WaitIntervalInSeconds=60)
    seen = []
    for _ in range(6):
        seen.append((dict(states(call)), of_group(call)["TargetStateCount"]))
        cloud.clock.tick(1 if states(call)["SystemUpdating"] else 60)
    assert seen == [
        ({"SystemUpdating": 2, "Running": 3}, 0),
        ({"Running": 5}, 2),
        ({"SystemUpdating": 2, "Running": 3}, 2),
        ({"Running": 5}, 4),
        ({"SystemUpdating": 1, "Running": 4}, 4),
        ({"Running": 5}, 5),
    ]
    assert described(call)["ClusterStatus"] == "InService"


def test_the_description_tells_of_the_update_while_it_goes_on(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"others": 2, "workers": 2}))
    config = {**sizes(1), "WaitIntervalInSeconds": 60}
    update(call, "others", "workers", **config)
    found = described(call)
    assert found["ClusterStatus"] == "SystemUpdating"
    shown = ("Status", "SoftwareUpdateStatus", "CurrentImageReleaseVersion", "DesiredImageReleaseVersion")
    assert [[item[key] for key in shown] for item in found["InstanceGroups"]] == [
        ["SystemUpdating", "InProgress", "1.0.0", "1.0.1"],
        ["SystemUpdating", "Pending", "1.0.0", "1.0.1"],
    ]
    assert of_group(call)["ActiveSoftwareUpdateConfig"] == config
    cloud.clock.tick(61)
    cloud.clock.tick(1)
    others = of_group(call, "others")
    assert (others["SoftwareUpdateStatus"], others["CurrentImageReleaseVersion"]) == ("Succeeded", "1.0.1")
    assert of_group(call)["SoftwareUpdateStatus"] == "Pending"
    cloud.clock.tick(500)
    worker = of_group(call)
    assert [worker[key] for key in shown] == ["InService", "Succeeded", "1.0.1", "1.0.1"]
    assert "ActiveSoftwareUpdateConfig" not in worker


def test_a_node_tells_what_it_runs_and_what_it_will(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"workers": 2}))
    update(call, **sizes(1), WaitIntervalInSeconds=60)
    cloud.clock.tick(1)
    nodes = call("ListClusterNodes", ClusterName="demo")["ClusterNodeSummaries"]
    assert [node["CurrentImageReleaseVersion"] for node in nodes] == ["1.0.1", "1.0.0"]
    assert ["LastSoftwareUpdateTime" in node for node in nodes] == [True, False]
    detail = call("DescribeClusterNode", ClusterName="demo", NodeId=nodes[1]["InstanceId"])["NodeDetails"]
    assert (detail["CurrentImageReleaseVersion"], detail["DesiredImageReleaseVersion"]) == ("1.0.0", "1.0.1")


@pytest.mark.parametrize(("percent", "nodes", "first"), [(50, 5, 2), (10, 5, 1), (100, 5, 5), (99, 5, 4)])
def test_a_percentage_is_rounded_down_to_one_node_at_least(cloud: Cloud, call: Call, percent: int, nodes: int, first: int) -> None:
    created(cloud, call, eks(cloud, {"workers": nodes}))
    update(call, **sizes(percent, kind="CAPACITY_PERCENTAGE"))
    assert states(call)["SystemUpdating"] == first


def test_without_a_policy_all_nodes_are_updated_at_once(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"others": 2, "workers": 3}))
    update(call, "others", "workers")
    assert states(call) == Counter(SystemUpdating=5)


def test_an_alarm_takes_every_group_back_in_batches(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"others": 1, "workers": 4, "later": 1}))
    update(call, "others", "workers", "later", **sizes(3, 2), **alarm(cloud), WaitIntervalInSeconds=60)
    for seconds in (1, 60, 1):
        cloud.clock.tick(seconds)
        described(call)
    assert of_group(call)["TargetStateCount"] == 3
    alarm(cloud, "ALARM")
    cloud.clock.tick(30)
    found = described(call)
    shown = [(item["SoftwareUpdateStatus"], item["CurrentImageReleaseVersion"]) for item in found["InstanceGroups"]]
    assert shown == [("RollbackInProgress", "1.0.1"), ("RollbackInProgress", "1.0.1"), ("RollbackComplete", "1.0.0")]
    assert {item["DesiredImageReleaseVersion"] for item in found["InstanceGroups"]} == {"1.0.0"}
    counts = []
    while described(call)["ClusterStatus"] == "SystemUpdating":
        counts.append(states(call)["SystemUpdating"])
        cloud.clock.tick(1)
    assert counts == [1, 2, 1]
    found = described(call)
    assert [item["SoftwareUpdateStatus"] for item in found["InstanceGroups"]] == ["RollbackComplete"] * 3
    assert [item["TargetStateCount"] for item in found["InstanceGroups"]] == [1, 4, 1]
    assert found["FailureMessage"] == "The software update was rolled back: the alarm errors is in ALARM"
    nodes = call("ListClusterNodes", ClusterName="demo")["ClusterNodeSummaries"]
    assert {node["CurrentImageReleaseVersion"] for node in nodes} == {"1.0.0"}


def test_without_a_size_all_nodes_go_back_at_once(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"workers": 3}))
    update(call, **sizes(1), **alarm(cloud), WaitIntervalInSeconds=0)
    cloud.clock.tick(1)
    described(call)
    cloud.clock.tick(1)
    described(call)
    alarm(cloud, "ALARM")
    cloud.clock.tick(1)
    assert states(call) == Counter(SystemUpdating=3)
    assert of_group(call)["SoftwareUpdateStatus"] == "RollbackInProgress"


def test_an_alarm_that_is_raised_already_lets_no_node_begin(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"workers": 2}))
    update(call, **sizes(1), **alarm(cloud, "ALARM"))
    assert (states(call), of_group(call)["SoftwareUpdateStatus"]) == (Counter(Running=2), "RollbackComplete")


def test_an_alarm_that_the_last_batch_raises_still_counts(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"workers": 2}))
    update(call, **sizes(2), **alarm(cloud))
    alarm(cloud, "ALARM")
    cloud.clock.tick(1)
    assert (states(call), of_group(call)["SoftwareUpdateStatus"]) == (Counter(SystemUpdating=2), "RollbackInProgress")


def test_the_embedded_cloudwatch_tells_the_states_of_alarms(fresh: LocalAws) -> None:
    cloudwatch = fresh.client("cloudwatch")
    # A state without a metric that gives it lasts until the next evaluation only.
    rule = {"Namespace": "n", "Statistic": "Sum", "Period": 86400, "EvaluationPeriods": 1, "Threshold": 1.0}
    for name in ("one", "two"):
        cloudwatch.put_metric_alarm(AlarmName=name, MetricName=name, ComparisonOperator="GreaterThanThreshold", **rule)
    cloudwatch.put_metric_data(Namespace="n", MetricData=[{"MetricName": "two", "Value": 2.0}])
    clients = BotoClients(fresh.secret_access_key)
    caller = Caller(fresh.account, fresh.region, fresh.endpoint)
    until(lambda: alarm_states(["one", "two", "three"], clients, caller) == {"one": "INSUFFICIENT_DATA", "two": "ALARM"})


def test_an_alarm_that_is_deleted_counts_as_raised(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"workers": 2}))
    update(call, **sizes(1), **alarm(cloud), WaitIntervalInSeconds=60)
    cloud.client("cloudwatch").delete_alarms(AlarmNames=["errors"])
    cloud.clock.tick(100)
    assert of_group(call)["SoftwareUpdateStatus"] == "RollbackComplete"
    assert "the alarm errors is gone" in described(call)["FailureMessage"]


def test_a_quiet_alarm_changes_nothing(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"workers": 3}))
    update(call, **sizes(2), **alarm(cloud), WaitIntervalInSeconds=3600)
    cloud.clock.tick(1)
    described(call)
    cloud.clock.tick(3599)
    assert of_group(call)["SoftwareUpdateStatus"] == "InProgress"
    cloud.clock.tick(2)
    assert of_group(call)["SoftwareUpdateStatus"] == "Succeeded"


def test_a_batch_that_fails_four_times_ends_the_update(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"others": 1, "workers": 4, "later": 1}))
    update(call, "others", "workers", "later", **sizes(2, 3))
    cloud.clock.tick(2)
    described(call)
    cloud.faults.failing_scripts = {"workers": "no disk"}
    for _ in range(4):
        assert of_group(call)["SoftwareUpdateStatus"] == "InProgress"
        cloud.clock.tick(1)
    assert of_group(call)["SoftwareUpdateStatus"] == "RollbackInProgress"
    assert states(call, "workers") == Counter(SystemUpdating=4)
    cloud.clock.tick(1)
    assert states(call, "workers") == Counter(SystemUpdating=1, Running=3)
    cloud.clock.tick(1)
    found = described(call)
    assert [item["SoftwareUpdateStatus"] for item in found["InstanceGroups"]] == ["Succeeded", "Failed", "RollbackComplete"]
    assert [item["CurrentImageReleaseVersion"] for item in found["InstanceGroups"]] == ["1.0.1", "1.0.0", "1.0.0"]
    assert (found["ClusterStatus"], states(call)) == ("InService", Counter(Running=6))
    assert "no disk" in found["FailureMessage"]


def test_a_node_that_has_the_image_already_is_left_alone(cloud: Cloud, call: Call) -> None:
    request = eks(cloud, {"workers": 2})
    created(cloud, call, request)
    request["InstanceGroups"][0] |= {"ImageReleaseVersion": "1.0.1", "InstanceCount": 3}
    call("UpdateCluster", ClusterName="demo", InstanceGroups=request["InstanceGroups"])
    cloud.clock.tick(3)
    worker = of_group(call)
    assert (worker["CurrentImageReleaseVersion"], worker["DesiredImageReleaseVersion"]) == ("1.0.0", "1.0.1")
    assert (worker["CurrentCount"], worker["TargetStateCount"]) == (3, 1)
    update(call)
    assert states(call) == Counter(SystemUpdating=2, Running=1)


def test_an_update_without_a_version_reaches_every_node_each_time(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"workers": 2}, ImageId="default"))
    for _ in range(2):
        call("UpdateClusterSoftware", ClusterName="demo", ImageId="default")
        assert states(call) == Counter(SystemUpdating=2)
        cloud.clock.tick(1)
        assert of_group(call)["TargetStateCount"] == 2


def test_nodes_get_the_scripts_of_their_group_and_a_rollback_the_old_ones(cloud: Cloud, call: Call) -> None:
    request = eks(cloud, {"workers": 1})
    created(cloud, call, request)

    def source() -> str:
        node = call("ListClusterNodes", ClusterName="demo")["ClusterNodeSummaries"][0]
        found = call("DescribeClusterNode", ClusterName="demo", NodeId=node["InstanceId"])["NodeDetails"]
        return str(found["LifeCycleConfig"]["SourceS3Uri"])

    cloud.client("s3").put_object(Bucket="sagemaker-scripts", Key="v2/on_create.sh", Body=b"#!/bin/bash\n")
    old = source()
    request["InstanceGroups"][0]["LifeCycleConfig"] = {"SourceS3Uri": "s3://sagemaker-scripts/v2/", "OnCreate": "on_create.sh"}
    call("UpdateCluster", ClusterName="demo", InstanceGroups=request["InstanceGroups"])
    cloud.faults.failing_scripts = {"workers": "no disk"}
    update(call)
    assert source() == "s3://sagemaker-scripts/v2/"
    cloud.clock.tick(10)
    assert source() == old
    cloud.faults.failing_scripts = {}
    update(call)
    cloud.clock.tick(1)
    assert source() == "s3://sagemaker-scripts/v2/"


def test_events_tell_of_an_update(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"workers": 3}))
    update(call, **sizes(2))
    cloud.clock.tick(10)
    described(call)
    update(call, version="1.0.2", **sizes(3), **alarm(cloud, "ALARM"))
    assert descriptions(call) == [
        "Cluster demo software update started successfully",
        "Software update of Instance Group workers started a batch of 2",
        "Software update of Instance Group workers started a batch of 1",
        "Cluster demo software update completed successfully",
        "Cluster demo software update started successfully",
        "Cluster demo software update failed",
    ]
    event = call("ListClusterEvents", ClusterName="demo", MaxResults=1)["Events"][0]
    detail = call("DescribeClusterEvent", ClusterName="demo", EventId=event["EventId"])["EventDetails"]
    assert "errors is in ALARM" in detail["EventDetails"]["EventMetadata"]["Cluster"]["FailureMessage"]


def test_only_one_update_at_a_time(cloud: Cloud, call: Call) -> None:
    request = eks(cloud, {"workers": 2})
    created(cloud, call, request)
    update(call, **sizes(1), WaitIntervalInSeconds=60)
    with pytest.raises(AwsError, match="ConflictException: Cluster demo is in state SystemUpdating"):
        update(call, version="1.0.2")
    with pytest.raises(AwsError, match="ConflictException"):
        call("UpdateCluster", ClusterName="demo", InstanceGroups=request["InstanceGroups"])
