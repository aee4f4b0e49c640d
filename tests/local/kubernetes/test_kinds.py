"""The kinds that the service brings, on the double: it accepts their definitions, and then objects of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from hyperpod_constructs.facts import autoscaling as facts
from hyperpod_constructs.facts.addons import TASK_GOVERNANCE
from hyperpod_constructs.local.governance.manifests import objects
from hyperpod_constructs.local.governance.queues import Applied
from hyperpod_constructs.local.governance.state import COMPUTE_QUOTA
from hyperpod_constructs.local.kubernetes import schemas
from hyperpod_constructs.local.kubernetes.objects import Objects, Request
from hyperpod_constructs.local.kubernetes.resources import Resources
from hyperpod_constructs.local.kubernetes.status import ApiError
from hyperpod_constructs.local.kubernetes_kinds import bring_kinds_of_addon, bring_kinds_of_karpenter
from tests.local.moto_cloud import CALLER

KUEUE = "kueue.x-k8s.io/v1beta1"


class InProcess:
    """The double without a server."""

    def __init__(self) -> None:
        self.objects = Objects(Resources(schemas.load("1.33")))

    def apply(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        kind = self.objects.resources.of_kind(manifest["apiVersion"], manifest["kind"])
        assert kind is not None, manifest["kind"]
        name, namespace = manifest["metadata"]["name"], manifest["metadata"].get("namespace")
        return self.objects.create(Request(kind, namespace=namespace, name=name), dict(manifest))


@pytest.mark.parametrize(
    ("bring", "version", "kind", "spec"),
    [
        (bring_kinds_of_karpenter, f"{facts.NODE_CLASS_GROUP}/v1", facts.NODE_CLASS_KIND, {"instanceGroups": ["elastic"]}),
        (bring_kinds_of_karpenter, f"{facts.NODE_POOL_GROUP}/v1", facts.NODE_POOL_KIND, {"template": {"spec": {}}}),
        (lambda api: bring_kinds_of_addon(api, TASK_GOVERNANCE), KUEUE, "ResourceFlavor", {"nodeLabels": {"a": "b"}}),
    ],
)
def test_the_control_plane_takes_objects_of_the_kinds(
    bring: Callable[[InProcess], None], version: str, kind: str, spec: Mapping[str, Any]
) -> None:
    api = InProcess()
    bring(api)
    made = api.apply({"apiVersion": version, "kind": kind, "metadata": {"name": "elastic"}, "spec": spec})
    assert made["spec"] == spec


@pytest.fixture(scope="module")
def kueue() -> InProcess:
    api = InProcess()
    bring_kinds_of_addon(api, TASK_GOVERNANCE)
    return api


def quota(**members: Any) -> dict[str, Any]:
    return {"name": "cpu", "nominalQuota": "8", **members}


def queue(*resources: dict[str, Any], **members: Any) -> dict[str, Any]:
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "ml.p5.48xlarge", "resources": list(resources)}]}
    return {"cohort": "shared-pool", "resourceGroups": [group], **members}


@pytest.mark.parametrize(
    ("kind", "members", "path"),
    [
        ("ClusterQueue", {"spec": queue(quota(nominalQuota="-8"))}, "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota"),
        ("ClusterQueue", {"spec": queue(quota(borrowingLimit="lots"))}, "flavors[0].resources[0].borrowingLimit"),
        ("ClusterQueue", {"spec": queue(quota(), quota(name="memory"))}, "spec.resourceGroups[0]: Invalid value"),
        ("ClusterQueue", {"spec": queue(quota(name="memory"))}, "the covered resources, all of them and in their order"),
        ("ClusterQueue", {"spec": {"resourceGroups": queue(quota(borrowingLimit=1))["resourceGroups"]}}, "need a cohort"),
        ("ClusterQueue", {"spec": queue(quota(), stopPolicy="Halt")}, 'spec.stopPolicy: Unsupported value: "Halt"'),
        ("ClusterQueue", {"spec": queue(quota(), preemption={"reclaimWithinCohort": "Some"})}, "spec.preemption.reclaimWithin"),
        ("ClusterQueue", {"spec": queue(quota(), fairSharing={"weight": "heavy"})}, "spec.fairSharing.weight"),
        ("LocalQueue", {"spec": {"clusterQueue": "Not A Name"}}, "spec.clusterQueue"),
        ("ResourceFlavor", {"spec": {"nodeTaints": [{"key": "a", "effect": "Never"}]}}, "spec.nodeTaints[0].effect"),
        ("WorkloadPriorityClass", {}, "value: Required value"),
        ("WorkloadPriorityClass", {"value": "high"}, "value: Invalid value"),
        ("Cohort", {"spec": {"parentName": "Not A Name"}}, "spec.parentName"),
    ],
)
def test_a_mistake_in_an_object_of_kueue_is_refused_with_its_path(
    kueue: InProcess, kind: str, members: dict[str, Any], path: str
) -> None:
    metadata = {"name": "wrong", **({"namespace": "default"} if kind == "LocalQueue" else {})}
    with pytest.raises(ApiError) as caught:
        kueue.apply({"apiVersion": KUEUE, "kind": kind, "metadata": metadata, **members})
    assert caught.value.code == 422
    assert path in caught.value.message


def test_kueue_takes_every_object_that_a_quota_and_a_policy_make(kueue: InProcess) -> None:
    quota = {
        "ComputeQuotaConfig": {
            "ComputeQuotaResources": [
                {"InstanceType": "ml.p5.48xlarge", "AcceleratorPartition": {"Type": "mig-1g.10gb", "Count": 3}},
                {"InstanceType": "ml.trn1.32xlarge", "Count": 1},
            ],
            "ResourceSharingConfig": {"Strategy": "DontLend"},
        },
        "ComputeQuotaTarget": {"TeamName": "research"},
    }
    applied = Applied(kind="ComputeQuota", policy_id="q", eks_cluster_arn="", caller=CALLER, settings=COMPUTE_QUOTA.complete(quota))
    classes = {"SchedulerConfig": {"PriorityClasses": [{"Name": "high", "Weight": 90}]}}
    policy = Applied(kind="ClusterSchedulerConfig", policy_id="p", eks_cluster_arn="", caller=CALLER, settings=classes)
    made = [kueue.apply(item) for each in (applied, policy) for item in objects(each, KUEUE)]
    [written] = (item for item in made if item["kind"] == "ClusterQueue")
    assert written["spec"]["queueingStrategy"] == "BestEffortFIFO"
