"""Fake nodes: what they say of themselves, and what becomes of them and their pods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hyperpod_constructs.facts import kubernetes_nodes as facts
from hyperpod_constructs.facts.instance_types import INSTANCE_FACTS, instance_type
from hyperpod_constructs.local.kubernetes import nodes as fake
from hyperpod_constructs.local.kubernetes.client import KubernetesError
from hyperpod_constructs.local.kubernetes.control_plane import KubernetesApi
from hyperpod_constructs.local.kubernetes.nodes import FakeInstance, FakeNodes
from tests.local.kubernetes.memory_api import MemoryApi
from tests.local.moto_cloud import Clock

NAME = "hyperpod-i-0123456789abcdef0"
TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


def instance(**members: Any) -> FakeInstance:
    return FakeInstance(
        **{
            "node": NAME,
            "instance_id": "i-0123456789abcdef0",
            "instance_type": "ml.p5.48xlarge",
            "address": "10.1.0.7",
            "zone": "us-west-2b",
            "region": "us-west-2",
            "provider_id": "aws:///us-west-2b/sagemaker/cluster/abc-i-0123456789abcdef0",
            "labels": {facts.HEALTH: facts.SCHEDULABLE, "team": "a"},
            **members,
        }
    )


def fleet(count: int) -> list[FakeInstance]:
    return [instance(node=f"hyperpod-i-{number}", instance_id=f"i-{number}") for number in range(count)]


class World:
    """Nodes over an API in memory."""

    def __init__(self) -> None:
        self.api, self.clock = MemoryApi(), Clock()
        api: KubernetesApi = self.api
        self.nodes = FakeNodes(api, self.clock)

    def node(self, name: str = NAME) -> dict[str, Any]:
        return self.api.get("v1", "Node", name)

    def names(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.api.list("v1", "Node")]

    def health(self) -> str:
        return str(self.node()["metadata"]["labels"][facts.HEALTH])

    def ready(self) -> str:
        (found,) = [item["status"] for item in self.node()["status"]["conditions"] if item["type"] == "Ready"]
        return str(found)

    def renewed(self, name: str = NAME) -> str:
        return str(self.api.get("coordination.k8s.io/v1", "Lease", name, "kube-node-lease")["spec"]["renewTime"])

    def pod(self, name: str, node: str | None = NAME, phase: str = "Pending", **metadata: Any) -> None:
        spec = {"containers": [{"name": "main", "image": "busybox"}], **({} if node is None else {"nodeName": node})}
        found = {"name": name, "namespace": "jobs", **metadata}
        self.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": found, "spec": spec, "status": {"phase": phase}})

    def phase(self, name: str) -> str:
        return str(self.api.get("v1", "Pod", name, "jobs")["status"]["phase"])

    def label(self, health: str, name: str = NAME) -> None:
        self.api.patch("v1", "Node", name, {"metadata": {"labels": {facts.HEALTH: health}}})


@pytest.fixture
def world() -> World:
    world = World()
    world.nodes.hold([instance()])
    return world


def test_a_node_has_the_labels_of_its_instance_and_those_of_every_node(world: World) -> None:
    world.nodes.hold([instance(labels={facts.HEALTH: "Schedulable", "kubernetes.io/hostname": "mine"}, taints=(TAINT,))])
    assert world.node()["metadata"]["labels"] == {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": NAME,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "ml.p5.48xlarge",
        "sagemaker.amazonaws.com/node-health-status": "Schedulable",
        "topology.kubernetes.io/region": "us-west-2",
        "topology.kubernetes.io/zone": "us-west-2b",
    }
    assert world.node()["spec"]["taints"] == [TAINT]


def test_what_is_unknown_is_left_out(world: World) -> None:
    world.nodes.hold([instance(node="other", zone="", address="")])
    assert "topology.kubernetes.io/zone" not in world.node("other")["metadata"]["labels"]
    assert world.node("other")["status"]["addresses"] == [{"type": "Hostname", "address": "other"}]


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


def test_a_type_of_ec2_has_what_it_has_in_hyperpod(world: World) -> None:
    world.nodes.hold([instance(node="other", instance_type="m7g.xlarge")])
    assert world.node("other")["status"]["allocatable"] == {"cpu": "4", "memory": "16384Mi", "pods": "110"}
    labels = world.node("other")["metadata"]["labels"]
    assert (labels["node.kubernetes.io/instance-type"], labels["kubernetes.io/arch"]) == ("m7g.xlarge", "arm64")


def test_grace_and_graviton_are_arm() -> None:
    arm = {name for name in INSTANCE_FACTS if facts.architecture(name) == "arm64"}
    assert {name.split(".")[1] for name in arm} == {"c6g", "c7g", "c8g", "m6g", "m7g", "m8g", "p6e-gb200"}


def test_a_lease_is_renewed_when_it_is_due(world: World) -> None:
    before = world.renewed()
    world.clock.tick(fake.RENEWAL_SECONDS - 1)
    world.nodes.beat()
    assert world.renewed() == before
    world.clock.tick(1)
    world.nodes.beat()
    assert world.renewed() > before


def test_leases_are_renewed_in_batches_the_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake, "BATCH", 3)
    world = World()
    assert world.nodes.hold(fleet(4)) is True
    world.clock.tick()
    assert world.nodes.hold(fleet(4)) is False
    world.clock.tick(fake.RENEWAL_SECONDS)
    world.api.calls.clear()
    world.nodes.beat()
    assert world.api.calls == [("patch", "Lease", f"hyperpod-i-{number}") for number in (0, 1, 2)]
    world.nodes.beat()
    assert world.api.calls[3:] == [("patch", "Lease", "hyperpod-i-3")]
    assert (world.nodes.hold([]), len(world.names())) == (True, 1)
    assert (world.nodes.hold([]), world.names()) == (False, [])


def test_a_deleted_lease_comes_back(world: World) -> None:
    world.api.delete("coordination.k8s.io/v1", "Lease", NAME, "kube-node-lease")
    world.clock.tick(fake.RENEWAL_SECONDS)
    world.nodes.beat()
    assert world.renewed()


def test_what_stays_as_it_is_is_not_written_again(world: World) -> None:
    world.api.calls.clear()
    world.nodes.hold([instance()])
    world.nodes.beat()
    world.nodes.find_lost()
    world.nodes.run_pods()
    assert world.api.calls == []


def test_a_lost_node_comes_back(world: World) -> None:
    world.api.delete("v1", "Node", NAME)
    world.nodes.find_lost()
    assert (world.ready(), world.health()) == ("True", "Schedulable")


def test_labels_that_somebody_has_set_stay(world: World) -> None:
    world.label("Unschedulable")
    world.api.patch("v1", "Node", NAME, {"metadata": {"labels": {"mine": "yes"}}, "spec": {"taints": [{**TAINT, "key": "mine"}]}})
    world.nodes.hold([instance(labels={facts.HEALTH: "Schedulable", "team": "b", "new": "yes"}, taints=(TAINT,))])
    labels = world.node()["metadata"]["labels"]
    assert (labels[facts.HEALTH], labels["mine"], labels["team"], labels["new"]) == ("Unschedulable", "yes", "b", "yes")
    assert world.node()["spec"]["taints"] == [{**TAINT, "key": "mine"}, TAINT]
    world.nodes.hold([instance(labels={facts.HEALTH: "Schedulable"})])
    assert not {"team", "new"} & set(world.node()["metadata"]["labels"])
    assert world.node()["spec"]["taints"] == [{**TAINT, "key": "mine"}]


def test_labels_that_change_during_a_reboot_are_there_after_it(world: World) -> None:
    world.nodes.hold([instance(labels={facts.HEALTH: "Schedulable", "added": "yes"})])
    world.nodes.hold([instance(labels={facts.HEALTH: "Schedulable", "other": "yes"}, up=False, boots=1)])
    world.nodes.hold([instance(labels={facts.HEALTH: "Schedulable", "last": "yes"}, boots=1)])
    labels = world.node()["metadata"]["labels"]
    assert ("last" in labels, {"team", "added", "other"} & set(labels)) == (True, set())


def test_labels_of_a_node_that_somebody_deleted_come_with_it(world: World) -> None:
    world.api.delete("v1", "Node", NAME)
    world.nodes.hold([instance(labels={facts.HEALTH: "Schedulable", "last": "yes"}, taints=(TAINT,))])
    world.nodes.find_lost()
    assert ("last" in world.node()["metadata"]["labels"], world.node()["spec"]["taints"]) == (True, [TAINT])


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


def test_nodes_of_others_ask_for_nothing(world: World) -> None:
    labels = {facts.HEALTH: "UnschedulablePendingReplacement"}
    for number in range(10_000):
        world.api.objects["v1", "Node", None, f"other-{number}"] = {"metadata": {"name": f"other-{number}", "labels": labels}}
    assert world.nodes.marks() == {}


def test_placed_pods_run(world: World) -> None:
    world.pod("placed")
    world.pod("waiting", node=None)
    world.pod("elsewhere", node="other")
    world.pod("done", phase="Succeeded")
    world.nodes.run_pods()
    assert [world.phase(name) for name in ("placed", "waiting", "elsewhere", "done")] == [
        "Running",
        "Pending",
        "Pending",
        "Succeeded",
    ]
    (container,) = world.api.get("v1", "Pod", "placed", "jobs")["status"]["containerStatuses"]
    assert (container["name"], container["ready"]) == ("main", True)


def test_a_pod_succeeds_when_its_annotation_says_so(world: World) -> None:
    for name, after in (("soon", "30"), ("never", "1e3"), ("nonsense", "-1")):
        world.pod(name, annotations={"embedded-aws/succeeds-after": after})
    world.pod("without")
    world.nodes.run_pods()
    world.clock.tick(29)
    world.nodes.run_pods()
    assert world.phase("soon") == "Running"
    world.clock.tick(1)
    world.nodes.run_pods()
    assert [world.phase(name) for name in ("soon", "never", "nonsense", "without")] == ["Succeeded", *["Running"] * 3]
    (container,) = world.api.get("v1", "Pod", "soon", "jobs")["status"]["containerStatuses"]
    assert container["state"]["terminated"]["exitCode"] == 0


@pytest.mark.parametrize("start", [None, "yesterday", 7])
def test_a_start_that_cannot_be_read_ends_no_pod(world: World, start: object) -> None:
    world.pod("strange", phase="Running", annotations={"embedded-aws/succeeds-after": "0"})
    world.api.patch("v1", "Pod", "strange", {"status": {"startTime": start}}, "jobs")
    world.nodes.run_pods()
    assert world.phase("strange") == "Running"


def test_a_pod_that_is_deleted_ends(world: World) -> None:
    world.pod("running", phase="Running", deletionTimestamp="2026-11-22T00:00:00Z", deletionGracePeriodSeconds=30)
    world.pod("held", phase="Failed", deletionTimestamp="2026-11-22T00:00:00Z", deletionGracePeriodSeconds=0)
    world.api.calls.clear()
    world.nodes.run_pods()
    assert world.api.calls == [("patch", "Pod", "running"), ("delete", "Pod", "running")]


def test_a_pod_that_is_refused_stops_no_other(world: World) -> None:
    world.pod("bad")
    world.pod("good")
    world.api.refused.add("bad")
    world.nodes.run_pods()
    world.api.refused.clear()
    assert (world.phase("bad"), world.phase("good")) == ("Pending", "Running")


def test_pods_fail_before_their_node_goes(world: World) -> None:
    world.pod("running", phase="Running")
    world.pod("done", phase="Succeeded")
    world.api.calls.clear()
    world.nodes.hold([])
    assert world.api.calls == [
        ("patch", "Node", NAME),
        ("patch", "Pod", "running"),
        ("delete", "Lease", NAME),
        ("delete", "Node", NAME),
    ]
    assert (world.phase("running"), world.phase("done")) == ("Failed", "Succeeded")
    world.nodes.beat()
    world.nodes.find_lost()
    assert (world.names(), world.nodes.empty) == ([], True)


def test_a_node_that_somebody_deleted_can_end(world: World) -> None:
    world.api.delete("v1", "Node", NAME)
    world.nodes.hold([])
    assert world.nodes.empty


def test_a_node_that_reboots_is_not_ready_and_comes_back_schedulable(world: World) -> None:
    world.pod("running", phase="Running")
    world.label("UnschedulablePendingReboot")
    world.nodes.hold([instance(up=False, boots=1)])
    before = world.renewed()
    world.clock.tick(fake.RENEWAL_SECONDS)
    world.nodes.beat()
    assert (world.ready(), world.renewed(), world.phase("running"), world.nodes.marks()) == ("False", before, "Failed", {})
    world.nodes.hold([instance(boots=1)])
    assert (world.ready(), world.health()) == ("True", "Schedulable")


def test_a_reboot_that_was_too_fast_to_see_counts(world: World) -> None:
    world.pod("running", phase="Running")
    world.label("UnschedulablePendingReboot")
    world.nodes.hold([instance(boots=1)])
    assert (world.ready(), world.health(), world.phase("running")) == ("True", "Schedulable", "Failed")


def test_an_instance_that_has_not_run_is_no_node() -> None:
    world = World()
    world.nodes.hold([instance(up=False)])
    assert world.names() == []


def test_a_node_that_is_refused_stops_no_other(world: World) -> None:
    world.api.refused.add("hyperpod-i-1")
    assert world.nodes.hold(fleet(3)) is False
    assert world.names() == ["hyperpod-i-0", "hyperpod-i-2"]
    assert world.api.refusals == 1
    world.nodes.hold(fleet(3))
    world.nodes.find_lost()
    assert world.api.refusals == 1
    world.api.refused.clear()
    world.clock.tick(fake.RETRY_SECONDS)
    world.nodes.hold(fleet(3))
    assert set(world.names()) == {f"hyperpod-i-{number}" for number in range(3)}


@pytest.mark.parametrize("trouble", [ConnectionRefusedError(), KubernetesError(503, {}), KubernetesError(429, {})])
def test_an_api_that_does_not_answer_is_an_exception_and_nothing_is_lost(world: World, trouble: Exception) -> None:
    world.api.gone = trouble
    for attempt in (lambda: world.nodes.hold([instance(boots=1)]), lambda: world.nodes.hold([]), world.nodes.find_lost):
        with pytest.raises(type(trouble)):
            attempt()
    world.api.gone = None
    world.nodes.hold([replace(instance(), boots=1)])
    assert world.ready() == "True"


def test_a_node_says_the_version_of_its_server_and_that_it_is_fake() -> None:
    world = World()
    world.nodes.hold([instance()])
    assert world.node()["status"]["nodeInfo"]["kubeletVersion"] == "v1.34.0+fake-node"
