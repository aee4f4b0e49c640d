"""Restricted instance groups: their nodes, their file systems, and what the service refuses about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError
from tests.local.hyperpod_requests import cluster, group, new_hyperpod
from tests.local.moto_cloud import Cloud, moto_cloud

Call = Callable[..., dict[str, Any]]

EKS = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/k"}}
KINDS = ("InstanceGroups", "RestrictedInstanceGroups")


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud("10.1.64.0/18") as account:
        yield account


@pytest.fixture
def call(cloud: Cloud) -> Call:
    return new_hyperpod(cloud)


def files(size: int = 1200) -> dict[str, Any]:
    return {"FSxLustreConfig": {"SizeInGiB": size, "PerUnitStorageThroughput": 250}}


def shared(policy: str, size: int = 1200) -> dict[str, Any]:
    return {"SharedEnvironmentConfig": {"FSxLustreDeletionPolicy": policy, **files(size)}}


def nova(cloud: Cloud, name: str = "nova", count: int = 2, **members: Any) -> dict[str, Any]:
    spec = {"InstanceGroupName": name, "InstanceType": "ml.p5.48xlarge", "InstanceCount": count, "ExecutionRole": cloud.role}
    return {**spec, **members}


def request(cloud: Cloud, *restricted: dict[str, Any], **members: Any) -> dict[str, Any]:
    groups = {"InstanceGroups": [group(cloud, "system", None)], "RestrictedInstanceGroups": list(restricted)}
    return cluster(cloud, Orchestrator=EKS, **{**groups, **members})


def described(cloud: Cloud, call: Call) -> dict[str, Any]:
    cloud.clock.tick(5)
    return call("DescribeCluster", ClusterName="demo")


def said(call: Call) -> list[str]:
    events = call("ListClusterEvents", ClusterName="demo", SortOrder="Ascending")["Events"]
    return [event["Description"].partition("file system of ")[2] for event in events if "file system" in event["Description"]]


def test_a_restricted_group_has_nodes_and_a_file_system(cloud: Cloud, call: Call) -> None:
    call("CreateCluster", **request(cloud, nova(cloud, EnvironmentConfig=files(), OnStartDeepHealthChecks=["InstanceStress"])))
    found = described(cloud, call)
    assert [[each["InstanceGroupName"] for each in found[kind]] for kind in KINDS] == [["system"], ["nova"]]
    [restricted] = found["RestrictedInstanceGroups"]
    assert (restricted["CurrentCount"], restricted["TargetCount"], restricted["Status"]) == (2, 2, "InService")
    assert restricted["EnvironmentConfig"] == files()
    nodes = call("ListClusterNodes", ClusterName="demo", InstanceGroupNameContains="nova")["ClusterNodeSummaries"]
    assert [node["InstanceStatus"]["Status"] for node in nodes] == ["Running", "Running"]
    assert said(call) == ["restricted instance group nova created successfully"]


def test_scaled_to_nothing_it_keeps_its_file_system_and_deleted_it_takes_it_along(cloud: Cloud, call: Call) -> None:
    call("CreateCluster", **request(cloud, nova(cloud, EnvironmentConfig=files())))
    described(cloud, call)
    call("UpdateCluster", ClusterName="demo", RestrictedInstanceGroups=[nova(cloud, count=0, EnvironmentConfig=files(2400))])
    [restricted] = described(cloud, call)["RestrictedInstanceGroups"]
    assert (restricted["CurrentCount"], restricted["EnvironmentConfig"]) == (0, files(2400))
    call("UpdateCluster", ClusterName="demo", InstanceGroupsToDelete=["nova"])
    assert "RestrictedInstanceGroups" not in described(cloud, call)
    words = ("created", "updated", "deleted")
    assert said(call) == [f"restricted instance group nova {word} successfully" for word in words]


def test_an_update_of_one_list_leaves_the_other_alone(cloud: Cloud, call: Call) -> None:
    call("CreateCluster", **request(cloud, nova(cloud, EnvironmentConfig=files())))
    described(cloud, call)
    call("UpdateCluster", ClusterName="demo", InstanceGroups=[group(cloud, "system", None, 3)])
    found = described(cloud, call)
    assert [found[kind][0]["CurrentCount"] for kind in KINDS] == [3, 2]


@pytest.mark.parametrize(("policy", "stays"), [("Keep", True), ("DeleteIfNotUsed", False)])
def test_the_shared_file_system_follows_its_deletion_policy(cloud: Cloud, call: Call, policy: str, stays: bool) -> None:
    call("CreateCluster", **request(cloud, nova(cloud), RestrictedInstanceGroupsConfig=shared(policy)))
    details = described(cloud, call)["RestrictedInstanceGroupsConfig"]["SharedEnvironmentConfig"]
    assert details == {
        "CurrentFSxLustreConfig": files()["FSxLustreConfig"],
        "DesiredFSxLustreConfig": files()["FSxLustreConfig"],
        "CurrentFSxLustreDeletionPolicy": policy,
        "DesiredFSxLustreDeletionPolicy": policy,
    }
    call("UpdateCluster", ClusterName="demo", InstanceGroupsToDelete=["nova"])
    details = described(cloud, call)["RestrictedInstanceGroupsConfig"]["SharedEnvironmentConfig"]
    assert ("CurrentFSxLustreConfig" in details) is stays
    assert said(call) == [f"the shared environment {word} successfully" for word in ("created", *(() if stays else ("deleted",)))]


def test_a_change_of_the_shared_one_shows_what_is_and_what_is_wanted(cloud: Cloud, call: Call) -> None:
    cloud.faults.slow_creation = 10.0
    call("CreateCluster", **request(cloud, nova(cloud), RestrictedInstanceGroupsConfig=shared("Keep")))
    cloud.clock.tick(100)
    call("UpdateCluster", ClusterName="demo", RestrictedInstanceGroupsConfig=shared("Keep", 2400))
    details = described(cloud, call)["RestrictedInstanceGroupsConfig"]["SharedEnvironmentConfig"]
    assert (details["CurrentFSxLustreConfig"]["SizeInGiB"], details["DesiredFSxLustreConfig"]["SizeInGiB"]) == (1200, 2400)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({}, "EnvironmentConfig of restricted instance group nova needs an FSxLustreConfig, or the cluster a Restricted"),
        ({"EnvironmentConfig": {}}, "EnvironmentConfig of restricted instance group nova needs an FSxLustreConfig"),
        ({"EnvironmentConfig": files(), "InstanceGroupName": "system"}, "instance group names must be unique; found system"),
    ],
)
def test_fails_at_creation(cloud: Cloud, call: Call, members: dict[str, Any], message: str) -> None:
    with pytest.raises(AwsError, match=message):
        call("CreateCluster", **request(cloud, nova(cloud, **members)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"EnvironmentConfig": files(1200)}, "SizeInGiB of restricted instance group nova cannot shrink: it is 2400, found 1200"),
        ({"EnvironmentConfig": {}}, "needs an FSxLustreConfig"),
        ({"InstanceType": "ml.p5en.48xlarge"}, "InstanceType of instance group nova cannot be changed"),
        ({"InstanceGroupName": "other"}, "names other and leaves out nova; RestrictedInstanceGroups takes every restricted group"),
    ],
)
def test_fails_at_an_update(cloud: Cloud, call: Call, change: dict[str, Any], message: str) -> None:
    own: dict[str, Any] = {"EnvironmentConfig": files(2400)}
    call("CreateCluster", **request(cloud, nova(cloud, **own)))
    described(cloud, call)
    with pytest.raises(AwsError, match=message):
        call("UpdateCluster", ClusterName="demo", RestrictedInstanceGroups=[nova(cloud, **{**own, **change})])


def test_fails_for_a_group_that_changes_its_kind(cloud: Cloud, call: Call) -> None:
    call("CreateCluster", **request(cloud, nova(cloud, EnvironmentConfig=files())))
    described(cloud, call)
    groups = [group(cloud, "system", None), group(cloud, "nova", None, InstanceType="ml.p5.48xlarge")]
    with pytest.raises(AwsError, match="nova in InstanceGroups is a restricted instance group, and a group keeps its kind"):
        call("UpdateCluster", ClusterName="demo", InstanceGroups=groups)


def test_without_continuous_provisioning_a_failed_update_keeps_the_file_systems(cloud: Cloud, call: Call) -> None:
    call("CreateCluster", **request(cloud, nova(cloud, EnvironmentConfig=files()), continuous=False))
    described(cloud, call)
    cloud.faults.no_capacity = frozenset({"nova"})
    change = [nova(cloud, count=3, EnvironmentConfig=files(2400))]
    call("UpdateCluster", ClusterName="demo", RestrictedInstanceGroups=change)
    found = described(cloud, call)
    [restricted] = found["RestrictedInstanceGroups"]
    assert (found["ClusterStatus"], restricted["CurrentCount"], restricted["EnvironmentConfig"]) == ("InService", 2, files())
    call("UpdateCluster", ClusterName="demo", RestrictedInstanceGroups=[nova(cloud, EnvironmentConfig=files())])
