"""Nodes in the control plane of an EKS cluster for the instances of a HyperPod cluster: joined, recovered, ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hyperpod_constructs.custom_resources.handlers.inventory import NodeGroup
from hyperpod_constructs.custom_resources.handlers.node_inventory import InventoryProperties, NodeInventory
from hyperpod_constructs.custom_resources.handlers.readiness_gate import GateProperties, Group, ReadinessGate
from hyperpod_constructs.custom_resources.handlers.resource import Done, Request
from hyperpod_constructs.facts import kubernetes_nodes as facts
from hyperpod_constructs.local import kubernetes_nodes
from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.hyperpod.service import HyperPod
from hyperpod_constructs.local.kubernetes import nodes as fake
from hyperpod_constructs.local.kubernetes_nodes import KubernetesNodes
from tests.local.hyperpod_requests import checked, cluster, group
from tests.local.in_process import InProcessClient
from tests.local.kubernetes.memory_api import MemoryApi
from tests.local.moto_cloud import CALLER, Cloud, moto_cloud

ARN = f"arn:aws:eks:us-west-2:{CALLER.account}:cluster/kubernetes"
OTHER = f"{ARN}-2"
REPLACE, REBOOT = "UnschedulablePendingReplacement", "UnschedulablePendingReboot"


class World:
    """A HyperPod, and the APIs of EKS clusters in memory; nothing happens but by `tick`."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.apis = {ARN: self.new_api(), OTHER: self.new_api()}
        self.service = HyperPod(cloud.faults, cloud.client, cloud.clock, kubernetes=self.find)
        self.call = checked(self.service)
        self.nodes = KubernetesNodes(self.find, [self.service.recover], cloud.clock)

    @staticmethod
    def new_api() -> MemoryApi:
        api = MemoryApi()
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "aws-hyperpod"}})
        return api

    @property
    def api(self) -> MemoryApi:
        return self.apis[ARN]

    def find(self, arn: str, caller: Caller) -> MemoryApi | None:
        return self.apis.get(arn)

    def group(self, name: str = "workers", count: int = 2, **members: Any) -> dict[str, Any]:
        return group(self.cloud, name, None, count, **members)

    def create(self, *groups: dict[str, Any], arn: str = ARN, **members: Any) -> None:
        found = list(groups or [self.group()])
        self.call(
            "CreateCluster", **cluster(self.cloud, Orchestrator={"Eks": {"ClusterArn": arn}}, InstanceGroups=found, **members)
        )
        self.settle()

    def settle(self, seconds: int = 8) -> None:
        for _ in range(seconds):
            self.tick()

    def tick(self, seconds: float = 1.0) -> None:
        self.cloud.clock.tick(seconds)
        self.nodes.tend()

    def instances(self, name: str = "demo") -> list[str]:
        found = self.call("ListClusterNodes", ClusterName=name)["ClusterNodeSummaries"]
        return [str(node["InstanceId"]) for node in found if node["InstanceStatus"]["Status"] == "Running"]

    def names(self, arn: str = ARN) -> list[str]:
        return [str(node["metadata"]["name"]) for node in self.apis[arn].list("v1", "Node")]

    def expected(self, name: str = "demo") -> list[str]:
        return [f"hyperpod-{instance}" for instance in self.instances(name)]

    def node(self, instance: str) -> dict[str, Any]:
        return self.api.get("v1", "Node", f"hyperpod-{instance}")

    def health(self, instance: str) -> str:
        return str(self.node(instance)["metadata"]["labels"][facts.HEALTH])

    def ready(self, instance: str) -> str:
        (found,) = [item["status"] for item in self.node(instance)["status"]["conditions"] if item["type"] == "Ready"]
        return str(found)

    def mark(self, instance: str, health: str) -> None:
        self.api.patch("v1", "Node", f"hyperpod-{instance}", {"metadata": {"labels": {facts.HEALTH: health}}})


@pytest.fixture
def world() -> Iterator[World]:
    with moto_cloud() as cloud:
        yield World(cloud)


def test_every_instance_that_runs_is_a_node(world: World) -> None:
    config = {
        "Labels": {"team": "a", "kubernetes.io/hostname": "mine", facts.HEALTH: "Unschedulable"},
        "Taints": [{"Key": "gpu", "Value": "yes", "Effect": "NoSchedule"}, {"Key": "bare", "Effect": "NoExecute"}],
    }
    world.create(world.group(KubernetesConfig=config))
    assert len(world.instances()) == 2
    assert set(world.names()) == set(world.expected())
    described = world.call("DescribeClusterNode", ClusterName="demo", NodeId=world.instances()[0])["NodeDetails"]
    found = world.node(described["InstanceId"])
    assert found["metadata"]["labels"] == {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": f"hyperpod-{described['InstanceId']}",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "ml.m5.xlarge",
        "sagemaker.amazonaws.com/cluster-name": "demo",
        "sagemaker.amazonaws.com/compute-type": "hyperpod",
        "sagemaker.amazonaws.com/instance-group-name": "workers",
        "sagemaker.amazonaws.com/node-health-status": "Schedulable",
        "team": "a",
        "topology.kubernetes.io/region": "us-west-2",
        "topology.kubernetes.io/zone": "us-west-2b",
    }
    assert found["spec"]["taints"] == [
        {"key": "gpu", "value": "yes", "effect": "NoSchedule"},
        {"key": "bare", "effect": "NoExecute"},
    ]
    assert {"type": "InternalIP", "address": described["PrivatePrimaryIp"]} in found["status"]["addresses"]


def test_a_new_instance_is_checked_before_it_takes_work(world: World) -> None:
    world.cloud.faults.slow_creation = 3.0
    checked = world.group("checked", 1, InstanceType="ml.g5.48xlarge", OnStartDeepHealthChecks=["InstanceStress"])
    world.create(world.group("plain", 1), checked)
    for _ in range(60):
        world.tick()
        (node,) = world.call("ListClusterNodes", ClusterName="demo", InstanceGroupNameContains="checked")["ClusterNodeSummaries"]
        if node["InstanceStatus"]["Status"] == "DeepHealthCheckInProgress":
            break
    world.tick()
    found = world.node(node["InstanceId"])
    assert found["metadata"]["labels"][facts.DEEP_HEALTH] == "InProgress"
    assert [taint["effect"] for taint in found["spec"]["taints"]] == ["NoSchedule"]
    world.settle()
    found = world.node(node["InstanceId"])
    assert found["metadata"]["labels"][facts.DEEP_HEALTH] == "Passed"
    assert not found["spec"].get("taints")
    events = world.call("ListClusterEvents", ClusterName="demo", SortOrder="Ascending")["Events"]
    assert [event["Description"] for event in events if "health" in event["Description"]] == [
        "Deep health checks of Instance Group checked started",
        f"Deep health checks of EC2 Instance {node['InstanceId']} passed",
    ]


def test_a_new_instance_with_a_fault_is_replaced(world: World) -> None:
    world.cloud.faults.faulty = {"checked": 1}
    world.create(world.group("checked", 1, InstanceType="ml.g5.48xlarge", OnStartDeepHealthChecks=["InstanceStress"]))
    world.settle(20)
    (name,) = world.instances()
    assert world.node(name)["metadata"]["labels"][facts.DEEP_HEALTH] == "Passed"
    events = world.call("ListClusterEvents", ClusterName="demo", SortOrder="Ascending")["Events"]
    assert [event["EventLevel"] for event in events if "found a fault" in event["Description"]] == ["Error"]


def test_an_instance_is_a_node_only_once_it_runs(world: World) -> None:
    world.cloud.faults.failing_scripts = {"bad": "the disk is full"}
    world.create(world.group(), world.group("bad", 1))
    assert len(world.names()) == 2


def test_scaling_brings_and_ends_nodes(world: World) -> None:
    world.create()
    for count in (4, 1):
        world.call("UpdateCluster", ClusterName="demo", InstanceGroups=[world.group(count=count)])
        world.settle()
        assert (len(world.names()), set(world.names())) == (count, set(world.expected()))


def test_deleted_instances_end_their_nodes(world: World) -> None:
    world.create()
    first, second = world.instances()
    world.call("BatchDeleteClusterNodes", ClusterName="demo", NodeIds=[first])
    world.settle()
    assert world.names() == [f"hyperpod-{second}"]


def test_a_node_ends_while_its_software_is_updated_and_joins_anew(world: World) -> None:
    world.create()
    before, seen = set(world.names()), []
    world.mark(world.instances()[0], "Unschedulable")
    world.call("UpdateClusterSoftware", ClusterName="demo")
    for _ in range(20):
        world.tick(0.5)
        seen.append(len(world.names()))
    assert 0 in seen
    assert set(world.names()) == before
    assert {world.health(instance) for instance in world.instances()} == {"Schedulable"}


def test_the_end_of_the_cluster_ends_its_nodes_and_nobody_elses(world: World) -> None:
    world.create()
    world.create(ClusterName="second")
    world.create(ClusterName="elsewhere", arn=OTHER)
    world.api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "somebody"}})
    world.call("DeleteCluster", ClusterName="demo")
    world.settle()
    assert set(world.names()) == {"somebody", *world.expected("second")}
    assert set(world.names(OTHER)) == set(world.expected("elsewhere"))
    world.service.reset()
    world.tick()
    assert (world.names(), world.names(OTHER)) == (["somebody"], [])


def test_a_node_that_is_to_be_replaced_is(world: World) -> None:
    world.create()
    lost, other = world.instances()
    world.mark(lost, REPLACE)
    world.settle()
    assert lost not in world.instances()
    assert len(world.names()) == 2
    assert set(world.names()) == set(world.expected())
    assert world.health(next(one for one in world.instances() if one != other)) == "Schedulable"
    said = [event["Description"] for event in world.call("ListClusterEvents", ClusterName="demo")["Events"]]
    assert said.count("Automatic node recovery: Action:Replace") == 1


@pytest.mark.parametrize("seconds", [1.0, 0.0])
def test_a_node_that_is_to_be_rebooted_is_once(world: World, seconds: float) -> None:
    world.create()
    world.cloud.faults.slow_creation = seconds
    (instance, _), seen = world.instances(), []
    world.mark(instance, REBOOT)
    for _ in range(16):
        world.tick(0.5)
        seen.append(world.ready(instance))
    assert "False" in seen
    assert (world.ready(instance), world.health(instance)) == ("True", "Schedulable")
    said = [event["Description"] for event in world.call("ListClusterEvents", ClusterName="demo")["Events"]]
    assert said.count("Automatic node recovery: Action:Reboot") == 1


def test_a_reboot_between_two_looks_counts(world: World) -> None:
    world.create(world.group(count=1))
    world.call("UpdateClusterSoftware", ClusterName="demo")
    world.settle()
    (instance,) = world.instances()
    pod(world, instance)
    world.tick()
    world.call("BatchRebootClusterNodes", ClusterName="demo", NodeIds=[instance])
    world.cloud.clock.tick(5.0)
    assert world.instances() == [instance]
    world.tick()
    assert (phase(world), world.ready(instance)) == ("Failed", "True")


def test_a_software_update_between_two_looks_counts(world: World) -> None:
    world.create(world.group(count=1))
    (instance,) = world.instances()
    world.mark(instance, "Unschedulable")
    world.call("UpdateClusterSoftware", ClusterName="demo")
    for _ in range(10):
        world.cloud.clock.tick()
        world.call("ListClusters")
    assert world.instances() == [instance]
    world.tick()
    assert world.health(instance) == "Schedulable"


def test_without_recovery_a_mark_is_only_a_label(world: World) -> None:
    world.create(NodeRecovery="None")
    before = world.instances()
    for instance, health in zip(before, (REPLACE, REBOOT), strict=True):
        world.mark(instance, health)
    world.settle()
    assert world.instances() == before
    assert [world.health(instance) for instance in before] == [REPLACE, REBOOT]


def test_every_node_marked_at_once(world: World) -> None:
    world.create(world.group(count=16))
    before = set(world.instances())
    for instance in before:
        world.mark(instance, REPLACE)
    world.settle()
    assert not before & set(world.instances())
    assert (len(world.names()), set(world.names())) == (16, set(world.expected()))


def test_a_deleted_node_comes_back_while_its_instance_lives(world: World) -> None:
    world.create()
    first, second = world.instances()
    for instance in (first, second):
        world.api.delete("v1", "Node", f"hyperpod-{instance}")
    world.call("BatchDeleteClusterNodes", ClusterName="demo", NodeIds=[first])
    world.tick(kubernetes_nodes.SEARCH_SECONDS)
    assert world.names() == [f"hyperpod-{second}"]


def test_labels_and_taints_of_a_group_reach_its_nodes(world: World) -> None:
    world.create(world.group(KubernetesConfig={"Labels": {"team": "a", "old": "yes"}}))
    world.mark(world.instances()[0], "Unschedulable")
    config = {"Labels": {"team": "b"}, "Taints": [{"Key": "gpu", "Value": "yes", "Effect": "NoSchedule"}]}
    world.call("UpdateCluster", ClusterName="demo", InstanceGroups=[world.group(KubernetesConfig=config)])
    world.settle()
    for instance in world.instances():
        found = world.node(instance)
        assert (found["metadata"]["labels"]["team"], "old" in found["metadata"]["labels"]) == ("b", False)
        assert found["spec"]["taints"] == [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
    assert world.health(world.instances()[0]) == "Unschedulable"


def test_a_group_with_the_name_of_another_clusters(world: World) -> None:
    world.create(world.group("same", 1))
    world.create(world.group("same", 1), ClusterName="second")
    (instance,) = world.instances("second")
    world.mark(instance, REPLACE)
    before = world.instances("demo")
    world.settle()
    assert (world.instances("demo"), instance in world.instances("second")) == (before, False)
    assert {node["metadata"]["labels"][facts.CLUSTER] for node in world.api.list("v1", "Node")} == {"demo", "second"}


def test_leases_are_renewed_as_long_as_the_instance_lives(world: World) -> None:
    world.create()

    def renewed() -> set[str]:
        return {lease["spec"]["renewTime"] for lease in world.api.list("coordination.k8s.io/v1", "Lease")}

    before = renewed()
    world.tick(fake.RENEWAL_SECONDS)
    assert not before & renewed()


def test_more_nodes_than_a_batch_come_in_one_go(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake, "BATCH", 4)
    world.create(world.group(count=11))
    assert len(world.names()) == 11
    world.call("DeleteCluster", ClusterName="demo")
    world.settle()
    assert world.names() == []


def test_a_control_plane_that_does_not_answer_holds_up_nothing_else(world: World) -> None:
    world.create(ClusterName="elsewhere", arn=OTHER)
    world.create()
    world.api.gone = ConnectionRefusedError("nobody listens")
    world.call("UpdateCluster", ClusterName="demo", InstanceGroups=[world.group(count=3)])
    world.call("UpdateCluster", ClusterName="elsewhere", InstanceGroups=[world.group(count=3)])
    world.settle()
    assert len(world.instances()) == len(world.instances("elsewhere")) == len(world.names(OTHER)) == 3
    world.api.gone = None
    world.tick(kubernetes_nodes.LONGEST_PAUSE)
    assert set(world.names()) == set(world.expected())


def test_the_pause_after_a_failure_grows_to_a_limit(world: World) -> None:
    world.create()
    asked = 0

    class Hanging(MemoryApi):
        """Answers questions about nodes, and lets whoever writes wait for 30 seconds."""

        def apply(self, *given: Any, **named: Any) -> Any:
            nonlocal asked
            asked += 1
            world.cloud.clock.tick(30.0)
            raise TimeoutError

    world.apis[ARN] = Hanging()
    for _ in range(600):
        world.tick()
    assert 600 / kubernetes_nodes.LONGEST_PAUSE - 1 <= asked <= 18


def test_a_control_plane_that_was_started_anew_gets_its_nodes(world: World) -> None:
    world.create()
    world.apis[ARN] = world.new_api()
    world.tick()
    assert set(world.names()) == set(world.expected())


def test_a_control_plane_that_is_gone_ends_nothing_of_the_cluster(world: World) -> None:
    world.create()
    api = world.apis.pop(ARN)
    world.call("UpdateCluster", ClusterName="demo", InstanceGroups=[world.group(count=3)])
    world.settle()
    assert len(world.instances()) == 3
    world.call("DeleteCluster", ClusterName="demo")
    world.settle()
    assert world.call("ListClusters")["ClusterSummaries"] == []
    assert len(api.list("v1", "Node")) == 2


def test_clusters_of_slurm_are_no_nodes(world: World) -> None:
    world.call("CreateCluster", **cluster(world.cloud))
    world.settle()
    assert (world.names(), world.names(OTHER)) == ([], [])


def pod(world: World, instance: str) -> None:
    spec = {"containers": [{"name": "main", "image": "busybox"}], "nodeName": f"hyperpod-{instance}"}
    world.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one", "namespace": "jobs"}, "spec": spec})


def phase(world: World) -> str:
    return str(world.api.get("v1", "Pod", "one", "jobs")["status"]["phase"])


def test_placed_pods_run_and_fail_with_their_node(world: World) -> None:
    world.create(world.group(count=1))
    (instance,) = world.instances()
    pod(world, instance)
    world.tick()
    assert phase(world) == "Running"
    world.mark(instance, REPLACE)
    world.settle()
    assert phase(world) == "Failed"


def test_the_readiness_gate_and_the_inventory_see_the_same_nodes(world: World) -> None:
    world.create(world.group(count=2), world.group("more", 1))
    arn = world.call("DescribeCluster", ClusterName="demo")["ClusterArn"]
    clients = {"sagemaker": InProcessClient(world.service), "ssm": world.cloud.client("ssm"), "logs": world.cloud.client("logs")}
    clock, counts = world.cloud.clock, {"workers": 2, "more": 1}

    def asked(properties: Any) -> Request[Any]:
        return Request(properties=properties, request_id="one", started=clock(), deadline=clock() + 60)

    groups = tuple(Group(name=name, minimum=count, count=count) for name, count in counts.items())
    gate = asked(GateProperties(cluster_arn=arn, groups=groups))
    done = ReadinessGate(clients.__getitem__, clock, clock.tick).created("gate", gate)
    assert isinstance(done, Done)
    assert done.attributes["Ready"] == "true"
    listed = tuple(NodeGroup(name=name, count=count) for name, count in counts.items())
    wanted = asked(InventoryProperties(cluster_arn=arn, prefix="/hyperpod/demo", groups=listed))
    NodeInventory(clients.__getitem__, clock, clock.tick).created("/hyperpod/demo#a/b", wanted)
    written = clients["ssm"].get_parameters_by_path(Path="/hyperpod/demo", Recursive=True)["Parameters"]
    assert len(world.names()) == 3
    assert all(any(name.removeprefix("hyperpod-") in item["Value"] for item in written) for name in world.names())
