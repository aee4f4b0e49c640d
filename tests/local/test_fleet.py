"""A cluster with nodes that really boot: the service waits for them and reports their outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.hyperpod.fleet import Recovery
from hyperpod_constructs.local.hyperpod.service import HyperPod
from hyperpod_constructs.local.hyperpod.state import Cluster, Node, Outcome, Spec
from tests.local.hyperpod_requests import checked, cluster
from tests.local.moto_cloud import Cloud, moto_cloud

Call = Callable[..., dict[str, Any]]
DONE = Outcome(None, ("end: on_create: ok after 2.0 s",))


class Fleet:
    """A double: nodes boot when the test says so."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[str]]] = []
        self.outcomes: dict[str, Outcome] = {}
        self.marked: dict[str, Recovery] = {}
        self.jobs: frozenset[str] = frozenset()
        self.most = 3

    def objection(self, specs: Sequence[Spec], settings: Spec) -> str | None:
        count = sum(spec["InstanceCount"] for spec in specs)
        return None if count <= self.most else f"{count} nodes do not fit"

    def launch(self, cluster: Cluster, nodes: Sequence[Node]) -> None:
        self._note("launch", nodes)

    def outcome(self, node: Node) -> Outcome | None:
        return self.outcomes.get(node.instance_id)

    def marks(self) -> dict[str, Recovery]:
        return self.marked

    def busy(self) -> frozenset[str]:
        return self.jobs

    def reboot(self, nodes: Sequence[Node]) -> None:
        self._note("reboot", nodes)

    def terminate(self, nodes: Sequence[Node]) -> None:
        self._note("terminate", nodes)

    def boot(self, outcome: Outcome = DONE) -> None:
        """End every boot that goes on."""
        _, booted = next(call for call in reversed(self.calls) if call[0] in ("launch", "reboot"))
        self.outcomes |= dict.fromkeys(booted, outcome)

    def _note(self, verb: str, nodes: Sequence[Node]) -> None:
        names = [node.instance_id for node in nodes]
        for name in names:
            self.outcomes.pop(name, None)
        if names:
            self.calls.append((verb, names))


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as account:
        yield account


@pytest.fixture
def fleet() -> Fleet:
    return Fleet()


@pytest.fixture
def service(cloud: Cloud, fleet: Fleet) -> HyperPod:
    return HyperPod(cloud.faults, cloud.client, cloud.clock, fleet)


@pytest.fixture
def call(service: HyperPod) -> Call:
    return checked(service)


def nodes(call: Call, part: str = "") -> list[dict[str, Any]]:
    asked = {"InstanceGroupNameContains": part} if part else {}
    return list(call("ListClusterNodes", ClusterName="demo", IncludeNodeLogicalIds=True, **asked)["ClusterNodeSummaries"])


def states(call: Call) -> list[str]:
    return [node["InstanceStatus"]["Status"] for node in nodes(call)]


def status(call: Call) -> str:
    return str(call("DescribeCluster", ClusterName="demo")["ClusterStatus"])


def created(cloud: Cloud, call: Call, fleet: Fleet) -> None:
    call("CreateCluster", **cluster(cloud))
    for _ in range(2):
        cloud.clock.tick(5)
        status(call)
        fleet.boot()
    cloud.clock.tick(5)
    assert (status(call), states(call)) == ("InService", ["Running"] * 3)


def test_the_cluster_waits_for_the_boot_of_its_controller(cloud: Cloud, call: Call, fleet: Fleet) -> None:
    call("CreateCluster", **cluster(cloud))
    cloud.clock.tick(60)
    assert (status(call), states(call)) == ("Creating", ["Pending"] * 3)
    assert [verb for verb, _ in fleet.calls] == ["launch"]
    fleet.boot()
    cloud.clock.tick(5)
    assert (status(call), states(call)) == ("InService", ["Running", "Pending", "Pending"])


def test_the_log_is_the_node_s_own(cloud: Cloud, call: Call, fleet: Fleet) -> None:
    created(cloud, call, fleet)
    arn = call("DescribeCluster", ClusterName="demo")["ClusterArn"]
    stream = f"LifecycleConfig/controller/{nodes(call, 'controller')[0]['InstanceId']}"
    group = f"/aws/sagemaker/Clusters/demo/{arn.rpartition('/')[2]}"
    events = cloud.client("logs").get_log_events(logGroupName=group, logStreamName=stream)["events"]
    assert [event["message"] for event in events] == list(DONE.log)


def patched(cloud: Cloud, call: Call, fleet: Fleet) -> None:
    call("UpdateClusterSoftware", ClusterName="demo")
    fleet.boot()
    cloud.clock.tick(5)
    assert status(call) == "InService"


def test_a_script_that_fails_is_reported_and_tried_again_on_another_instance(cloud: Cloud, call: Call, fleet: Fleet) -> None:
    call("CreateCluster", **cluster(cloud))
    cloud.clock.tick(5)
    status(call)
    fleet.boot()
    cloud.clock.tick(5)
    status(call)
    fleet.boot(Outcome("/fsx: is not mounted", ("failed: /fsx: is not mounted",)))
    cloud.clock.tick(5)
    assert states(call) == ["Running", "Failure", "Failure"]
    worker = nodes(call, "workers")[0]
    detail = call("DescribeClusterNode", ClusterName="demo", NodeId=worker["InstanceId"])["NodeDetails"]
    assert "/fsx: is not mounted" in detail["InstanceStatus"]["Message"]
    failed = fleet.calls[-1][1]
    cloud.clock.tick(60)
    assert states(call) == ["Running", "Pending", "Pending"]
    assert set(fleet.calls[-1][1]).isdisjoint(failed)
    fleet.boot()
    cloud.clock.tick(5)
    assert states(call) == ["Running"] * 3


def test_a_rebooted_node_is_pending_until_it_is_up(cloud: Cloud, call: Call, fleet: Fleet) -> None:
    created(cloud, call, fleet)
    patched(cloud, call, fleet)
    worker = nodes(call, "workers")[0]["InstanceId"]
    call("BatchRebootClusterNodes", ClusterName="demo", NodeIds=[worker])
    cloud.clock.tick(60)
    assert (fleet.calls[-1], sorted(states(call))) == (("reboot", [worker]), ["Pending", "Running", "Running"])
    fleet.boot()
    cloud.clock.tick(5)
    assert states(call) == ["Running"] * 3


def test_another_boots_in_the_place_of_a_replaced_node(cloud: Cloud, call: Call, fleet: Fleet) -> None:
    created(cloud, call, fleet)
    patched(cloud, call, fleet)
    worker = nodes(call, "workers")[0]["InstanceId"]
    call("BatchReplaceClusterNodes", ClusterName="demo", NodeIds=[worker])
    cloud.clock.tick(5)
    status(call)
    verb, [successor] = fleet.calls[-1]
    assert (verb, successor != worker) == ("launch", True)


def test_marked_nodes_recover_while_nobody_calls(cloud: Cloud, call: Call, fleet: Fleet, service: HyperPod) -> None:
    created(cloud, call, fleet)
    broken, stuck = (node["InstanceId"] for node in nodes(call, "workers"))
    fleet.marked = {broken: "Action:Replace", stuck: "Action:Reboot"}
    service.tend()
    assert fleet.calls[-1] == ("reboot", [stuck])
    cloud.clock.tick(1)
    service.tend()
    verb, [successor] = fleet.calls[-1]
    assert (verb, successor not in (broken, stuck)) == ("launch", True)
    events = call("ListClusterEvents", ClusterName="demo", ResourceType="Instance")["Events"]
    said = {event["InstanceId"]: event["Description"] for event in events if "recovery" in event["Description"]}
    assert said == {broken: "Automatic node recovery: Action:Replace", stuck: "Automatic node recovery: Action:Reboot"}


def test_a_marked_controller_stays(cloud: Cloud, call: Call, fleet: Fleet, service: HyperPod) -> None:
    created(cloud, call, fleet)
    fleet.marked = {nodes(call, "controller")[0]["InstanceId"]: "Action:Replace"}
    before = list(fleet.calls)
    service.tend()
    cloud.clock.tick(5)
    service.tend()
    assert (fleet.calls, states(call)) == (before, ["Running"] * 3)


def test_without_automatic_recovery_marks_stay_marks(cloud: Cloud, call: Call, fleet: Fleet, service: HyperPod) -> None:
    call("CreateCluster", **{**cluster(cloud), "NodeRecovery": "None"})
    for _ in range(3):
        cloud.clock.tick(5)
        status(call)
        fleet.boot()
    cloud.clock.tick(5)
    fleet.marked = {node["InstanceId"]: "Action:Replace" for node in nodes(call, "workers")}
    before = list(fleet.calls)
    service.tend()
    assert (fleet.calls, states(call)) == (before, ["Running"] * 3)


def test_a_software_update_boots_every_node_again(cloud: Cloud, call: Call, fleet: Fleet) -> None:
    created(cloud, call, fleet)
    before = sorted(node["InstanceId"] for node in nodes(call))
    call("UpdateClusterSoftware", ClusterName="demo")
    assert (fleet.calls[-1][0], sorted(fleet.calls[-1][1])) == ("launch", before)
    cloud.clock.tick(60)
    assert status(call) == "SystemUpdating"
    fleet.boot()
    cloud.clock.tick(5)
    assert (status(call), sorted(node["InstanceId"] for node in nodes(call))) == ("InService", before)


def test_deletion_ends_every_node(cloud: Cloud, call: Call, fleet: Fleet) -> None:
    created(cloud, call, fleet)
    every = sorted(node["InstanceId"] for node in nodes(call))
    call("DeleteCluster", ClusterName="demo")
    assert (fleet.calls[-1][0], sorted(fleet.calls[-1][1])) == ("terminate", every)


def test_more_nodes_than_fit_are_refused(cloud: Cloud, call: Call, fleet: Fleet) -> None:
    with pytest.raises(AwsError, match="4 nodes do not fit"):
        call("CreateCluster", **cluster(cloud, workers=3))
    created(cloud, call, fleet)
    added = [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]
    with pytest.raises(AwsError, match="4 nodes do not fit"):
        call("BatchAddClusterNodes", ClusterName="demo", NodesToAdd=added)
    assert len(nodes(call)) == 3


def patching(cloud: Cloud, call: Call, fleet: Fleet, strategy: str) -> list[str]:
    """A cluster whose workers are patched in a minute; the ids of its workers."""
    created(cloud, call, fleet)
    groups = cluster(cloud)["InstanceGroups"]
    date = {"NextPatchDate": cloud.clock.now + 60}
    groups[1]["AutoPatchConfig"] = {"PatchingStrategy": strategy, "PatchSchedule": date}
    call("UpdateCluster", ClusterName="demo", InstanceGroups=groups)
    return [node["InstanceId"] for node in nodes(call, "workers")]


def test_a_patch_takes_each_node_as_its_jobs_end(cloud: Cloud, call: Call, fleet: Fleet) -> None:
    one, two = patching(cloud, call, fleet, "WhenIdle")
    fleet.jobs = frozenset({one})
    cloud.clock.tick(60)
    assert (status(call), fleet.calls[-1]) == ("SystemUpdating", ("launch", [two]))
    fleet.boot()
    cloud.clock.tick(600)
    status(call)
    assert fleet.calls[-1] == ("launch", [two])
    fleet.jobs = frozenset()
    cloud.clock.tick(60)
    status(call)
    assert fleet.calls[-1] == ("launch", [one])
    fleet.boot()
    cloud.clock.tick(5)
    found = call("DescribeCluster", ClusterName="demo")["InstanceGroups"][1]
    assert (found["SoftwareUpdateStatus"], found["TargetStateCount"]) == ("Succeeded", 2)
    assert found["AutoPatchConfig"] == {"PatchingStrategy": "WhenIdle"}


def test_a_patch_of_all_nodes_waits_for_all_jobs(cloud: Cloud, call: Call, fleet: Fleet) -> None:
    workers = patching(cloud, call, fleet, "WhenAllIdle")
    before = list(fleet.calls)
    fleet.jobs = frozenset(workers[:1])
    cloud.clock.tick(600)
    assert (status(call), fleet.calls) == ("SystemUpdating", before)
    fleet.jobs = frozenset()
    cloud.clock.tick(60)
    status(call)
    assert fleet.calls[-1] == ("launch", workers)


@pytest.mark.parametrize(("strategy", "ended", "patched"), [("WhenIdle", "Succeeded", 1), ("WhenAllIdle", "RollbackComplete", 2)])
def test_a_patch_gives_up_after_a_day(cloud: Cloud, call: Call, fleet: Fleet, strategy: str, ended: str, patched: int) -> None:
    fleet.jobs = frozenset(patching(cloud, call, fleet, strategy)[:1])
    cloud.clock.tick(60)
    status(call)
    fleet.boot()
    cloud.clock.tick(86400 - 60)
    assert status(call) == "SystemUpdating"
    cloud.clock.tick(60)
    found = call("DescribeCluster", ClusterName="demo")
    assert found["ClusterStatus"] == "InService"
    assert ("jobs ran on 1 of 2 nodes" in found.get("FailureMessage", "")) == (strategy == "WhenAllIdle")
    worker = found["InstanceGroups"][1]
    assert (worker["SoftwareUpdateStatus"], worker["TargetStateCount"]) == (ended, patched)
