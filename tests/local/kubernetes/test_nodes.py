"""Fake nodes: what they say of themselves, and what becomes of their pods."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.facts import kubernetes_nodes as facts
from hyperpod_constructs.facts.instance_types import INSTANCE_FACTS, instance_type
from hyperpod_constructs.local.kubernetes.control_plane import KubernetesApi
from hyperpod_constructs.local.kubernetes.nodes import FakeInstance, FakeNodes
from tests.local.kubernetes.memory_api import MemoryApi
from tests.local.moto_cloud import Clock

NAME = "hyperpod-i-0123456789abcdef0"


def instance(**members: Any) -> FakeInstance:
    return FakeInstance(
        **{
            "instance_id": "i-0123456789abcdef0",
            "instance_type": "ml.p5.48xlarge",
            "cluster": "training",
            "group": "workers",
            "address": "10.1.0.7",
            "zone": "us-west-2b",
            **members,
        }
    )


class World:
    """Nodes over an API in memory."""

    def __init__(self) -> None:
        self.api, self.clock = MemoryApi(), Clock()
        api: KubernetesApi = self.api
        self.nodes = FakeNodes(api, self.clock)

    def node(self, name: str = NAME) -> dict[str, Any]:
        return self.api.get("v1", "Node", name)

    def ready(self) -> str:
        (found,) = [item["status"] for item in self.node()["status"]["conditions"] if item["type"] == "Ready"]
        return str(found)

    def renewed(self) -> str:
        return str(self.api.get("coordination.k8s.io/v1", "Lease", NAME, "kube-node-lease")["spec"]["renewTime"])

    def pod(self, name: str, node: str | None = NAME, phase: str = "Pending") -> None:
        spec = {"containers": [{"name": "main", "image": "busybox"}], **({} if node is None else {"nodeName": node})}
        metadata = {"name": name, "namespace": "jobs"}
        self.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": phase}})

    def phase(self, name: str) -> str:
        return str(self.api.get("v1", "Pod", name, "jobs")["status"]["phase"])

    def label(self, health: str) -> None:
        self.api.patch("v1", "Node", NAME, {"metadata": {"labels": {facts.HEALTH: health}}})


@pytest.fixture
def world() -> World:
    world = World()
    world.nodes.join([instance()])
    return world


def test_a_node_has_the_labels_of_the_service(world: World) -> None:
    assert world.node()["metadata"]["labels"] == {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": NAME,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "ml.p5.48xlarge",
        "sagemaker.amazonaws.com/cluster-name": "training",
        "sagemaker.amazonaws.com/compute-type": "hyperpod",
        "sagemaker.amazonaws.com/instance-group-name": "workers",
        "sagemaker.amazonaws.com/node-health-status": "Schedulable",
        "topology.kubernetes.io/region": "us-west-2",
        "topology.kubernetes.io/zone": "us-west-2b",
    }


def test_labels_and_taints_of_the_group_are_there(world: World) -> None:
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    world.nodes.join([instance(instance_id="i-1", labels={"team": "a", facts.HEALTH: "mine"}, taints=(taint,))])
    found = world.node("hyperpod-i-1")
    assert (found["metadata"]["labels"]["team"], found["metadata"]["labels"][facts.HEALTH]) == ("a", "Schedulable")
    assert found["spec"]["taints"] == [taint]


def test_a_node_has_what_its_type_has(world: World) -> None:
    expected = {"cpu": "192", "memory": "2097152Mi", "nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32", "pods": "110"}
    assert world.node()["status"]["allocatable"] == world.node()["status"]["capacity"] == expected
    assert world.ready() == "True"


@pytest.mark.parametrize(
    ("name", "resource", "amount"), [("ml.trn1.32xlarge", "aws.amazon.com/neuron", "16"), ("ml.m5.xlarge", "cpu", "4")]
)
def test_resources_follow_the_type(name: str, resource: str, amount: str) -> None:
    found = facts.resources(instance_type(name))
    assert found[resource] == amount
    assert ("nvidia.com/gpu" in found) is False


def test_grace_and_graviton_are_arm() -> None:
    arm = {name for name in INSTANCE_FACTS if facts.architecture(name) == "arm64"}
    assert {name.split(".")[1] for name in arm} == {"c6g", "c7g", "c8g", "m6g", "m7g", "m8g", "p6e-gb200"}


def test_a_beat_renews_the_lease(world: World) -> None:
    before = world.renewed()
    world.clock.tick(10)
    world.nodes.beat()
    assert world.renewed() > before


def test_a_lost_node_comes_back(world: World) -> None:
    world.api.delete("v1", "Node", NAME)
    world.nodes.beat()
    assert world.ready() == "True"
    assert world.node()["metadata"]["labels"][facts.HEALTH] == "Schedulable"


def test_a_beat_keeps_the_labels_that_somebody_has_set(world: World) -> None:
    world.label("Unschedulable")
    world.nodes.beat()
    assert world.node()["metadata"]["labels"][facts.HEALTH] == "Unschedulable"


@pytest.mark.parametrize(
    ("health", "marks"),
    [
        ("UnschedulablePendingReplacement", {"i-0123456789abcdef0": "Action:Replace"}),
        ("UnschedulablePendingReboot", {"i-0123456789abcdef0": "Action:Reboot"}),
        ("Unschedulable", {}),
    ],
)
def test_labels_of_health_ask_for_recovery(world: World, health: str, marks: dict[str, str]) -> None:
    world.label(health)
    assert world.nodes.marks() == marks


def test_placed_pods_run(world: World) -> None:
    world.pod("placed")
    world.pod("waiting", node=None)
    world.pod("elsewhere", node="other")
    world.pod("done", phase="Succeeded")
    world.nodes.beat()
    assert [world.phase(name) for name in ("placed", "waiting", "elsewhere", "done")] == [
        "Running",
        "Pending",
        "Pending",
        "Succeeded",
    ]
    (container,) = world.api.get("v1", "Pod", "placed", "jobs")["status"]["containerStatuses"]
    assert (container["name"], container["ready"]) == ("main", True)


def test_pods_fail_before_their_node_goes(world: World) -> None:
    world.pod("running", phase="Running")
    world.pod("done", phase="Succeeded")
    world.api.calls.clear()
    world.nodes.leave([instance()])
    assert world.api.calls == [("patch", "Pod", "running"), ("delete", "Lease", NAME), ("delete", "Node", NAME)]
    assert (world.phase("running"), world.phase("done")) == ("Failed", "Succeeded")
    world.nodes.beat()
    assert world.api.list("v1", "Node") == []


def test_a_node_that_reboots_is_not_ready_and_comes_back_schedulable(world: World) -> None:
    world.pod("running", phase="Running")
    world.label("UnschedulablePendingReboot")
    world.nodes.reboot([instance()])
    before = world.renewed()
    world.clock.tick(10)
    world.nodes.beat()
    assert (world.ready(), world.renewed(), world.phase("running"), world.nodes.marks()) == ("False", before, "Failed", {})
    world.nodes.join([instance()])
    assert (world.ready(), world.node()["metadata"]["labels"][facts.HEALTH]) == ("True", "Schedulable")
