"""Keeps the objects of task governance in a Kubernetes cluster: a team's namespace, and Kueue's objects where Kueue is defined.

Decided here: without Kueue's definitions a quota brings the namespace alone and a policy nothing; the namespace outlives its quota,
with what is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from hyperpod_constructs.facts import governance as facts
from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.governance import idle
from hyperpod_constructs.local.governance.manifests import CLASS, CLUSTER_QUEUE, LOCAL_QUEUE, objects
from hyperpod_constructs.local.governance.queues import Applied


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
        """Make or change the objects, and delete those that are no longer wanted."""
        api = self._find(applied.eks_cluster_arn, applied.caller)
        if api is None:
            return
        version = _kueue_version(api)
        wanted = list(objects(applied, version))
        for manifest in wanted:
            api.apply(manifest)
        kept = {(item["kind"], item["metadata"]["name"]) for item in wanted}
        if _shares_idle(applied):
            kept.add((CLUSTER_QUEUE, idle.NAME))
        if version is not None:
            _delete_managed(api, applied, version, kept)
            _share_idle(api, version, applied.policy_id if _shares_idle(applied) else None)

    def remove(self, applied: Applied) -> None:
        """Delete the objects but the namespace."""
        api = self._find(applied.eks_cluster_arn, applied.caller)
        version = None if api is None else _kueue_version(api)
        if api is not None and version is not None:
            _delete_managed(api, applied, version, set())
            _share_idle(api, version, None)


def _kueue_version(api: Objects) -> str | None:
    """The API version of Kueue's objects; None where they are not defined."""
    for definition in api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition"):
        spec = definition["spec"]
        if spec["group"] == facts.KUEUE and spec["names"]["kind"] == CLUSTER_QUEUE:
            return f"{facts.KUEUE}/{next(item['name'] for item in spec['versions'] if item['storage'])}"
    return None


def _delete_managed(api: Objects, applied: Applied, version: str, kept: set[tuple[str, str]]) -> None:
    """Delete the objects that a policy or a quota has made, but those that are to stay."""
    for kind in (CLASS, LOCAL_QUEUE, CLUSTER_QUEUE):
        for item in api.list(version, kind, label_selector=f"{facts.ALLOCATION}={applied.policy_id}"):
            metadata = item["metadata"]
            if (kind, metadata["name"]) not in kept:
                api.delete(version, kind, metadata["name"], metadata.get("namespace"))


def _shares_idle(applied: Applied) -> bool:
    return applied.kind == "ClusterSchedulerConfig" and applied.settings["SchedulerConfig"].get("IdleResourceSharing") == "Enabled"


def _share_idle(api: Objects, version: str, policy_id: str | None) -> None:
    """Calculate what no quota holds, for a policy that shares it, or for the one that already does."""
    queues = api.list(version, CLUSTER_QUEUE)
    there = next((item["metadata"]["labels"][facts.ALLOCATION] for item in queues if item["metadata"]["name"] == idle.NAME), None)
    owner = policy_id or there
    if owner is not None:
        for manifest in idle.objects(owner, api.list("v1", "Node"), queues, version):
            api.apply(manifest)
