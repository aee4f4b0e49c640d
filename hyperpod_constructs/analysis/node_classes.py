"""Node classes of Karpenter in the manifests of the templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hyperpod_constructs.analysis.clusters import Cluster
from hyperpod_constructs.analysis.embedded import has_hole, parsed
from hyperpod_constructs.analysis.kubernetes import joined
from hyperpod_constructs.facts.autoscaling import NODE_CLASS_KIND
from hyperpod_constructs.templates.model import Model, Resource

MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"


@dataclass(frozen=True)
class NodeClass:
    """A node class, in the manifest that holds it."""

    resource: Resource
    cluster: Cluster
    """The HyperPod cluster that joins the Kubernetes cluster of the manifest."""
    groups: tuple[str, ...]
    """The names of its instance groups, as far as they are known."""

    @property
    def path(self) -> tuple[str | int, ...]:
        """Its place in the resource."""
        return ("Manifest",)


def node_classes(model: Model) -> Iterator[NodeClass]:
    """The node classes in manifests for Kubernetes clusters of the model."""
    for cluster, eks in joined(model) if model.resources(MANIFEST) else ():
        for manifest in eks.manifests:
            objects = parsed(manifest.get("Manifest"))
            for found in objects if isinstance(objects, list) else [objects]:
                if isinstance(found, Mapping) and found.get("kind") == NODE_CLASS_KIND:
                    yield NodeClass(manifest, cluster, tuple(_names(found.get("spec"))))


def _names(spec: object) -> Iterator[str]:
    groups = spec.get("instanceGroups") if isinstance(spec, Mapping) else None
    for name in groups if isinstance(groups, list) else ():
        if isinstance(name, str) and not has_hole(name):
            yield name
