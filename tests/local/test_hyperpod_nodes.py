"""Refusals of the batch operations, as a whole or by node, and descriptions of groups and nodes of every kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError
from tests.local.hyperpod_requests import cluster, group, new_hyperpod
from tests.local.moto_cloud import Cloud, moto_cloud

Call = Callable[..., dict[str, Any]]
EKS = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/k"}}


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as account:
        yield account


@pytest.fixture
def call(cloud: Cloud) -> Call:
    return new_hyperpod(cloud)


def created(cloud: Cloud, call: Call, **members: Any) -> list[dict[str, Any]]:
    call("CreateCluster", **cluster(cloud, **members))
    cloud.clock.tick(10)
    found: list[dict[str, Any]] = call("ListClusterNodes", ClusterName="demo", IncludeNodeLogicalIds=True)["ClusterNodeSummaries"]
    return found


def test_fails_to_add_more_than_fifty_nodes(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    more = [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 30}] * 2
    with pytest.raises(AwsError, match="asks for 60 nodes; one request adds at most 50"):
        call("BatchAddClusterNodes", ClusterName="demo", NodesToAdd=more)


def test_nodes_of_another_type_are_not_added(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    more = [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1, "InstanceTypes": ["ml.p5.48xlarge"]}]
    answer = call("BatchAddClusterNodes", ClusterName="demo", NodesToAdd=more)
    assert (answer["Successful"], answer["Failed"][0]["ErrorCode"]) == ([], "IncompatibleInstanceTypes")


def test_fails_to_delete_a_hundred_nodes(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    with pytest.raises(AwsError, match="at most 99 nodes"):
        call("BatchDeleteClusterNodes", ClusterName="demo", NodeIds=[f"i-{number:017x}" for number in range(100)])


@pytest.mark.parametrize("operation", ["BatchDeleteClusterNodes", "BatchRebootClusterNodes", "BatchReplaceClusterNodes"])
def test_fails_without_a_node(cloud: Cloud, call: Call, operation: str) -> None:
    created(cloud, call)
    with pytest.raises(AwsError, match="either NodeIds or NodeLogicalIds"):
        call(operation, ClusterName="demo")


def test_logical_ids_need_continuous_provisioning(cloud: Cloud, call: Call) -> None:
    node = created(cloud, call, continuous=False)[1]
    with pytest.raises(AwsError, match="NodeLogicalIds is only supported"):
        call("BatchRebootClusterNodes", ClusterName="demo", NodeLogicalIds=[node["NodeLogicalId"]])


def test_a_node_is_found_by_its_logical_id_only_once(cloud: Cloud, call: Call) -> None:
    node = created(cloud, call)[1]
    ids, logical_ids = [node["InstanceId"]], [node["NodeLogicalId"]]
    answer = call("BatchDeleteClusterNodes", ClusterName="demo", NodeIds=ids, NodeLogicalIds=logical_ids)
    assert answer == {"Successful": ids, "SuccessfulNodeLogicalIds": logical_ids}
    cloud.clock.tick()
    assert call("DescribeCluster", ClusterName="demo")["InstanceGroups"][1]["TargetCount"] == 1


def test_a_node_that_does_not_run_is_not_rebooted(cloud: Cloud, call: Call) -> None:
    node = created(cloud, call)[1]
    call("UpdateClusterSoftware", ClusterName="demo")
    cloud.clock.tick()
    request = {"ClusterName": "demo", "NodeIds": [node["InstanceId"]]}
    call("BatchRebootClusterNodes", **request)
    failed = call("BatchRebootClusterNodes", **request)["Failed"][0]
    found = (failed["ErrorCode"], failed["Message"])
    assert found == (
        "InvalidInstanceStatus",
        f"{node['InstanceId']} is Pending; it must be Running",
    )


def test_fails_to_find_what_does_not_exist(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    with pytest.raises(AwsError, match="either NodeId or NodeLogicalId"):
        call("DescribeClusterNode", ClusterName="demo")
    with pytest.raises(AwsError, match="ResourceNotFound: Instance with id i-00000000000000000"):
        call("DescribeClusterNode", ClusterName="demo", NodeId="i-00000000000000000")
    with pytest.raises(AwsError, match="ResourceNotFound: Event"):
        call("DescribeClusterEvent", ClusterName="demo", EventId="00000000-0000-0000-0000-000000000000")
    with pytest.raises(AwsError, match="InstanceGroups names none; cluster demo has controller, workers"):
        call("UpdateClusterSoftware", ClusterName="demo", InstanceGroups=[{"InstanceGroupName": "none"}])


def test_a_kubernetes_group_shows_current_and_desired(cloud: Cloud, call: Call) -> None:
    members: dict[str, Any] = {
        "KubernetesConfig": {"Labels": {"a": "b"}},
        "AutoPatchConfig": {"PatchingStrategy": "WhenIdle", "PatchSchedule": {"NextPatchDate": 1_800_000_000}},
        "ImageId": "default",
        "CapacityRequirements": {"Spot": {}},
    }
    node = created(cloud, call, InstanceGroups=[group(cloud, "workers", None, **members)], Orchestrator=EKS)[0]
    details = call("DescribeCluster", ClusterName="demo")["InstanceGroups"][0]
    assert details["KubernetesConfig"] == {"CurrentLabels": {"a": "b"}, "DesiredLabels": {"a": "b"}}
    assert set(details["AutoPatchConfig"]) == {"PatchingStrategy", "CurrentPatchSchedule", "DesiredPatchSchedule"}
    assert (details["CurrentImageId"], details["DesiredImageId"]) == ("default", "default")
    described = call("DescribeClusterNode", ClusterName="demo", NodeId=node["InstanceId"])["NodeDetails"]
    assert described["CapacityType"] == "Spot"


def test_a_deleted_subnet_fails_the_nodes_and_not_the_description(cloud: Cloud, call: Call) -> None:
    call("CreateCluster", **cluster(cloud, continuous=False))
    cloud.client("ec2").delete_subnet(SubnetId=cloud.subnet)
    cloud.clock.tick(10)
    answer = call("DescribeCluster", ClusterName="demo")
    assert answer["ClusterStatus"] == "Failed"
    assert "Customer network interface creation failed" in answer["FailureMessage"]


def test_a_group_can_come_back_only_after_it_has_gone(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    whole = cluster(cloud)["InstanceGroups"]
    call("UpdateCluster", ClusterName="demo", InstanceGroups=whole[:1], InstanceGroupsToDelete=["workers"])
    with pytest.raises(AwsError, match="ConflictException: instance group workers of cluster demo is being deleted"):
        call("UpdateCluster", ClusterName="demo", InstanceGroups=whole)
    call("UpdateCluster", ClusterName="demo", NodeRecovery="None")
    cloud.clock.tick()
    call("UpdateCluster", ClusterName="demo", InstanceGroups=whole)
    cloud.clock.tick(2)
    assert call("DescribeCluster", ClusterName="demo")["InstanceGroups"][1]["CurrentCount"] == 2
