"""Refusals of software updates: by the request alone, and by the alarms and roles that it names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hyperpod_constructs.facts.node_permissions import READ_ALARMS
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.hyperpod.service import HyperPod
from tests.local.hyperpod_requests import checked, cluster
from tests.local.moto_cloud import CALLER, Cloud, moto_cloud
from tests.local.test_software_updates import Call, alarm, created, described, eks, sizes, update

ALARMS = {"AutoRollbackConfiguration": [{"AlarmName": "errors"}]}
PLACES = ["request", "ScheduledUpdateConfig", "AutoPatchConfig"]


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud("10.1.0.0/20") as account:
        yield account


@pytest.fixture
def call(cloud: Cloud) -> Call:
    return checked(HyperPod(cloud.faults, cloud.client, cloud.clock))


def slurm(cloud: Cloud, **members: Any) -> dict[str, Any]:
    request = cluster(cloud)
    request["InstanceGroups"][1] |= members
    return request


def ask(cloud: Cloud, call: Call, where: str, config: dict[str, Any], *, on_eks: bool = True) -> None:
    """Send a DeploymentConfig in a request for an update, or in a member of a new group."""
    if where == "request":
        created(cloud, call, eks(cloud, {"workers": 2}) if on_eks else cluster(cloud))
        call("UpdateClusterSoftware", ClusterName="demo", DeploymentConfig=config)
        return
    rest = {"ScheduleExpression": "cron(0 12 ? * MON *)"} if where == "ScheduledUpdateConfig" else {"PatchingStrategy": "WhenIdle"}
    member = {where: {**rest, "DeploymentConfig": config}}
    call("CreateCluster", **(eks(cloud, {"workers": 2}, **member) if on_eks else slurm(cloud, **member)))


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("config", [sizes(1), {"WaitIntervalInSeconds": 60}], ids=["batches", "wait"])
def test_fails_to_go_in_batches_without_eks(cloud: Cloud, call: Call, where: str, config: dict[str, Any]) -> None:
    with pytest.raises(AwsError, match=r"DeploymentConfig: updates in batches, .* on a Slurm cluster; they are .* EKS; leave"):
        ask(cloud, call, where, config, on_eks=False)


@pytest.mark.parametrize("where", PLACES)
def test_fails_with_alarms_without_batches(cloud: Cloud, call: Call, where: str) -> None:
    with pytest.raises(AwsError, match="alarms are watched between batches, and there is no RollingUpdatePolicy"):
        ask(cloud, call, where, alarm(cloud))


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize(("size", "given"), [("MaximumBatchSize", (101, 1)), ("RollbackMaximumBatchSize", (1, 101))])
def test_fails_with_more_than_the_whole(cloud: Cloud, call: Call, where: str, size: str, given: tuple[int, int]) -> None:
    with pytest.raises(AwsError, match=rf"RollingUpdatePolicy\.{size}: a batch of 101 % of the nodes; write 1 to 100"):
        ask(cloud, call, where, sizes(*given, kind="CAPACITY_PERCENTAGE"))


@pytest.mark.parametrize("where", PLACES)
def test_fails_with_an_alarm_that_does_not_exist(cloud: Cloud, call: Call, where: str) -> None:
    with pytest.raises(AwsError, match="the alarm errors does not exist; create it first"):
        ask(cloud, call, where, {**sizes(1), **ALARMS})


@pytest.mark.parametrize("where", PLACES)
def test_fails_if_the_role_may_not_read_the_alarms(cloud: Cloud, call: Call, where: str) -> None:
    cloud.iam.denied = {READ_ALARMS}
    with pytest.raises(AwsError, match=f"execution role .* of instance group workers is not allowed {READ_ALARMS}"):
        ask(cloud, call, where, {**sizes(1), **alarm(cloud)})


@pytest.mark.parametrize("where", PLACES)
def test_a_correct_deployment_is_taken(cloud: Cloud, call: Call, where: str) -> None:
    config = {**sizes(100, 100, kind="CAPACITY_PERCENTAGE"), **alarm(cloud), "WaitIntervalInSeconds": 1}
    ask(cloud, call, where, config)
    (group,) = described(call)["InstanceGroups"]
    assert (group["ActiveSoftwareUpdateConfig"] if where == "request" else group[where]["DeploymentConfig"]) == config


def test_an_alarm_that_is_gone_does_not_keep_nodes_from_coming(cloud: Cloud, call: Call) -> None:
    schedule = {"ScheduleExpression": "cron(0 12 ? * MON *)", "DeploymentConfig": {**sizes(1), **alarm(cloud)}}
    created(cloud, call, eks(cloud, {"workers": 1}, ScheduledUpdateConfig=schedule))
    cloud.client("cloudwatch").delete_alarms(AlarmNames=["errors"])
    more = [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]
    assert len(call("BatchAddClusterNodes", ClusterName="demo", NodesToAdd=more)["Successful"]) == 1


def test_fails_with_a_malformed_schedule(cloud: Cloud, call: Call) -> None:
    with pytest.raises(AwsError, match=r"instance group workers: ScheduleExpression is 'rate\(1 day\)'; allowed: cron"):
        call("CreateCluster", **eks(cloud, {"workers": 1}, ScheduledUpdateConfig={"ScheduleExpression": "rate(1 day)"}))


def test_fails_with_a_release_version_without_eks(cloud: Cloud, call: Call) -> None:
    with pytest.raises(AwsError, match="ImageReleaseVersion is only supported for clusters that EKS orchestrates"):
        call("CreateCluster", **slurm(cloud, ImageReleaseVersion="1.0.0"))
    created(cloud, call, cluster(cloud))
    with pytest.raises(AwsError, match="ImageReleaseVersion of workers is only supported for clusters that EKS orchestrates"):
        update(call)


def test_fails_to_drain_without_eks(cloud: Cloud) -> None:
    service = HyperPod(cloud.faults, cloud.client, cloud.clock)
    with pytest.raises(AwsError, match="DrainFirst is only supported for clusters that EKS orchestrates"):
        service.call("CreateCluster", slurm(cloud, AutoPatchConfig={"PatchingStrategy": "DrainFirst"}), CALLER)


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ({"PatchingStrategy": "DrainFirst"}, "DrainFirst needs MaximumBatchSize"),
        ({"PatchingStrategy": "DrainFirst", "DeploymentConfig": {"WaitIntervalInSeconds": 1}}, "DrainFirst needs MaximumBatchSize"),
        ({"PatchingStrategy": "WhenIdle", "DrainPolicy": {}}, "DrainPolicy is valid only with PatchingStrategy DrainFirst"),
    ],
)
def test_fails_with_a_patch_that_does_not_fit(cloud: Cloud, patch: dict[str, Any], why: str) -> None:
    service = HyperPod(cloud.faults, cloud.client, cloud.clock)
    with pytest.raises(AwsError, match=why):
        service.call("CreateCluster", eks(cloud, {"workers": 1}, AutoPatchConfig=patch), CALLER)


def test_a_patch_that_drains_goes_in_batches(cloud: Cloud) -> None:
    service = HyperPod(cloud.faults, cloud.client, cloud.clock)
    patch = {
        "PatchingStrategy": "DrainFirst",
        "DeploymentConfig": sizes(1),
        "DrainPolicy": {"OnDrainTimeout": "Force"},
        "PatchSchedule": {"NextPatchDate": cloud.clock.now + 100},
    }
    service.call("CreateCluster", eks(cloud, {"workers": 2}, AutoPatchConfig=patch), CALLER)
    cloud.clock.tick(100)
    nodes = service.call("ListClusterNodes", {"ClusterName": "demo"}, CALLER)["ClusterNodeSummaries"]
    assert sorted(node["InstanceStatus"]["Status"] for node in nodes) == ["Running", "SystemUpdating"]


def test_a_group_with_a_custom_image_needs_an_image(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"workers": 1}, ImageId="ami-0123456789abcdef0", ImageReleaseVersion=None))
    with pytest.raises(AwsError, match="workers has the image ami-0123456789abcdef0; give an ImageId, or default"):
        call("UpdateClusterSoftware", ClusterName="demo")
    call("UpdateClusterSoftware", ClusterName="demo", ImageId="ami-0123456789abcdef1")
    cloud.clock.tick(1)
    group = described(call)["InstanceGroups"][0]
    assert (group["CurrentImageId"], group["DesiredImageId"]) == ("ami-0123456789abcdef1", "ami-0123456789abcdef1")


def test_fails_with_a_group_twice(cloud: Cloud, call: Call) -> None:
    created(cloud, call, eks(cloud, {"workers": 1}))
    with pytest.raises(AwsError, match="InstanceGroups names workers more than once"):
        update(call, "workers", "workers")
