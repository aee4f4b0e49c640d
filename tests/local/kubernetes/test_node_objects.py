"""Fake nodes on a control plane: it takes them, keeps others from changing them, and places pods on them if it has a scheduler."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_constructs.facts import kubernetes_nodes as facts
from hyperpod_constructs.local.kubernetes.client import HttpsApi, KubernetesError
from hyperpod_constructs.local.kubernetes.control_plane import ControlPlane
from hyperpod_constructs.local.kubernetes.nodes import RENEWAL_SECONDS, FakeInstance, FakeNodes
from tests.local.kubernetes.conftest import Clients
from tests.local.kubernetes.manifests import binding
from tests.patience import until

ANN = {"kind": "User", "name": "ann"}
TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


def instance(number: int, **members: Any) -> FakeInstance:
    return FakeInstance(
        **{
            "node": f"hyperpod-i-{number}",
            "instance_id": f"i-{number}",
            "instance_type": "ml.p5.48xlarge",
            "address": f"10.1.0.{number}",
            "zone": "us-west-2b",
            "region": "us-west-2",
            "provider_id": f"aws:///us-west-2b/sagemaker/cluster/abc-i-{number}",
            "labels": {facts.HEALTH: facts.SCHEDULABLE, "team": "a"},
            **members,
        }
    )


class Kept:
    """Fake nodes on the control plane, with a clock that a test may put forward."""

    def __init__(self, api: HttpsApi) -> None:
        self.api, self.ahead = api, 0.0
        self.nodes = FakeNodes(api, lambda: time.time() + self.ahead)

    def hold(self, *instances: FakeInstance) -> None:
        assert self.nodes.hold(instances) is False

    def node(self, number: int) -> dict[str, Any]:
        return self.api.get("v1", "Node", f"hyperpod-i-{number}")

    def names(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.api.list("v1", "Node")]


@pytest.fixture
def kept(api: HttpsApi) -> Iterator[Kept]:
    kept = Kept(api)
    yield kept
    kept.hold()
    assert kept.names() == []


def pod(name: str, namespace: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]
    tolerations = [{"operator": "Exists"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": containers, "tolerations": tolerations, **spec},
    }


def test_kubectl_sees_nodes_that_are_ready(kept: Kept, clients: Clients) -> None:
    kept.hold(instance(1), instance(2, taints=(TAINT,)))
    shown = clients.kubectl("get", "nodes", "--selector", f"{facts.HEALTH}=Schedulable,team=a").splitlines()[1:]
    assert [line.split()[:2] for line in shown] == [["hyperpod-i-1", "Ready"], ["hyperpod-i-2", "Ready"]]
    assert kept.node(1)["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    assert TAINT in kept.node(2)["spec"]["taints"]


def test_leases_are_renewed(kept: Kept) -> None:
    kept.hold(instance(1))

    def renewed() -> str:
        found = kept.api.get("coordination.k8s.io/v1", "Lease", "hyperpod-i-1", "kube-node-lease")
        return str(found["spec"]["renewTime"])

    before = renewed()
    kept.ahead = RENEWAL_SECONDS
    kept.nodes.beat()
    assert renewed() > before


def test_a_node_goes_down_comes_back_and_is_found_when_it_is_lost(kept: Kept) -> None:
    def ready() -> str:
        return str(next(one["status"] for one in kept.node(1)["status"]["conditions"] if one["type"] == "Ready"))

    kept.hold(instance(1))
    kept.api.patch("v1", "Node", "hyperpod-i-1", {"metadata": {"labels": {facts.HEALTH: facts.PENDING_REBOOT}}})
    assert kept.nodes.marks() == {"i-1": "Action:Reboot"}
    kept.hold(instance(1, up=False, boots=1))
    assert (ready(), kept.nodes.marks()) == ("False", {})
    kept.hold(instance(1, boots=1))
    assert (ready(), kept.node(1)["metadata"]["labels"][facts.HEALTH]) == ("True", "Schedulable")
    kept.api.delete("v1", "Node", "hyperpod-i-1")
    kept.nodes.find_lost()
    assert ready() == "True"


def test_a_label_of_the_group_changes_and_one_of_somebody_stays(kept: Kept) -> None:
    kept.hold(instance(1))
    kept.api.patch("v1", "Node", "hyperpod-i-1", {"metadata": {"labels": {"mine": "yes", facts.HEALTH: "Unschedulable"}}})
    kept.hold(instance(1, labels={facts.HEALTH: facts.SCHEDULABLE, "group": "b"}, taints=(TAINT,)))
    labels = kept.node(1)["metadata"]["labels"]
    assert (labels["mine"], labels[facts.HEALTH], labels["group"], "team" in labels) == ("yes", "Unschedulable", "b", False)
    assert TAINT in kept.node(1)["spec"]["taints"]


@pytest.mark.parametrize(
    "labels",
    [
        {"team": "not a value"},
        {"-bad-": "x"},
        {"a/b/c": "x"},
        {"x" * 64: "y"},
        {"team": "../../../etc"},
        {"team": "é"},
        {"team": "a" * 64},
    ],
)
def test_a_label_that_kubernetes_refuses_stops_no_other_node(kept: Kept, labels: dict[str, str]) -> None:
    kept.hold(instance(1, labels=labels), instance(2))
    assert kept.names() == ["hyperpod-i-2"]


def test_a_team_may_neither_mark_nodes_nor_renew_their_leases(
    kept: Kept, as_user: Callable[[str], HttpsApi], namespace: str
) -> None:
    kept.hold(instance(1))
    kept.api.create(binding(namespace, ANN, role="admin", kind="ClusterRole"))
    ann = as_user("token-of-ann")
    ann.create(pod("mine", namespace))
    mark = {"metadata": {"labels": {facts.HEALTH: facts.PENDING_REPLACEMENT}}}
    with pytest.raises(KubernetesError, match='cannot patch resource "nodes"') as caught:
        ann.patch("v1", "Node", "hyperpod-i-1", mark)
    assert caught.value.code == 403
    for call in (
        lambda: ann.patch("v1", "Node", "hyperpod-i-1", mark, subresource="status"),
        lambda: ann.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "hyperpod-i-1", **mark["metadata"]}}),
        lambda: ann.delete("v1", "Node", "hyperpod-i-1"),
        lambda: ann.patch("coordination.k8s.io/v1", "Lease", "hyperpod-i-1", {"spec": {}}, "kube-node-lease"),
    ):
        with pytest.raises(KubernetesError) as caught:
            call()
        assert caught.value.code == 403
    assert kept.nodes.marks() == {}


def test_a_placed_pod_runs_and_fails_with_its_node(kept: Kept, namespace: str) -> None:
    kept.hold(instance(1))
    kept.api.create(pod("one", namespace, nodeName="hyperpod-i-1"))
    kept.nodes.run_pods()
    found = kept.api.get("v1", "Pod", "one", namespace)["status"]
    assert (found["phase"], found["containerStatuses"][0]["ready"]) == ("Running", True)
    kept.hold()
    assert kept.api.get("v1", "Pod", "one", namespace)["status"]["phase"] == "Failed"


def test_a_deleted_pod_is_gone(kept: Kept, namespace: str) -> None:
    kept.hold(instance(1))
    kept.api.create(pod("one", namespace, nodeName="hyperpod-i-1"))
    kept.nodes.run_pods()
    kept.api.delete("v1", "Pod", "one", namespace)
    kept.nodes.run_pods()
    assert kept.api.list("v1", "Pod", namespace) == []


def test_the_scheduler_places_pods(kept: Kept, namespace: str, control_plane: ControlPlane) -> None:
    if control_plane.kind == "double":
        pytest.skip("the double has no scheduler")
    kept.hold(instance(1), instance(2))
    for name in ("one", "two", "three"):
        kept.api.create(pod(name, namespace))
    phases: list[str] = []

    def placed() -> bool:
        kept.nodes.run_pods()
        phases[:] = sorted(item["status"]["phase"] for item in kept.api.list("v1", "Pod", namespace))
        return phases == ["Pending", "Running", "Running"]

    until(placed, "two pods placed", lambda: phases)
