"""Objects of Kubernetes in manifests for the clusters of the templates: the CDK's, those in custom resources, and in builds.

>>> [(one.kind, one.name) for one in kubernetes_objects(model)]
[('NodePool', 'gpu')]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.analysis.applied_manifests import applied_in, applies_known_objects
from hyperpod_constructs.analysis.build_commands import SPECIFICATION
from hyperpod_constructs.analysis.cluster_builds import cluster_builds
from hyperpod_constructs.analysis.embedded import documents_in, has_hole, parsed
from hyperpod_constructs.analysis.kubernetes import CHART, MANIFEST, EksCluster, eks_clusters, installs, is_foreign
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, Text, Value, parts_of


@dataclass(frozen=True)
class KubernetesObject:
    """An object in a manifest; `eks` is the cluster to which it is applied."""

    resource: Resource
    eks: EksCluster
    raw: Mapping[str, Any]
    path: tuple[str | int, ...] = ("Manifest",)
    """The place of the manifest in the resource."""
    space: str | None = None
    """The namespace that the command which applies it names."""

    @property
    def kind(self) -> str | None:
        """Its kind, such as `NodePool`."""
        return self.text("kind")

    @property
    def group(self) -> str | None:
        """Its API group, such as `karpenter.sh`; empty for the oldest kinds."""
        version = self.text("apiVersion")
        return None if version is None else version.rpartition("/")[0]

    @property
    def name(self) -> str | None:
        """Its name."""
        return self.text("metadata", "name")

    @property
    def namespace(self) -> str | None:
        """Its namespace, if one is written."""
        return self.text("metadata", "namespace")

    @property
    def label(self) -> str:
        """Kind and name in a sentence."""
        return f"{self.kind} {self.name or 'without a known name'}"

    def get(self, *path: str) -> Any:
        """The value at a path; `None` where there is none."""
        value: Any = self.raw
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def text(self, *path: str) -> str | None:
        """The text at a path, if it is known as a whole."""
        return known_text(self.get(*path))

    def texts(self, *path: str) -> tuple[str, ...] | None:
        """The texts of a list; `None` where one of them is not known."""
        listed = self.get(*path)
        found = [known_text(one) for one in listed] if isinstance(listed, list) else []
        return None if None in found else tuple(one for one in found if one is not None)


def known_text(value: object) -> str | None:
    """A text that is known as a whole."""
    return value if isinstance(value, str) and not has_hole(value) else None


def kubernetes_objects(model: Model) -> tuple[KubernetesObject, ...]:
    """The objects in manifests for clusters of the model; computed once."""
    return model.cached(KubernetesObject, lambda: tuple(_all(model)))


def _all(model: Model) -> Iterator[KubernetesObject]:
    for eks in eks_clusters(model) if model.resources(MANIFEST) else ():
        for manifest in eks.manifests:
            found = parsed(manifest.get("Manifest"))
            for one in found if isinstance(found, list) else [found]:
                if isinstance(one, Mapping):
                    yield KubernetesObject(manifest, eks, one)
    for custom in _customs(model):
        eks_found = _cluster_of(custom)
        for key, value in custom.properties.items() if eks_found is not None else ():
            yield from (KubernetesObject(custom, eks_found, one, (key,)) for one in objects_in(value) if eks_found is not None)
    for build in cluster_builds(model):
        for text in applied_in(build.build):
            found_ = objects_in(text.value) if text.value is not None else ()
            yield from (KubernetesObject(build.project, build.eks, one, SPECIFICATION, text.namespace) for one in found_)


def _customs(model: Model) -> Iterator[Resource]:
    """The custom resources of users that may have manifests."""
    return (one for one in model.resources() if is_foreign(one) and one.type not in (MANIFEST, CHART))


def _cluster_of(custom: Resource) -> EksCluster | None:
    """The cluster that a custom resource names; the only one of the model where it names none."""
    made = eks_clusters(custom.template.model)
    named = [eks for eks in made if eks.is_named_by(custom) or eks.is_meant_by(custom)]
    return named[0] if len(named) == 1 else made[0] if len(made) == 1 and custom.get("ClusterName") is ABSENT else None


def objects_in(value: Value) -> Iterator[Mapping[str, Any]]:
    """The objects in a property: documents, lists of them, and lists in an object."""
    for found in documents_in(value) if _may_have_objects(value) else ():
        listed = found.get("items") if isinstance(found, Mapping) and found.get("kind") == "List" else found
        for one in listed if isinstance(listed, list) else [listed]:
            if isinstance(one, Mapping) and isinstance(one.get("kind"), str) and isinstance(one.get("apiVersion"), str):
                yield one
            elif isinstance(one, str):
                yield from objects_in(one)


def _may_have_objects(value: Value) -> bool:
    if isinstance(value, str | Text):
        return any(isinstance(part, str) and "apiVersion" in part for part in parts_of(value))
    return isinstance(value, Mapping | tuple)


def objects_of(eks: EksCluster) -> tuple[KubernetesObject, ...]:
    """The objects in manifests for a cluster."""
    return tuple(one for one in kubernetes_objects(eks.resource.template.model) if one.eks == eks)


def brings_known_objects(eks: EksCluster) -> bool:
    """Whether all that the templates bring into a cluster is known: HyperPod's chart, and objects in manifests."""
    model = eks.resource.template.model
    manifests_known = all(parsed(one.get("Manifest")) is not None for one in eks.manifests)
    charts_known = all(installs(one, "hyperpod") for one in eks.charts)
    builds_known = all(one.eks != eks or applies_known_objects(one.build) for one in cluster_builds(model))
    carriers = {one.resource for one in objects_of(eks)} | set(eks.hyperpod_charts)
    return model.complete and manifests_known and charts_known and builds_known and all(one in carriers for one in _customs(model))


def named_objects(eks: EksCluster, kind: str) -> frozenset[tuple[str | None, str | None]] | None:
    """Namespaces and names of all objects of a kind in a cluster; `None` if there can be others than those of the manifests."""
    found = [one for one in objects_of(eks) if one.kind == kind]
    if not (brings_known_objects(eks) and all(one.name for one in found)):
        return None
    return frozenset((one.namespace, one.name) for one in found)
