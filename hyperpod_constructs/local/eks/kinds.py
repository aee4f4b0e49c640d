"""The kinds that the add-on of task governance brings: Kueue's, with which the service makes queues.

The program behind them is not here: objects are kept as they are, and no job waits or is admitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from hyperpod_constructs.facts.addons import TASK_GOVERNANCE

_GROUP, _VERSION = "kueue.x-k8s.io", "v1beta1"
_NAMESPACED = ("LocalQueue", "Workload")
_KINDS = {
    "ClusterQueue": "clusterqueues",
    "LocalQueue": "localqueues",
    "ResourceFlavor": "resourceflavors",
    "Workload": "workloads",
    "WorkloadPriorityClass": "workloadpriorityclasses",
}


class Objects(Protocol):
    """The API of a Kubernetes cluster, as its administrator."""

    def apply(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Create an object, or change it to this."""


def bring_kinds(api: Objects, addon: str) -> None:
    """Define the kinds of an add-on in a control plane; of most nothing is defined here."""
    for definition in _definitions() if addon == TASK_GOVERNANCE else ():
        api.apply(definition)


def _definitions() -> Sequence[Mapping[str, Any]]:
    return [_definition(kind, plural) for kind, plural in _KINDS.items()]


def _definition(kind: str, plural: str) -> Mapping[str, Any]:
    version = {
        "name": _VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{_GROUP}"},
        "spec": {
            "group": _GROUP,
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
            "scope": "Namespaced" if kind in _NAMESPACED else "Cluster",
            "versions": [version],
        },
    }
