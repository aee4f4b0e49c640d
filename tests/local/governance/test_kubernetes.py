"""The objects of policies and quotas in a Kubernetes cluster."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from hyperpod_constructs.facts.instance_types import instance_type
from hyperpod_constructs.facts.kubernetes_nodes import resources
from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.governance.kubernetes import KubernetesQueues, Objects
from hyperpod_constructs.local.governance.queues import Applied
from hyperpod_constructs.local.governance.state import COMPUTE_QUOTA
from tests.local.eks.fakes import FakeApi
from tests.local.governance.governed import EKS_ARN, TYPE
from tests.local.moto_cloud import CALLER

CONFIG, IDLE = "controller_manager_config.yaml", "hyperpod-ns-idle-resource-sharing-cq-1"
V = "kueue.x-k8s.io/v1beta2"


class World:
    """A Kubernetes cluster, with Kueue's definitions unless a test takes them away."""

    def __init__(self) -> None:
        self.api = FakeApi()
        versions = [{"name": "v1beta1", "storage": False}, {"name": "v1beta2", "storage": True}]
        spec = {"group": "kueue.x-k8s.io", "names": {"kind": "ClusterQueue"}, "versions": versions}
        self.api.add("apiextensions.k8s.io/v1", "CustomResourceDefinition", "clusterqueues.kueue.x-k8s.io", spec=spec)
        self.queues = KubernetesQueues(self.find)

    def find(self, arn: str, caller: Caller) -> Objects | None:
        assert (arn, caller) == (EKS_ARN, CALLER)
        return self.api

    def names(self, kind: str) -> list[str]:
        version = "v1" if kind == "Namespace" else V
        return sorted(item["metadata"]["name"] for item in self.api.list(version, kind))

    def node(self, name: str, *, ready: str, **spec: Any) -> None:
        labels = {"node.kubernetes.io/instance-type": TYPE}
        status = {"allocatable": resources(instance_type(TYPE)), "conditions": [{"type": "Ready", "status": ready}]}
        self.api.add("v1", "Node", name, metadata={"labels": labels}, spec=spec, status=status)

    def only(self, kind: str) -> dict[str, Any]:
        (found,) = self.api.list(V, kind)
        return found


def amounts_of(spec: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """What the first flavor of a queue holds and may borrow, by resource."""
    items = spec["resourceGroups"][0]["flavors"][0]["resources"]
    return {item["name"]: (item["nominalQuota"], item["borrowingLimit"]) for item in items}


@pytest.fixture
def world() -> World:
    return World()


def quota(*entries: Mapping[str, Any], state: str = "Enabled", **config: Any) -> Applied:
    wanted = {
        "ComputeQuotaConfig": {"ComputeQuotaResources": list(entries or [{"InstanceType": TYPE, "Count": 2}]), **config},
        "ComputeQuotaTarget": {"TeamName": "research"},
        "ActivationState": state,
    }
    return Applied(
        kind="ComputeQuota", policy_id="q", eks_cluster_arn=EKS_ARN, caller=CALLER, settings=COMPUTE_QUOTA.complete(wanted)
    )


def policy(*names: str, **config: Any) -> Applied:
    classes = [{"Name": name, "Weight": 9} for name in names]
    settings = {"SchedulerConfig": {"PriorityClasses": classes, **config}}
    return Applied(kind="ClusterSchedulerConfig", policy_id="p", eks_cluster_arn=EKS_ARN, caller=CALLER, settings=settings)


def test_a_quota_makes_namespace_and_queues(world: World) -> None:
    world.queues.apply(quota())
    assert "hyperpod-ns-research" in world.names("Namespace")
    local = world.only("LocalQueue")
    assert (local["metadata"]["name"], local["metadata"]["namespace"]) == (
        "hyperpod-ns-research-localqueue",
        "hyperpod-ns-research",
    )
    assert local["spec"] == {"clusterQueue": "hyperpod-ns-research-clusterqueue"}
    assert world.only("ResourceFlavor")["spec"] == {"nodeLabels": {"node.kubernetes.io/instance-type": TYPE}}
    spec = world.only("ClusterQueue")["spec"]
    (group,) = spec["resourceGroups"]
    assert [item["name"] for item in group["flavors"][0]["resources"]] == group["coveredResources"]
    assert amounts_of(spec) == {
        "aws.amazon.com/neurondevice": ("0", "0"),
        "cpu": ("384", "192"),
        "memory": ("4096Gi", "2048Gi"),
        "nvidia.com/gpu": ("16", "8"),
        "vpc.amazonaws.com/efa": ("64", "32"),
    }
    assert (spec["stopPolicy"], spec["cohortName"], spec["fairSharing"]) == ("None", "shared-pool", {"weight": "0"})
    assert spec["preemption"] == {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}


def test_every_flavor_has_every_resource(world: World) -> None:
    world.queues.apply(quota({"InstanceType": TYPE, "Accelerators": 4}, {"InstanceType": "ml.m5.xlarge", "Count": 1}))
    (group,) = world.only("ClusterQueue")["spec"]["resourceGroups"]
    assert [[item["name"] for item in flavor["resources"]] for flavor in group["flavors"]] == [group["coveredResources"]] * 2
    assert group["flavors"][1]["resources"][3] == {"name": "nvidia.com/gpu", "nominalQuota": "0", "borrowingLimit": "0"}


@pytest.mark.parametrize(
    ("sharing", "borrows", "lends"),
    [
        ({"Strategy": "LendAndBorrow", "BorrowLimit": 150}, "24", None),
        ({"Strategy": "LendAndBorrow", "AbsoluteBorrowLimits": [{"InstanceType": TYPE, "Accelerators": 3}]}, "3", None),
        ({"Strategy": "Lend"}, "0", None),
        ({"Strategy": "DontLend"}, "0", "0"),
    ],
)
def test_lending_and_borrowing_are_limits_of_the_queue(
    world: World, sharing: dict[str, Any], borrows: str, lends: str | None
) -> None:
    world.queues.apply(quota(ResourceSharingConfig=sharing))
    spec = world.only("ClusterQueue")["spec"]
    (gpus,) = (item for item in spec["resourceGroups"][0]["flavors"][0]["resources"] if item["name"] == "nvidia.com/gpu")
    assert (gpus["nominalQuota"], gpus["borrowingLimit"], gpus.get("lendingLimit")) == ("16", borrows, lends)


def test_a_disabled_team_waits_and_keeps_its_tasks(world: World) -> None:
    world.queues.apply(quota(state="Disabled", PreemptTeamTasks="Never"))
    spec = world.only("ClusterQueue")["spec"]
    assert (spec["stopPolicy"], spec["preemption"]["withinClusterQueue"]) == ("Hold", "Never")
    labels = world.api.get("v1", "Namespace", "hyperpod-ns-research")["metadata"]["labels"]
    assert labels["sagemaker.amazonaws.com/activate-quota"] == "Disabled"


def test_parts_of_gpus_are_counted_by_their_own_names(world: World) -> None:
    parts = {"InstanceType": TYPE, "AcceleratorPartition": {"Type": "mig-1g.10gb", "Count": 14}}
    world.queues.apply(quota(parts, {"InstanceType": TYPE, "Accelerators": 4}))
    found = amounts_of(world.only("ClusterQueue")["spec"])
    assert (found["nvidia.com/mig-1g.10gb"], found["nvidia.com/gpu"], found["cpu"]) == (("14", "7"), ("4", "2"), ("144", "72"))


@pytest.mark.parametrize(("fair", "shared"), [("Enabled", True), ("Disabled", False)])
def test_a_policy_says_whether_idle_resources_go_by_weight(world: World, fair: str, shared: bool) -> None:
    world.queues.apply(policy("high", FairShare=fair))
    settings = json.loads(world.api.get("v1", "ConfigMap", "kueue-manager-config", "kueue-system")["data"][CONFIG])
    assert settings.get("fairSharing", {}).get("enable", False) is shared


def test_what_no_quota_holds_is_lent_and_follows_the_quotas(world: World) -> None:
    world.node("one", ready="True")
    world.node("two", ready="True")
    world.node("booting", ready="False")
    world.node("full", ready="True", unschedulable=True)
    world.queues.apply(quota({"InstanceType": TYPE, "Count": 1}))
    world.queues.apply(policy("high", IdleResourceSharing="Enabled"))
    spec = world.api.get(V, "ClusterQueue", IDLE)["spec"]
    assert (amounts_of(spec)["nvidia.com/gpu"], spec["cohortName"]) == (("8", "0"), "shared-pool")
    assert "namespaceSelector" not in spec
    world.queues.remove(quota())
    spec = world.api.get(V, "ClusterQueue", IDLE)["spec"]
    assert (amounts_of(spec)["nvidia.com/gpu"], amounts_of(spec)["cpu"]) == (("16", "0"), ("384", "0"))
    world.queues.apply(policy("high", IdleResourceSharing="Disabled"))
    assert world.names("ClusterQueue") == []


def test_a_quota_that_goes_leaves_the_namespace(world: World) -> None:
    world.queues.apply(quota())
    world.queues.remove(quota())
    assert (world.names("LocalQueue"), world.names("ClusterQueue")) == ([], [])
    assert "hyperpod-ns-research" in world.names("Namespace")


def test_a_policy_keeps_its_classes_and_no_others(world: World) -> None:
    world.queues.apply(policy("high", "low"))
    assert world.names("WorkloadPriorityClass") == ["high-priority", "low-priority"]
    assert {item["value"] for item in world.api.list(V, "WorkloadPriorityClass")} == {9}
    world.queues.apply(policy("low"))
    assert world.names("WorkloadPriorityClass") == ["low-priority"]
    world.queues.remove(policy("low"))
    assert world.names("WorkloadPriorityClass") == []


def test_without_kueue_there_is_the_namespace_alone(world: World) -> None:
    world.api.delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", "clusterqueues.kueue.x-k8s.io")
    world.queues.apply(quota())
    world.queues.apply(policy("high"))
    world.queues.remove(quota())
    assert world.names("Namespace") == ["default", "hyperpod-ns-research"]
    assert (world.names("ClusterQueue"), world.names("WorkloadPriorityClass")) == ([], [])


def test_a_cluster_without_a_control_plane_is_left_alone() -> None:
    asked: list[str] = []
    queues = KubernetesQueues(lambda arn, caller: asked.append(arn))
    queues.apply(quota())
    queues.remove(quota())
    assert len(asked) == 2
