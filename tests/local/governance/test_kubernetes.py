"""The objects of policies and quotas in a Kubernetes cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.governance.kubernetes import KubernetesQueues, Objects
from hyperpod_constructs.local.governance.queues import Applied
from hyperpod_constructs.local.governance.state import COMPUTE_QUOTA
from tests.local.eks.fakes import FakeApi
from tests.local.governance.governed import EKS_ARN, TYPE
from tests.local.moto_cloud import CALLER

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

    def only(self, kind: str) -> dict[str, Any]:
        (found,) = self.api.list(V, kind)
        return found


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


def policy(*names: str) -> Applied:
    classes = [{"Name": name, "Weight": 9} for name in names]
    settings = {"SchedulerConfig": {"PriorityClasses": classes}}
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
    assert group["coveredResources"] == ["cpu", "memory", "nvidia.com/gpu"]
    amounts = {item["name"]: item["nominalQuota"] for item in group["flavors"][0]["resources"]}
    assert amounts == {"cpu": "384000m", "memory": "4194304Mi", "nvidia.com/gpu": "16"}
    assert (spec["stopPolicy"], spec["cohortName"]) == ("None", "hyperpod-cohort")
    assert spec["preemption"] == {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}


def test_every_flavor_has_every_resource(world: World) -> None:
    world.queues.apply(quota({"InstanceType": TYPE, "Accelerators": 4}, {"InstanceType": "ml.m5.xlarge", "Count": 1}))
    (group,) = world.only("ClusterQueue")["spec"]["resourceGroups"]
    assert [[item["name"] for item in flavor["resources"]] for flavor in group["flavors"]] == [group["coveredResources"]] * 2
    assert group["flavors"][1]["resources"][2] == {"name": "nvidia.com/gpu", "nominalQuota": "0"}


def test_a_team_that_shares_nothing_is_alone_and_a_disabled_one_waits(world: World) -> None:
    world.queues.apply(quota(state="Disabled", ResourceSharingConfig={"Strategy": "DontLend"}, PreemptTeamTasks="Never"))
    spec = world.only("ClusterQueue")["spec"]
    assert ("cohortName" in spec, spec["stopPolicy"], spec["preemption"]["withinClusterQueue"]) == (False, "Hold", "Never")


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
