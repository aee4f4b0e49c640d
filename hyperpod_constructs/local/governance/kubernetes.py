"""The objects of task governance in a Kubernetes cluster: the namespace of a team, and Kueue's objects where Kueue is defined.

Decided here: without Kueue's definitions a quota brings the namespace alone and a policy nothing; the namespace outlives its quota,
with what is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from hyperpod_constructs.facts import governance as facts
from hyperpod_constructs.facts import kubernetes_nodes
from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.governance.queues import Applied
from hyperpod_constructs.local.governance.state import allocation_of, facts_of

Object = dict[str, Any]

MANAGED = "sagemaker.amazonaws.com/sagemaker-managed-queue"
ALLOCATION = "sagemaker.amazonaws.com/quota-allocation-id"
_COHORT = "hyperpod-cohort"
_QUEUES = "ClusterQueue"


class Objects(Protocol):
    """The API of a Kubernetes cluster, as its administrator. What it refuses is an exception."""

    def list(
        self, api_version: str, kind: str, namespace: str | None = None, label_selector: str | None = None
    ) -> list[dict[str, Any]]:
        """The objects of a kind."""

    def apply(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Create an object, or change it to this."""

    def delete(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> None:
        """Delete an object; one that is not there is a success."""


Find = Callable[[str, Caller], Objects | None]
"""The API of the EKS cluster with an ARN; None while it has no control plane."""


class KubernetesQueues:
    """Keeps the objects of policies and quotas in the EKS clusters of the embedded AWS."""

    def __init__(self, find: Find) -> None:
        self._find = find

    def apply(self, applied: Applied) -> None:
        """Make or change the objects; of a policy, also delete the classes that are gone."""
        api = self._find(applied.eks_cluster_arn, applied.caller)
        if api is None:
            return
        version = _kueue_version(api)
        wanted = list(_objects(applied, version))
        for manifest in wanted:
            api.apply(manifest)
        kept = {(item["kind"], item["metadata"]["name"]) for item in wanted}
        _delete_managed(api, applied, version, kept)

    def remove(self, applied: Applied) -> None:
        """Delete the objects but the namespace."""
        api = self._find(applied.eks_cluster_arn, applied.caller)
        if api is not None:
            _delete_managed(api, applied, _kueue_version(api), set())


def _kueue_version(api: Objects) -> str | None:
    """The API version of Kueue's objects; None where they are not defined."""
    for definition in api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition"):
        spec = definition["spec"]
        if spec["group"] == facts.KUEUE and spec["names"]["kind"] == _QUEUES:
            return f"{facts.KUEUE}/{next(item['name'] for item in spec['versions'] if item['storage'])}"
    return None


def _delete_managed(api: Objects, applied: Applied, version: str | None, kept: set[tuple[str, str]]) -> None:
    """Delete the objects that a policy or a quota has made, but those that are to stay."""
    kinds = ("WorkloadPriorityClass",) if applied.kind == "ClusterSchedulerConfig" else ("LocalQueue", _QUEUES)
    for kind in kinds if version is not None else ():
        for item in api.list(str(version), kind, label_selector=f"{ALLOCATION}={applied.policy_id}"):
            metadata = item["metadata"]
            if (kind, metadata["name"]) not in kept:
                api.delete(str(version), kind, metadata["name"], metadata.get("namespace"))


def _objects(applied: Applied, version: str | None) -> Iterator[Object]:
    labels = {MANAGED: "true", ALLOCATION: applied.policy_id}
    if applied.kind == "ClusterSchedulerConfig":
        if version is not None:
            yield from _classes(applied.settings["SchedulerConfig"], version, labels)
        return
    team = applied.settings["ComputeQuotaTarget"]["TeamName"]
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": facts.namespace(team), "labels": {MANAGED: "true"}}}
    if version is not None:
        yield from _queues(applied.settings, team, version, labels)


def _classes(config: Mapping[str, Any], version: str, labels: Mapping[str, str]) -> Iterator[Object]:
    for item in config.get("PriorityClasses", ()):
        metadata = {"name": facts.priority_value(item["Name"]), "labels": dict(labels)}
        yield {"apiVersion": version, "kind": "WorkloadPriorityClass", "metadata": metadata, "value": item["Weight"]}


def _queues(settings: Mapping[str, Any], team: str, version: str, labels: Mapping[str, str]) -> Iterator[Object]:
    amounts: dict[str, facts.Amounts] = {}
    for entry in settings["ComputeQuotaConfig"].get("ComputeQuotaResources", ()):
        name = entry["InstanceType"]
        amounts[name] = amounts.get(name, facts.Amounts()) + facts.guaranteed(allocation_of(entry), facts_of(name))
    for name in amounts:
        spec = {"nodeLabels": {kubernetes_nodes.INSTANCE_TYPE: name}}
        yield {"apiVersion": version, "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": spec}
    enabled = settings["ActivationState"] == "Enabled"
    flavors: list[Object] = [{"name": name, "resources": _nominal(name, found)} for name, found in amounts.items()]
    covered = sorted({item["name"] for flavor in flavors for item in flavor["resources"]})
    groups = [{"coveredResources": covered, "flavors": [_complete(flavor, covered) for flavor in flavors]}] if flavors else []
    queue = {
        "resourceGroups": groups,
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": facts.namespace(team)}},
        "stopPolicy": "None" if enabled else "Hold",
        **_sharing(settings["ComputeQuotaConfig"], version),
    }
    metadata = {"name": facts.cluster_queue(team), "labels": dict(labels)}
    yield {"apiVersion": version, "kind": _QUEUES, "metadata": metadata, "spec": queue}
    place = {"name": facts.local_queue(team), "namespace": facts.namespace(team), "labels": dict(labels)}
    yield {"apiVersion": version, "kind": "LocalQueue", "metadata": place, "spec": {"clusterQueue": facts.cluster_queue(team)}}


def _nominal(name: str, found: facts.Amounts) -> list[Object]:
    kind = facts_of(name)
    amounts = {"cpu": _cpu(found.vcpus), "memory": None if found.memory_gib is None else f"{int(found.memory_gib * 1024)}Mi"}
    if kind.accelerator is not None and found.accelerators is not None:
        amounts[kubernetes_nodes.ACCELERATORS[kind.accelerator.kind]] = str(int(found.accelerators))
    return [{"name": resource, "nominalQuota": amount} for resource, amount in amounts.items() if amount is not None]


def _cpu(vcpus: float | None) -> str | None:
    return None if vcpus is None else f"{int(vcpus * 1000)}m"


def _complete(flavor: Object, covered: list[str]) -> Object:
    """A flavor with every covered resource, in their order, as Kueue demands it."""
    amounts = {item["name"]: item["nominalQuota"] for item in flavor["resources"]}
    return {**flavor, "resources": [{"name": name, "nominalQuota": amounts.get(name, "0")} for name in covered]}


def _sharing(config: Mapping[str, Any], version: str) -> Object:
    """Lending and borrowing: a queue of a cohort does both, and one outside of every cohort neither."""
    cohort = "cohort" if version.endswith("/v1beta1") else "cohortName"
    within = "LowerPriority" if config["PreemptTeamTasks"] == "LowerPriority" else "Never"
    shares = config["ResourceSharingConfig"]["Strategy"] != "DontLend"
    return {**({cohort: _COHORT} if shares else {}), "preemption": {"withinClusterQueue": within, "reclaimWithinCohort": "Any"}}
