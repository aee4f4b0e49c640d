"""What a cluster goes through when nodes fail: the order of a continuous creation, retries, missing scripts, software updates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_constructs.local.hyperpod.provisioner import RETRY_SECONDS
from tests.local.hyperpod_requests import cluster, group, new_hyperpod
from tests.local.moto_cloud import Cloud, moto_cloud

Call = Callable[..., dict[str, Any]]

POLICY = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "logs:*", "Resource": "*"}]}'


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as account:
        yield account


@pytest.fixture
def call(cloud: Cloud) -> Call:
    return new_hyperpod(cloud)


def described(call: Call) -> dict[str, Any]:
    return call("DescribeCluster", ClusterName="demo")


def nodes(call: Call, part: str = "") -> list[dict[str, Any]]:
    asked = {"InstanceGroupNameContains": part} if part else {}
    found = call("ListClusterNodes", ClusterName="demo", IncludeNodeLogicalIds=True, **asked)["ClusterNodeSummaries"]
    return list(found)


def states(call: Call, part: str = "") -> Counter[str]:
    return Counter(node["InstanceStatus"]["Status"] for node in nodes(call, part))


def messages(call: Call, group_name: str) -> list[str]:
    """The failure messages of the group's instances, from events."""
    events = call("ListClusterEvents", ClusterName="demo", InstanceGroupName=group_name, ResourceType="Instance")["Events"]
    failed = [event["EventId"] for event in events if event["EventLevel"] == "Error"]
    found = [call("DescribeClusterEvent", ClusterName="demo", EventId=event)["EventDetails"] for event in failed]
    return [event["EventDetails"]["EventMetadata"]["Instance"]["FailureMessage"] for event in found]


def with_login(cloud: Cloud, logins: int = 1) -> list[dict[str, Any]]:
    return [
        group(cloud, "controller", "Controller"),
        group(cloud, "login", "Login", logins),
        group(cloud, "workers", "Compute", 2),
    ]


def test_login_nodes_and_workers_start_in_parallel_once_the_controller_runs(cloud: Cloud, call: Call) -> None:
    call("CreateCluster", **cluster(cloud, InstanceGroups=with_login(cloud)))
    cloud.clock.tick(2)
    assert (described(call)["ClusterStatus"], states(call)) == ("Creating", Counter(Running=1, Pending=3))
    cloud.clock.tick(2)
    assert (described(call)["ClusterStatus"], states(call)) == ("InService", Counter(Running=4))
    launched = {node["InstanceGroupName"]: node["LaunchTime"] for node in nodes(call)}
    assert launched["login"] == launched["workers"] > launched["controller"]


def test_workers_without_capacity_do_not_hold_up_the_login_node(cloud: Cloud, call: Call) -> None:
    cloud.faults.no_capacity = frozenset({"workers"})
    call("CreateCluster", **cluster(cloud, InstanceGroups=with_login(cloud)))
    cloud.clock.tick(4)
    assert (described(call)["ClusterStatus"], states(call)) == ("InService", Counter(Running=2, Pending=2))


def test_nodes_without_an_instance_are_listed_only_with_logical_ids(cloud: Cloud, call: Call) -> None:
    cloud.faults.no_capacity = frozenset({"workers"})
    call("CreateCluster", **cluster(cloud))
    cloud.clock.tick(4)
    assert states(call) == Counter(Running=1, Pending=2)
    listed = call("ListClusterNodes", ClusterName="demo")["ClusterNodeSummaries"]
    assert [node["InstanceGroupName"] for node in listed] == ["controller"]
    assert "NodeLogicalId" not in listed[0]


def test_a_login_group_that_does_not_come_up_fails_the_cluster(cloud: Cloud, call: Call) -> None:
    cloud.faults.failing_scripts = {"login": "no sssd"}
    call("CreateCluster", **cluster(cloud, InstanceGroups=with_login(cloud, 2)))
    cloud.clock.tick(4)
    assert described(call)["ClusterStatus"] == "Failed"
    assert "no sssd" in described(call)["FailureMessage"]


def test_an_unhealthy_controller_is_replaced_until_one_comes_up(cloud: Cloud, call: Call) -> None:
    cloud.faults.unhealthy = {"controller": 3}
    call("CreateCluster", **cluster(cloud))
    cloud.clock.tick(4)
    assert described(call)["ClusterStatus"] == "Creating"
    cloud.clock.tick(1)
    assert described(call)["ClusterStatus"] == "InService"
    assert messages(call, "controller") == ["An instance for group controller is unhealthy; it is replaced"] * 3


@pytest.mark.parametrize("fault", ["no_capacity", "failing_scripts"])
def test_a_controller_that_cannot_run_fails_the_cluster_for_good(cloud: Cloud, call: Call, fault: str) -> None:
    setattr(cloud.faults, fault, {"controller": "no"})
    call("CreateCluster", **cluster(cloud))
    cloud.clock.tick(2)
    assert described(call)["ClusterStatus"] == "Failed"
    setattr(cloud.faults, fault, {})
    cloud.clock.tick(10 * RETRY_SECONDS)
    assert described(call)["ClusterStatus"] == "Failed"
    assert (nodes(call), cloud.interfaces()) == ([], [])


def test_a_worker_whose_script_fails_is_provisioned_again_and_again(cloud: Cloud, call: Call) -> None:
    cloud.faults.failing_scripts = {"workers": "no disk"}
    call("CreateCluster", **cluster(cloud))
    cloud.clock.tick(4)
    assert (described(call)["ClusterStatus"], states(call, "workers")) == ("InService", Counter(Failure=2))
    first = nodes(call, "workers")
    assert "no disk" in first[0]["InstanceStatus"]["Message"]
    assert described(call)["InstanceGroups"][1]["Status"] == "Degraded"
    cloud.clock.tick(RETRY_SECONDS + 2)
    second = nodes(call, "workers")
    assert [node["NodeLogicalId"] for node in second] == [node["NodeLogicalId"] for node in first]
    assert {node["InstanceId"] for node in second}.isdisjoint(node["InstanceId"] for node in first)
    assert len(messages(call, "workers")) == 4
    cloud.faults.failing_scripts = {}
    cloud.clock.tick(RETRY_SECONDS + 2)
    assert states(call, "workers") == Counter(Running=2)
    assert described(call)["InstanceGroups"][1]["Status"] == "InService"


def test_a_deleted_node_is_not_provisioned_again(cloud: Cloud, call: Call) -> None:
    cloud.faults.failing_scripts = {"workers": "no disk"}
    call("CreateCluster", **cluster(cloud))
    cloud.clock.tick(4)
    call("BatchDeleteClusterNodes", ClusterName="demo", NodeIds=[node["InstanceId"] for node in nodes(call, "workers")])
    cloud.clock.tick(2 * RETRY_SECONDS)
    assert nodes(call, "workers") == []


SCRIPTS = {"SourceS3Uri": "s3://sagemaker-scripts/v2", "OnInitComplete": "on_create.sh"}
ELSEWHERE = {"SourceS3Uri": "s3://nobodys-bucket", "OnCreate": "on_create.sh"}


@pytest.mark.parametrize("scripts", [SCRIPTS, ELSEWHERE])
def test_a_missing_script_fails_on_the_node(cloud: Cloud, call: Call, scripts: dict[str, str]) -> None:
    groups = [group(cloud, "controller", "Controller"), group(cloud, "workers", "Compute", LifeCycleConfig=scripts)]
    arn = call("CreateCluster", **cluster(cloud, InstanceGroups=groups))["ClusterArn"]
    cloud.clock.tick(4)
    assert (described(call)["ClusterStatus"], states(call, "workers")) == ("InService", Counter(Failure=1))
    node = nodes(call, "workers")[0]
    missing = f"the lifecycle script {scripts['SourceS3Uri']}/on_create.sh does not exist"
    assert node["InstanceStatus"]["Message"].startswith(
        f"Instance {node['InstanceId']} failed to provision with the following error: "
        '"Lifecycle scripts did not run successfully. To view lifecycle script logs, visit log group'
    )
    assert missing in node["InstanceStatus"]["Message"]
    place = f"/aws/sagemaker/Clusters/demo/{arn.rpartition('/')[2]}", f"LifecycleConfig/workers/{node['InstanceId']}"
    logged = cloud.client("logs").get_log_events(logGroupName=place[0], logStreamName=place[1])["events"]
    assert missing in logged[0]["message"]


def test_a_role_that_cannot_read_the_scripts_fails_on_the_node(cloud: Cloud, call: Call) -> None:
    cloud.iam.denied = {"s3:GetObject"}
    call("CreateCluster", **cluster(cloud))
    cloud.clock.tick(2)
    assert described(call)["ClusterStatus"] == "Failed"
    assert "is not allowed s3:GetObject on arn:aws:s3:::sagemaker-scripts/v1/on_create.sh" in described(call)["FailureMessage"]


def test_the_managed_policy_reads_buckets_named_sagemaker(cloud: Cloud, call: Call) -> None:
    cloud.iam.denied = {"s3:GetObject"}
    policy = cloud.iam.create_policy(PolicyName="AmazonSageMakerClusterInstanceRolePolicy", PolicyDocument=POLICY)
    cloud.iam.attach_role_policy(RoleName="nodes", PolicyArn=policy["Policy"]["Arn"])
    call("CreateCluster", **cluster(cloud))
    cloud.clock.tick(2)
    assert described(call)["ClusterStatus"] == "InService"


def put_legacy_file(cloud: Cloud) -> None:
    cloud.client("s3").put_object(Bucket="sagemaker-scripts", Key="v1/provisioning_parameters.json", Body=b"{}")


BOTH = (
    "The LifeCycleConfig cannot include both a SLURM Orchestrator Config and a provisioning_parameters.json file"
    " simultaneously: found s3://sagemaker-scripts/v1/provisioning_parameters.json"
)


@pytest.mark.parametrize("continuous", [True, False])
def test_the_legacy_file_beside_the_scripts_fails_the_creation(cloud: Cloud, call: Call, continuous: bool) -> None:
    put_legacy_file(cloud)
    call("CreateCluster", **cluster(cloud, continuous=continuous))
    cloud.clock.tick(4)
    assert (described(call)["ClusterStatus"], described(call)["FailureMessage"]) == ("Failed", BOTH)


@pytest.mark.parametrize("continuous", [True, False])
def test_the_legacy_file_beside_the_scripts_takes_an_update_back(cloud: Cloud, call: Call, continuous: bool) -> None:
    request = cluster(cloud, continuous=continuous)
    call("CreateCluster", **request)
    cloud.clock.tick(4)
    described(call)
    put_legacy_file(cloud)
    call("UpdateCluster", ClusterName="demo", InstanceGroups=cluster(cloud, workers=4)["InstanceGroups"])
    cloud.clock.tick(4)
    answer = described(call)
    assert (answer["ClusterStatus"], answer["FailureMessage"]) == ("InService", BOTH)
    assert (answer["InstanceGroups"][1]["TargetCount"], states(call)) == (2, Counter(Running=3))


def test_a_software_update_that_fails_goes_back_after_four_attempts(cloud: Cloud, call: Call) -> None:
    arn = call("CreateCluster", **cluster(cloud))["ClusterArn"]
    cloud.clock.tick(4)
    described(call)
    cloud.faults.failing_scripts = {"workers": "no disk"}
    call("UpdateClusterSoftware", ClusterName="demo")
    for _ in range(3):
        cloud.clock.tick()
        assert described(call)["InstanceGroups"][1]["SoftwareUpdateStatus"] == "InProgress"
    assert "no disk" in nodes(call, "workers")[0]["InstanceStatus"]["Message"]
    cloud.clock.tick()
    assert described(call)["InstanceGroups"][1]["SoftwareUpdateStatus"] == "RollbackInProgress"
    cloud.clock.tick()
    answer = described(call)
    assert [item["SoftwareUpdateStatus"] for item in answer["InstanceGroups"]] == ["Succeeded", "Failed"]
    assert (answer["ClusterStatus"], states(call)) == ("InService", Counter(Running=3))
    assert "no disk" in answer["FailureMessage"]
    assert ["LastSoftwareUpdateTime" in node for node in nodes(call)] == [True, False, False]
    stream = f"LifecycleConfig/workers/{nodes(call, 'workers')[0]['InstanceId']}"
    place = f"/aws/sagemaker/Clusters/demo/{arn.rpartition('/')[2]}"
    logged = cloud.client("logs").get_log_events(logGroupName=place, logStreamName=stream)["events"]
    assert [event["message"] for event in logged].count("no disk") == 4


def test_a_software_update_leaves_nodes_without_capacity_alone(cloud: Cloud, call: Call) -> None:
    cloud.faults.no_capacity = frozenset({"workers"})
    call("CreateCluster", **cluster(cloud))
    cloud.clock.tick(4)
    described(call)
    call("UpdateClusterSoftware", ClusterName="demo")
    cloud.clock.tick()
    assert states(call) == Counter(Running=1, Pending=2)
