"""The kinds that the service brings, on the double: it accepts their definitions, and then objects of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from hyperpod_constructs.facts import autoscaling as facts
from hyperpod_constructs.facts.addons import TASK_GOVERNANCE
from hyperpod_constructs.local.kubernetes import schemas
from hyperpod_constructs.local.kubernetes.objects import Objects, Request
from hyperpod_constructs.local.kubernetes.resources import Resources
from hyperpod_constructs.local.kubernetes_kinds import bring_kinds_of_addon, bring_kinds_of_karpenter


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
        (lambda api: bring_kinds_of_addon(api, TASK_GOVERNANCE), "kueue.x-k8s.io/v1beta1", "ClusterQueue", {"cohort": "a"}),
    ],
)
def test_the_control_plane_takes_objects_of_the_kinds(
    bring: Callable[[InProcess], None], version: str, kind: str, spec: Mapping[str, Any]
) -> None:
    api = InProcess()
    bring(api)
    made = api.apply({"apiVersion": version, "kind": kind, "metadata": {"name": "elastic"}, "spec": spec})
    assert made["spec"] == spec
