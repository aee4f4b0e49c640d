"""The life of a cluster, as the operations show it: creation, scaling, faults, deletion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.hyperpod.service import HyperPod
from tests.local.hyperpod_requests import cluster, group, new_hyperpod
from tests.local.moto_cloud import CALLER, Cloud, moto_cloud

Call = Callable[..., dict[str, Any]]


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as account:
        yield account


@pytest.fixture
def call(cloud: Cloud) -> Call:
    return new_hyperpod(cloud)


def status(call: Call) -> str:
    return str(call("DescribeCluster", ClusterName="demo")["ClusterStatus"])


def nodes(call: Call, part: str = "") -> list[dict[str, Any]]:
    asked = {"InstanceGroupNameContains": part} if part else {}
    found: list[dict[str, Any]] = call("ListClusterNodes", ClusterName="demo", IncludeNodeLogicalIds=True, **asked)[
        "ClusterNodeSummaries"
    ]
    return found


def states(call: Call, part: str = "") -> Counter[str]:
    return Counter(node["InstanceStatus"]["Status"] for node in nodes(call, part))


def created(cloud: Cloud, call: Call, **members: Any) -> str:
    arn = call("CreateCluster", **cluster(cloud, **members))["ClusterArn"]
    cloud.clock.tick(10)
    assert status(call) == "InService"
    return str(arn)


def patched(cloud: Cloud, call: Call) -> None:
    call("UpdateClusterSoftware", ClusterName="demo")
    cloud.clock.tick()
    assert status(call) == "InService"


def scaled(cloud: Cloud, workers: int) -> dict[str, Any]:
    request = cluster(cloud, workers=workers)
    return {key: request[key] for key in ("ClusterName", "InstanceGroups", "Orchestrator", "NodeRecovery")}


def test_a_continuous_cluster_is_in_service_before_its_workers(cloud: Cloud, call: Call) -> None:
    call("CreateCluster", **cluster(cloud))
    assert (status(call), states(call)) == ("Creating", Counter(Pending=3))
    cloud.clock.tick(2)
    assert status(call) == "InService"
    assert (states(call, "controller"), states(call, "workers")) == (Counter(Running=1), Counter(Pending=2))
    groups = {item["InstanceGroupName"]: item for item in call("DescribeCluster", ClusterName="demo")["InstanceGroups"]}
    assert (groups["workers"]["CurrentCount"], groups["workers"]["TargetCount"]) == (0, 2)
    cloud.clock.tick(2)
    assert states(call) == Counter(Running=3)


def test_a_cluster_that_is_not_continuous_gets_all_of_its_nodes_at_once(cloud: Cloud, call: Call) -> None:
    call("CreateCluster", **cluster(cloud, continuous=False))
    cloud.clock.tick(1)
    assert status(call) == "Creating"
    cloud.clock.tick(1)
    assert (status(call), states(call)) == ("InService", Counter(Running=3))


def test_the_path_does_not_depend_on_how_often_somebody_looks(cloud: Cloud, call: Call) -> None:
    call("CreateCluster", **cluster(cloud))
    cloud.clock.tick(100)
    launched = {node["InstanceGroupName"]: node["LaunchTime"] for node in nodes(call)}
    assert (launched["workers"] - launched["controller"]).total_seconds() == 2


def test_a_node_tells_where_it_is(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    node = nodes(call, "controller")[0]
    by_id = call("DescribeClusterNode", ClusterName="demo", NodeId=node["InstanceId"])["NodeDetails"]
    by_logical_id = call("DescribeClusterNode", ClusterName="demo", NodeLogicalId=node["NodeLogicalId"])["NodeDetails"]
    assert by_id == by_logical_id
    address = by_id["PrivatePrimaryIp"]
    assert by_id["PrivateDnsHostname"] == f"ip-{address.replace('.', '-')}.us-west-2.compute.internal"
    assert by_id["Placement"]["AvailabilityZoneId"].startswith("usw2-az")


def test_nodes_have_interfaces_until_the_cluster_goes(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    found = cloud.interfaces()
    assert [[item["GroupId"] for item in interface["Groups"]] for interface in found] == [[cloud.security_group]] * 3
    call("DeleteCluster", ClusterName="demo")
    assert (status(call), cloud.interfaces()) == ("Deleting", [])
    cloud.clock.tick()
    with pytest.raises(AwsError, match="ResourceNotFound"):
        status(call)


def test_the_lifecycle_log_says_that_nothing_ran(cloud: Cloud, call: Call) -> None:
    arn = created(cloud, call)
    name = f"/aws/sagemaker/Clusters/demo/{arn.rpartition('/')[2]}"
    node = nodes(call, "controller")[0]["InstanceId"]
    stream = f"LifecycleConfig/controller/{node}"
    events = cloud.client("logs").get_log_events(logGroupName=name, logStreamName=stream)["events"]
    assert events[0]["message"] == "This is the embedded AWS: no node booted and no lifecycle script ran."


def test_scaling_up_keeps_the_nodes_and_scaling_down_takes_the_newest(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    before = [node["InstanceId"] for node in nodes(call, "workers")]
    call("UpdateCluster", **scaled(cloud, 4))
    assert (status(call), states(call, "workers")) == ("InService", Counter(Running=2, Pending=2))
    cloud.clock.tick(2)
    assert [node["InstanceId"] for node in nodes(call, "workers")][:2] == before
    assert states(call, "workers") == Counter(Running=4)
    call("UpdateCluster", **scaled(cloud, 1))
    assert states(call, "workers") == Counter(Running=1, ShuttingDown=3)
    cloud.clock.tick()
    assert [node["InstanceId"] for node in nodes(call, "workers")] == before[:1]
    assert len(cloud.interfaces()) == 2


def test_an_update_without_continuous_provisioning_takes_the_cluster_through_updating(cloud: Cloud, call: Call) -> None:
    created(cloud, call, continuous=False)
    call("UpdateCluster", **scaled(cloud, 4))
    assert status(call) == "Updating"
    with pytest.raises(AwsError, match="ConflictException"):
        call("UpdateCluster", **scaled(cloud, 5))
    cloud.clock.tick(3)
    assert (status(call), states(call)) == ("InService", Counter(Running=5))


@pytest.mark.parametrize("fault", ["workers", "ml.m5.xlarge"])
def test_an_update_that_finds_no_capacity_rolls_back(cloud: Cloud, call: Call, fault: str) -> None:
    created(cloud, call, continuous=False)
    before = [node["InstanceId"] for node in nodes(call)]
    cloud.faults.assign(Faults(no_capacity=frozenset({fault}), slow_creation=1.0))
    request = scaled(cloud, 4)
    request["InstanceGroups"].append(group(cloud, "more", "Compute"))
    call("UpdateCluster", **request)
    cloud.clock.tick(2)
    assert status(call) == "RollingBack"
    cloud.clock.tick()
    answer = call("DescribeCluster", ClusterName="demo")
    assert (answer["ClusterStatus"], len(answer["InstanceGroups"])) == ("InService", 2)
    assert "Insufficient capacity" in answer["FailureMessage"]
    assert [node["InstanceId"] for node in nodes(call)] == before


def test_groups_come_and_go(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    request = scaled(cloud, 2)
    request["InstanceGroups"][1] = group(cloud, "others", "Compute", 3)
    call("UpdateCluster", **request, InstanceGroupsToDelete=["workers"])
    cloud.clock.tick(3)
    found = call("DescribeCluster", ClusterName="demo")["InstanceGroups"]
    counts = [(item["InstanceGroupName"], item["CurrentCount"], item["Status"]) for item in found]
    assert counts == [("controller", 1, "InService"), ("others", 3, "InService")]


def test_without_capacity_a_creation_that_is_not_continuous_fails_and_leaves_no_node(cloud: Cloud, call: Call) -> None:
    cloud.faults.no_capacity = frozenset({"workers"})
    call("CreateCluster", **cluster(cloud, continuous=False))
    cloud.clock.tick(2)
    assert status(call) == "RollingBack"
    cloud.clock.tick()
    answer = call("DescribeCluster", ClusterName="demo")
    assert answer["ClusterStatus"] == "Failed"
    assert "Insufficient capacity for the requested instance type(s) ml.m5.xlarge" in answer["FailureMessage"]
    assert (nodes(call), cloud.interfaces()) == ([], [])


def test_in_continuous_mode_workers_wait_for_capacity_and_an_event_tells(cloud: Cloud, call: Call) -> None:
    cloud.faults.no_capacity = frozenset({"workers"})
    created(cloud, call)
    assert states(call, "workers") == Counter(Pending=2)
    assert {node["InstanceId"] for node in nodes(call, "workers")} == {""}
    events = call("ListClusterEvents", ClusterName="demo", InstanceGroupName="workers", ResourceType="Instance")["Events"]
    assert {event["EventLevel"] for event in events} == {"Error"}
    detail = call("DescribeClusterEvent", ClusterName="demo", EventId=events[0]["EventId"])["EventDetails"]
    assert detail["EventDetails"]["EventMetadata"]["Instance"]["FailureMessage"] == (
        "We currently do not have sufficient capacity to launch new ml.m5.xlarge instances. Please try again."
    )
    assert detail["Description"] == "Instance creation in Cluster demo and InstanceGroup workers failed"
    cloud.faults.no_capacity = frozenset()
    status(call)
    cloud.clock.tick(2)
    assert states(call, "workers") == Counter(Running=2)


def test_a_flexible_group_takes_the_next_type(cloud: Cloud, call: Call) -> None:
    cloud.faults.no_capacity = frozenset({"ml.p5.48xlarge"})
    types = {"InstanceTypes": ["ml.p5.48xlarge", "ml.g5.8xlarge"]}
    groups = [group(cloud, "controller", "Controller"), group(cloud, "workers", "Compute", InstanceRequirements=types)]
    created(cloud, call, InstanceGroups=groups)
    assert [node["InstanceType"] for node in nodes(call, "workers")] == ["ml.g5.8xlarge"]
    details = call("DescribeCluster", ClusterName="demo")["InstanceGroups"][1]["InstanceTypeDetails"]
    assert [item["CurrentCount"] for item in details] == [0, 1]


def test_a_failing_script_of_the_controller_fails_the_cluster(cloud: Cloud, call: Call) -> None:
    cloud.faults.failing_scripts = {"controller": "mount: timed out"}
    arn = call("CreateCluster", **cluster(cloud))["ClusterArn"]
    cloud.clock.tick(2)
    instance = nodes(call, "controller")[0]["InstanceId"]
    answer = call("DescribeCluster", ClusterName="demo")
    assert answer["ClusterStatus"] == "Failed"
    assert "mount: timed out" in answer["FailureMessage"]
    events = cloud.client("logs").get_log_events(
        logGroupName=f"/aws/sagemaker/Clusters/demo/{arn.rpartition('/')[2]}",
        logStreamName=f"LifecycleConfig/controller/{instance}",
    )["events"]
    assert [event["message"] for event in events][-2:] == ["mount: timed out", "exit status 1"]


def test_a_group_below_its_minimum_for_three_hours_goes_back(cloud: Cloud, call: Call) -> None:
    cloud.faults.no_capacity = frozenset({"workers"})
    workers = group(cloud, "workers", "Compute", 2, MinInstanceCount=1)
    created(cloud, call, InstanceGroups=[group(cloud, "controller", "Controller"), workers])
    assert call("DescribeCluster", ClusterName="demo")["InstanceGroups"][1]["Status"] == "Creating"
    cloud.clock.tick(3 * 3600 + 1)
    assert call("DescribeCluster", ClusterName="demo")["InstanceGroups"][1]["TargetCount"] == 0


def test_throttling_ends_after_the_number_of_calls(cloud: Cloud, call: Call) -> None:
    cloud.faults.throttle = {"ListClusters": 2}
    for _ in range(2):
        with pytest.raises(AwsError, match="ThrottlingException"):
            call("ListClusters")
    assert call("ListClusters") == {"ClusterSummaries": []}


def test_a_name_is_taken_once_in_an_account(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    with pytest.raises(AwsError, match="ResourceInUse"):
        call("CreateCluster", **cluster(cloud))


def test_accounts_do_not_see_each_other(cloud: Cloud) -> None:
    service = HyperPod(cloud.faults, cloud.client, cloud.clock)
    service.call("CreateCluster", cluster(cloud), CALLER)
    assert service.call("ListClusters", {}, Caller("999999999999", "us-west-2", "")) == {"ClusterSummaries": []}
    assert len(service.call("ListClusters", {}, CALLER)["ClusterSummaries"]) == 1
    service.reset()
    assert service.call("ListClusters", {}, CALLER) == {"ClusterSummaries": []}


def test_lists_come_in_pages(cloud: Cloud, call: Call) -> None:
    created(cloud, call, workers=4)
    first = call("ListClusterNodes", ClusterName="demo", MaxResults=3)
    rest = call("ListClusterNodes", ClusterName="demo", MaxResults=3, NextToken=first["NextToken"])
    assert (len(first["ClusterNodeSummaries"]), len(rest["ClusterNodeSummaries"])) == (3, 2)
    assert "NextToken" not in rest
    with pytest.raises(AwsError, match="not a token"):
        call("ListClusterNodes", ClusterName="demo", NextToken="x")


def test_adding_nodes_is_idempotent_by_token(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    more = [
        {"InstanceGroupName": "workers", "IncrementTargetCountBy": 2},
        {"InstanceGroupName": "none", "IncrementTargetCountBy": 1},
    ]
    answer = call("BatchAddClusterNodes", ClusterName="demo", ClientToken="a", NodesToAdd=more)
    assert [item["Status"] for item in answer["Successful"]] == ["Pending"] * 2
    assert [item["ErrorCode"] for item in answer["Failed"]] == ["InstanceGroupNotFound"]
    cloud.clock.tick(3)
    again = call("BatchAddClusterNodes", ClusterName="demo", ClientToken="a", NodesToAdd=more)
    assert [item["NodeLogicalId"] for item in again["Successful"]] == [item["NodeLogicalId"] for item in answer["Successful"]]
    assert states(call, "workers") == Counter(Running=4)


def test_deleting_nodes_lowers_the_target_and_spares_controllers(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    controller, worker = nodes(call, "controller")[0]["InstanceId"], nodes(call, "workers")[0]["InstanceId"]
    gone = "i-00000000000000000"
    answer = call("BatchDeleteClusterNodes", ClusterName="demo", NodeIds=[controller, worker, gone])
    assert answer["Successful"] == [worker]
    assert [(item["NodeId"], item["Code"]) for item in answer["Failed"]] == [
        (controller, "InvalidNodeStatus"),
        (gone, "NodeIdNotFound"),
    ]
    cloud.clock.tick()
    assert call("DescribeCluster", ClusterName="demo")["InstanceGroups"][1]["TargetCount"] == 1


def test_a_replaced_node_keeps_its_logical_id_and_address(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    patched(cloud, call)
    old = nodes(call, "workers")[0]
    call("BatchReplaceClusterNodes", ClusterName="demo", NodeIds=[old["InstanceId"]])
    cloud.clock.tick(2)
    new = nodes(call, "workers")[0]
    assert new["InstanceId"] != old["InstanceId"]
    same = ("NodeLogicalId", "PrivateDnsHostname")
    assert [new[key] for key in same] == [old[key] for key in same]
    controller = nodes(call, "controller")[0]["InstanceId"]
    assert "Successful" not in call("BatchReplaceClusterNodes", ClusterName="demo", NodeIds=[controller])


def test_a_rebooted_node_is_the_same_node(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    patched(cloud, call)
    before = nodes(call)
    call("BatchRebootClusterNodes", ClusterName="demo", NodeIds=[before[0]["InstanceId"]])
    assert states(call) == Counter(Pending=1, Running=2)
    cloud.clock.tick()
    assert nodes(call) == before


def test_a_software_update_runs_the_scripts_again(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    call("UpdateClusterSoftware", ClusterName="demo")
    assert (status(call), states(call)) == ("SystemUpdating", Counter(SystemUpdating=3))
    cloud.clock.tick()
    assert (status(call), states(call)) == ("InService", Counter(Running=3))
    assert all("LastSoftwareUpdateTime" in node for node in nodes(call))


def test_tags_of_a_cluster(cloud: Cloud, call: Call) -> None:
    arn = created(cloud, call, Tags=[{"Key": "team", "Value": "a"}])
    call("AddTags", ResourceArn=arn, Tags=[{"Key": "team", "Value": "b"}, {"Key": "cost", "Value": "1"}])
    call("DeleteTags", ResourceArn=arn, TagKeys=["cost"])
    assert call("ListTags", ResourceArn=arn) == {"Tags": [{"Key": "team", "Value": "b"}]}


def test_fails_on_an_operation_that_is_not_served(cloud: Cloud) -> None:
    service = HyperPod(cloud.faults, cloud.client)
    with pytest.raises(AwsError, match="UnknownOperationException"):
        service.call("CreateTrainingJob", {}, CALLER)
