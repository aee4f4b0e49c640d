"""The kinds that the service brings into a Kubernetes cluster: Kueue's with task governance, Karpenter's with autoscaling.

The programs behind them are not here: Kueue's objects are judged by their schemas and kept; no job waits or is admitted, and no
node is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from hyperpod_constructs.facts import autoscaling
from hyperpod_constructs.facts.addons import TASK_GOVERNANCE
from hyperpod_constructs.facts.governance import KUEUE
from hyperpod_constructs.local.kueue_schemas import SCHEMAS


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kind:
    """A kind of objects; `definition` is the name of its definition, the plural and the group."""

    name: str
    definition: str
    version: str
    namespaced: bool = False
    short_names: tuple[str, ...] = ()


_KUEUE = tuple(
    _Kind(
        name=name,
        definition=f"{plural}.{KUEUE}",
        version="v1beta1",
        namespaced=name in ("LocalQueue", "Workload"),
        short_names=short_names,
    )
    for name, plural, short_names in (
        ("ClusterQueue", "clusterqueues", ("cq",)),
        ("Cohort", "cohorts", ()),
        ("LocalQueue", "localqueues", ("queue", "queues", "lq")),
        ("ResourceFlavor", "resourceflavors", ("flavor", "flavors", "rf")),
        ("Workload", "workloads", ("wl",)),
        ("WorkloadPriorityClass", "workloadpriorityclasses", ()),
    )
)
_KARPENTER = (
    _Kind(name=autoscaling.NODE_CLASS_KIND, definition=autoscaling.NODE_CLASS_DEFINITION, version="v1"),
    _Kind(name=autoscaling.NODE_POOL_KIND, definition=autoscaling.NODE_POOL_DEFINITION, version="v1"),
)


_ANYTHING: Mapping[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


class Objects(Protocol):
    """The API of a Kubernetes cluster, as its administrator."""

    def apply(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Create an object, or change it to this."""


def bring_kinds_of_addon(api: Objects, addon: str) -> None:
    """Define the kinds of an add-on in a control plane; of most nothing is defined here."""
    for kind in _KUEUE if addon == TASK_GOVERNANCE else ():
        api.apply(_definition(kind))


def bring_kinds_of_karpenter(api: Objects) -> None:
    """Define the kinds of autoscaling in a control plane."""
    for kind in _KARPENTER:
        api.apply(_definition(kind))


def _definition(kind: _Kind) -> Mapping[str, Any]:
    plural, _, group = kind.definition.partition(".")
    version = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": SCHEMAS.get(kind.name, _ANYTHING)},
    }
    names = {"kind": kind.name, "listKind": f"{kind.name}List", "plural": plural, "singular": kind.name.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.definition},
        "spec": {
            "group": group,
            "names": {**names, **({"shortNames": list(kind.short_names)} if kind.short_names else {})},
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [version],
        },
    }
