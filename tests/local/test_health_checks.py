"""Deep health checks on demand, and the operations of a cluster: their states, refusals and answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.hyperpod.fleet import Records
from hyperpod_constructs.local.hyperpod.service import HyperPod
from tests.local.hyperpod_requests import checked, cluster, group
from tests.local.moto_cloud import Cloud, moto_cloud

Call = Callable[..., dict[str, Any]]
EKS = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/k"}}
GPU = "ml.g5.8xlarge"


class Busy(Records):
    """Nodes of which some have jobs."""

    def __init__(self) -> None:
        self.names: frozenset[str] = frozenset()

    def busy(self) -> frozenset[str]:
        return self.names


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as account:
        yield account


@pytest.fixture
def fleet() -> Busy:
    return Busy()


@pytest.fixture
def hyperpod(cloud: Cloud, fleet: Busy) -> HyperPod:
    return HyperPod(cloud.faults, cloud.client, cloud.clock, fleet)


@pytest.fixture
def call(hyperpod: HyperPod) -> Call:
    return checked(hyperpod)


def created(cloud: Cloud, call: Call, **members: Any) -> list[str]:
    """The ids of the workers of a new cluster with GPUs."""
    groups = [group(cloud, "controller", "Controller"), group(cloud, "workers", "Compute", 2, InstanceType=GPU)]
    call("CreateCluster", **cluster(cloud, **({"InstanceGroups": groups} | members)))
    cloud.clock.tick(10)
    return [node["InstanceId"] for node in nodes(call)]


def nodes(call: Call) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call("ListClusterNodes", ClusterName="demo", InstanceGroupNameContains="workers")[
        "ClusterNodeSummaries"
    ]
    return found


def states(call: Call) -> list[str]:
    return [node["InstanceStatus"]["Status"] for node in nodes(call)]


def check(call: Call, *names: str, checks: tuple[str, ...] = ("InstanceStress",), **members: Any) -> None:
    items = [{"InstanceGroupName": name, "DeepHealthChecks": list(checks), **members} for name in names or ("workers",)]
    call("StartClusterHealthCheck", ClusterName="demo", DeepHealthCheckConfigurations=items)


def operations(call: Call, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call("ListClusterOperations", ClusterName="demo", **asked)["ClusterOperationSummaries"]
    return found


def test_the_nodes_of_a_group_are_checked_and_run_again(cloud: Cloud, call: Call) -> None:
    ids = created(cloud, call)
    check(call, checks=("InstanceStress", "InstanceConnectivity"))
    assert states(call) == ["DeepHealthCheckInProgress"] * 2
    assert operations(call)[0]["Status"] == "InProgress"
    cloud.clock.tick()
    assert states(call) == ["Running"] * 2
    assert [node["InstanceId"] for node in nodes(call)] == ids
    operation = operations(call, Type="DeepHealthCheck", Status="Done")[0]
    details = call("DescribeClusterOperation", ClusterName="demo", OperationId=operation["OperationId"])
    assert details["DeepHealthCheckDetails"][0]["DeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]
    events = cloud.client("logs").filter_log_events(
        logGroupName=f"/aws/sagemaker/Clusters/demo/{operation['ClusterArn'].rpartition('/')[2]}",
        logStreamNames=[f"DeepHealthCheckResults/{ids[0]}"],
    )["events"]
    assert events[0]["message"] == "This is the embedded AWS: no deep health check ran."


def test_only_the_named_node_is_checked(cloud: Cloud, call: Call) -> None:
    ids = created(cloud, call)
    check(call, InstanceIds=[ids[1]])
    assert states(call) == ["Running", "DeepHealthCheckInProgress"]


def test_a_node_with_a_job_waits_ten_minutes_and_is_left_out(cloud: Cloud, call: Call, fleet: Busy) -> None:
    ids = created(cloud, call)
    fleet.names = frozenset(ids[:1])
    check(call)
    assert states(call) == ["Running", "DeepHealthCheckInProgress"]
    cloud.clock.tick(599)
    assert states(call) == ["Running", "Running"]
    assert operations(call, Type="DeepHealthCheck")[0]["Status"] == "InProgress"
    cloud.clock.tick(2)
    assert operations(call, Type="DeepHealthCheck")[0]["Status"] == "Done"
    events = call("ListClusterEvents", ClusterName="demo", NodeId=ids[0])["Events"]
    assert events[0]["Description"] == f"Deep health checks left EC2 Instance {ids[0]} out, because a job runs on it"


def test_a_node_whose_job_ends_is_checked(cloud: Cloud, call: Call, fleet: Busy) -> None:
    fleet.names = frozenset(created(cloud, call))
    check(call)
    assert states(call) == ["Running"] * 2
    fleet.names = frozenset()
    cloud.clock.tick(60.1)
    assert states(call) == ["DeepHealthCheckInProgress"] * 2


def test_a_faulty_node_is_replaced(cloud: Cloud, call: Call) -> None:
    ids = created(cloud, call)
    cloud.faults.assign(Faults(faulty={"workers": 1}, slow_creation=cloud.faults.slow_creation))
    check(call)
    cloud.clock.tick(10)
    assert states(call) == ["Running"] * 2
    assert [node["InstanceId"] in ids for node in nodes(call)] == [False, True]


def test_a_faulty_node_stays_without_automatic_recovery(cloud: Cloud, call: Call) -> None:
    created(cloud, call, NodeRecovery="None", NodeProvisioningMode=None)
    cloud.faults.assign(Faults(faulty={"workers": 1}, slow_creation=cloud.faults.slow_creation))
    check(call)
    cloud.clock.tick(10)
    assert states(call) == ["Failure", "Running"]
    assert "Deep health checks found a fault" in nodes(call)[0]["InstanceStatus"]["Message"]


def test_controllers_are_left_out(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    check(call, "controller")
    assert operations(call, Type="DeepHealthCheck")[0]["Status"] == "Done"


def test_fails_for_a_second_request_on_slurm(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    check(call)
    with pytest.raises(AwsError, match="ConflictException: cluster demo runs deep health checks already"):
        check(call)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"InstanceGroupName": "none"}, "InstanceGroupName is none; cluster demo has controller, workers"),
        (
            {"InstanceIds": ["i-00000000000000000"]},
            "InstanceIds names i-00000000000000000; instance group workers has no such node",
        ),
    ],
)
def test_fails_for_what_is_not_there(cloud: Cloud, call: Call, members: dict[str, Any], message: str) -> None:
    created(cloud, call)
    with pytest.raises(AwsError, match=message):
        check(call, **members)


def test_fails_for_the_connections_of_one_node(cloud: Cloud, call: Call) -> None:
    ids = created(cloud, call)
    with pytest.raises(AwsError, match="InstanceConnectivity needs two nodes or more"):
        check(call, checks=("InstanceConnectivity",), InstanceIds=ids[:1])


def test_a_scaling_request_is_an_operation_until_its_nodes_run(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    more = [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]
    call("BatchAddClusterNodes", ClusterName="demo", NodesToAdd=more)
    operation = operations(call, Type="Scaling")[0]
    described = call("DescribeClusterOperation", ClusterName="demo", OperationId=operation["OperationId"])
    assert described["ScalingDetails"] == [
        {
            "InstanceGroupName": "workers",
            "Status": "InProgress",
            "Original": {"CurrentCount": 2, "TargetCount": 2},
            "Desired": {"TargetCount": 3},
        }
    ]
    cloud.clock.tick(10)
    assert operations(call)[0]["Status"] == "Done"


def test_a_scaling_request_is_superseded_by_the_next(cloud: Cloud, call: Call) -> None:
    ids = created(cloud, call)
    call("BatchAddClusterNodes", ClusterName="demo", NodesToAdd=[{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}])
    call("BatchDeleteClusterNodes", ClusterName="demo", NodeIds=ids[:1])
    cloud.clock.tick(10)
    assert [operation["Status"] for operation in operations(call)] == ["Done", "Superseded"]
    assert [operation["Status"] for operation in operations(call, SortOrder="Ascending", MaxResults=1)] == ["Superseded"]


def test_fails_to_describe_an_unknown_operation(cloud: Cloud, call: Call) -> None:
    created(cloud, call)
    with pytest.raises(AwsError, match="ResourceNotFound: Operation"):
        call("DescribeClusterOperation", ClusterName="demo", OperationId="00000000-0000-0000-0000-000000000000")


def test_kubernetes_puts_no_pods_on_a_node_that_is_checked(cloud: Cloud, call: Call, hyperpod: HyperPod) -> None:
    created(cloud, call, InstanceGroups=[group(cloud, "workers", None, InstanceType=GPU)], Orchestrator=EKS)

    def shown() -> tuple[Any, ...]:
        ((node,),) = hyperpod.recover({}).values()
        labels = [node.labels.get(f"sagemaker.amazonaws.com/{name}") for name in ("deep-health-check-status", "node-health-status")]
        return (*labels, node.up, [taint["value"] for taint in node.taints])

    assert shown() == (None, "Schedulable", True, [])
    check(call)
    assert shown() == ("InProgress", "Unschedulable", True, ["Unschedulable"])
    cloud.clock.tick()
    assert shown() == ("Passed", "Schedulable", True, [])
