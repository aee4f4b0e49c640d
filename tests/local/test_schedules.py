"""Software updates that begin by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from hyperpod_constructs.local.hyperpod.service import HyperPod
from tests.local.hyperpod_requests import checked, cluster
from tests.local.moto_cloud import Cloud, moto_cloud
from tests.local.test_software_updates import Call, alarm, created, described, descriptions, eks, of_group, sizes, states

HOUR = 3600.0
MONDAY_AT_NOON = datetime(2027, 1, 18, 12, 0, tzinfo=UTC).timestamp()
WEEKLY = {"ScheduleExpression": "cron(0 12 ? * MON *)"}


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud("10.1.0.0/20") as account:
        account.clock.now = MONDAY_AT_NOON - HOUR
        yield account


@pytest.fixture
def call(cloud: Cloud) -> Call:
    return checked(HyperPod(cloud.faults, cloud.client, cloud.clock))


def until(cloud: Cloud, call: Call, second: float) -> str:
    cloud.clock.now = second
    return str(described(call)["ClusterStatus"])


def scheduled(cloud: Cloud, counts: dict[str, int], schedule: dict[str, Any]) -> dict[str, Any]:
    return eks(cloud, counts, ScheduledUpdateConfig=schedule)


def reconfigure(call: Call, request: dict[str, Any], **members: Any) -> None:
    groups = [{key: value for key, value in (spec | members).items() if value is not None} for spec in request["InstanceGroups"]]
    call("UpdateCluster", ClusterName="demo", InstanceGroups=groups)


def test_a_schedule_begins_an_update_each_time(cloud: Cloud, call: Call) -> None:
    created(cloud, call, scheduled(cloud, {"workers": 3}, WEEKLY | {"DeploymentConfig": sizes(2)}))
    for week in range(2):
        noon = MONDAY_AT_NOON + week * 7 * 24 * HOUR
        assert until(cloud, call, noon - 1) == "InService"
        assert until(cloud, call, noon) == "SystemUpdating"
        assert states(call)["SystemUpdating"] == 2
        assert until(cloud, call, noon + 10) == "InService"


def test_the_time_of_an_update_does_not_depend_on_a_look(cloud: Cloud, call: Call) -> None:
    created(cloud, call, scheduled(cloud, {"workers": 1}, WEEKLY))
    until(cloud, call, MONDAY_AT_NOON + 5 * HOUR)
    node = call("ListClusterNodes", ClusterName="demo")["ClusterNodeSummaries"][0]
    assert node["LastSoftwareUpdateTime"].timestamp() == MONDAY_AT_NOON + 1


def test_a_changed_schedule_counts_from_then_on(cloud: Cloud, call: Call) -> None:
    request = scheduled(cloud, {"workers": 1}, WEEKLY)
    created(cloud, call, request)
    reconfigure(call, request, ScheduledUpdateConfig={"ScheduleExpression": "cron(0 13 ? * MON *)"})
    assert until(cloud, call, MONDAY_AT_NOON) == "InService"
    assert until(cloud, call, MONDAY_AT_NOON + HOUR) == "SystemUpdating"
    assert until(cloud, call, MONDAY_AT_NOON + 2 * HOUR) == "InService"
    reconfigure(call, request, ScheduledUpdateConfig=None)
    assert until(cloud, call, MONDAY_AT_NOON + (7 * 24 + 1) * HOUR) == "InService"


def test_a_schedule_that_comes_back_begins_one_update(cloud: Cloud, call: Call) -> None:
    request = scheduled(cloud, {"workers": 1}, WEEKLY)
    created(cloud, call, request)
    reconfigure(call, request, ScheduledUpdateConfig=None)
    reconfigure(call, request)
    until(cloud, call, MONDAY_AT_NOON + HOUR)
    assert descriptions(call, ResourceType="Cluster") == [
        "Cluster demo software update started successfully",
        "Cluster demo software update completed successfully",
    ]


def test_a_schedule_that_overlaps_fails(cloud: Cloud, call: Call) -> None:
    created(cloud, call, scheduled(cloud, {"one": 1, "two": 1}, WEEKLY))
    until(cloud, call, MONDAY_AT_NOON + HOUR)
    assert [of_group(call, name)["SoftwareUpdateStatus"] for name in ("one", "two")] == ["Succeeded", "Failed"]
    event = call("ListClusterEvents", ClusterName="demo", InstanceGroupName="two", MaxResults=1)["Events"][0]
    assert (event["EventLevel"], event["Description"]) == ("Error", "Scheduled software update of Instance Group two failed")


def test_the_alarms_of_a_schedule_roll_its_update_back(cloud: Cloud, call: Call) -> None:
    config = {**sizes(1), **alarm(cloud), "WaitIntervalInSeconds": 60}
    created(cloud, call, scheduled(cloud, {"workers": 2}, WEEKLY | {"DeploymentConfig": config}))
    until(cloud, call, MONDAY_AT_NOON + 2)
    alarm(cloud, "ALARM")
    until(cloud, call, MONDAY_AT_NOON + 100)
    assert of_group(call)["SoftwareUpdateStatus"] == "RollbackComplete"


def test_a_slurm_cluster_is_updated_as_scheduled_at_once(cloud: Cloud, call: Call) -> None:
    request = cluster(cloud)
    request["InstanceGroups"][1]["ScheduledUpdateConfig"] = WEEKLY
    created(cloud, call, request)
    assert until(cloud, call, MONDAY_AT_NOON) == "SystemUpdating"
    assert states(call, "workers")["SystemUpdating"] == 2
    assert states(call, "controller")["Running"] == 1


def patch(date: float, strategy: str = "WhenIdle", **members: Any) -> dict[str, Any]:
    return {"PatchingStrategy": strategy, "PatchSchedule": {"NextPatchDate": date}, **members}


@pytest.mark.parametrize("strategy", ["WhenIdle", "WhenAllIdle"])
def test_a_patch_comes_on_its_date_and_the_date_is_forgotten(cloud: Cloud, call: Call, strategy: str) -> None:
    created(cloud, call, eks(cloud, {"workers": 2}, AutoPatchConfig=patch(MONDAY_AT_NOON, strategy)))
    shown = of_group(call)["AutoPatchConfig"]
    assert shown["CurrentPatchSchedule"]["NextPatchDate"] == shown["DesiredPatchSchedule"]["NextPatchDate"] == MONDAY_AT_NOON
    assert until(cloud, call, MONDAY_AT_NOON) == "SystemUpdating"
    assert states(call)["SystemUpdating"] == 2
    assert of_group(call)["AutoPatchConfig"] == {"PatchingStrategy": strategy}
    until(cloud, call, MONDAY_AT_NOON + HOUR)
    assert of_group(call)["SoftwareUpdateStatus"] == "Succeeded"


def test_another_date_takes_the_place_of_the_first(cloud: Cloud, call: Call) -> None:
    request = eks(cloud, {"workers": 2}, AutoPatchConfig=patch(MONDAY_AT_NOON))
    created(cloud, call, request)
    reconfigure(call, request, AutoPatchConfig=patch(MONDAY_AT_NOON + HOUR))
    assert until(cloud, call, MONDAY_AT_NOON) == "InService"
    assert until(cloud, call, MONDAY_AT_NOON + HOUR) == "SystemUpdating"


def test_a_patch_waits_until_the_cluster_is_in_service(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"workers": 2}, AutoPatchConfig=patch(MONDAY_AT_NOON)))
    until(cloud, call, MONDAY_AT_NOON - 100)
    call("UpdateClusterSoftware", ClusterName="demo", DeploymentConfig={**sizes(1), "WaitIntervalInSeconds": 300})
    assert until(cloud, call, MONDAY_AT_NOON + 100) == "SystemUpdating"
    assert until(cloud, call, MONDAY_AT_NOON + 230) == "InService"
    assert until(cloud, call, MONDAY_AT_NOON + 240) == "SystemUpdating"


def test_a_date_in_the_past_begins_nothing(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"workers": 2}, AutoPatchConfig=patch(MONDAY_AT_NOON - 2 * HOUR)))
    until(cloud, call, MONDAY_AT_NOON)
    assert "SoftwareUpdateStatus" not in of_group(call)


def test_an_update_that_is_rolled_back_brings_the_old_schedule_back(cloud: Cloud, call: Call) -> None:
    old, new = cluster(cloud, continuous=False), cluster(cloud, continuous=False, workers=4)
    old["InstanceGroups"][1]["ScheduledUpdateConfig"] = WEEKLY
    new["InstanceGroups"][1]["ScheduledUpdateConfig"] = {"ScheduleExpression": "cron(0 13 ? * MON *)"}
    created(cloud, call, old)
    cloud.faults.no_capacity = frozenset({"workers"})
    call("UpdateCluster", ClusterName="demo", InstanceGroups=new["InstanceGroups"])
    until(cloud, call, MONDAY_AT_NOON - 100)
    assert until(cloud, call, MONDAY_AT_NOON) == "SystemUpdating"
    until(cloud, call, MONDAY_AT_NOON + 100)
    assert until(cloud, call, MONDAY_AT_NOON + HOUR) == "InService"
