"""Node classes and node pools of Karpenter in the manifests of the templates, beside the groups that they fill."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.analysis.clusters import Cluster
from hyperpod_constructs.analysis.kubernetes import EksCluster, joined
from hyperpod_constructs.analysis.manifests import KubernetesObject, known_text, objects_of
from hyperpod_constructs.analysis.placement import NodeGroup, node_groups
from hyperpod_constructs.facts.autoscaling import NODE_CLASS_GROUP, NODE_CLASS_KIND, NODE_POOL_GROUP, NODE_POOL_KIND
from hyperpod_constructs.templates.model import Model, Resource

_REFERENCE = ("spec", "template", "spec", "nodeClassRef")


@dataclass(frozen=True)
class KarpenterObject:
    """A node class or a node pool for HyperPod's nodes."""

    object: KubernetesObject
    cluster: Cluster
    """The HyperPod cluster that joins the Kubernetes cluster of the manifest."""

    @property
    def resource(self) -> Resource:
        """The manifest."""
        return self.object.resource

    @property
    def path(self) -> tuple[str | int, ...]:
        """Its place in the resource."""
        return self.object.path


@dataclass(frozen=True)
class NodeClass(KarpenterObject):
    """A node class, made of instance groups."""

    @property
    def group_names(self) -> tuple[str, ...]:
        """The names of its instance groups, as far as they are known."""
        listed = self.object.get("spec", "instanceGroups")
        found = (known_text(one) for one in listed) if isinstance(listed, list) else ()
        return tuple(name for name in found if name is not None)

    @property
    def named_groups(self) -> tuple[NodeGroup, ...]:
        """Those of its instance groups that are known."""
        return tuple(group for group in _groups_of(self.cluster) if group.name in self.group_names)

    @property
    def groups(self) -> tuple[NodeGroup, ...] | None:
        """Its instance groups; `None` if one is not known."""
        names = self.object.texts("spec", "instanceGroups")
        of = {group.name: group for group in _groups_of(self.cluster)}
        found = [of.get(name) for name in names or ()]
        return None if not found or None in found else tuple(one for one in found if one is not None)

    @property
    def types(self) -> tuple[str, ...] | None:
        """The instance types of its groups; `None` if one is not known."""
        found = [None] if self.groups is None else [group.type_names for group in self.groups]
        return None if None in found else tuple(dict.fromkeys(name for names in found for name in names or ()))


@dataclass(frozen=True)
class NodePool(KarpenterObject):
    """A node pool; `node_class` is its class, if that is in the manifests for the same cluster."""

    node_class: NodeClass | None

    @property
    def asks_for_hyperpod(self) -> bool:
        """Whether its nodes are HyperPod's."""
        return _asks_for_hyperpod(self.object)

    @property
    def reference(self) -> tuple[str, str | None, str | None]:
        """Group, kind and name of its class."""
        group, kind, name = (self.object.text(*_REFERENCE, key) for key in ("group", "kind", "name"))
        return group or "", kind, name

    def wanted(self, key: str) -> tuple[str, ...]:
        """The values of a label of which its nodes have one, as far as requirements tell."""
        listed = self.object.get("spec", "template", "spec", "requirements")
        asking = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        values = [one.get("values") for one in asking if one.get("key") == key and one.get("operator") == "In"]
        found = (known_text(item) for value in values if isinstance(value, list) for item in value)
        return tuple(dict.fromkeys(item for item in found if item is not None))

    @property
    def limits(self) -> dict[str, Any]:
        """The resources of all its nodes together, at most."""
        found = self.object.get("spec", "limits")
        return found if isinstance(found, dict) else {}


def _groups_of(cluster: Cluster) -> Iterator[NodeGroup]:
    return (group for group in node_groups(cluster.resource.template.model) if group.cluster is cluster)


def _asks_for_hyperpod(one: KubernetesObject) -> bool:
    return NODE_CLASS_GROUP in (one.text(*_REFERENCE, "group"), one.group) or one.text(*_REFERENCE, "kind") == NODE_CLASS_KIND


def node_classes(model: Model) -> tuple[NodeClass, ...]:
    """The node classes in manifests for Kubernetes clusters that HyperPod joins."""
    return tuple(
        NodeClass(one, cluster) for cluster, eks in joined(model) for one in objects_of(eks) if one.kind == NODE_CLASS_KIND
    )


def node_pools(model: Model) -> Iterator[NodePool]:
    """The node pools there, also those of nodes that are not HyperPod's."""
    classes = {(one.cluster.resource, one.object.name): one for one in node_classes(model)}
    for cluster, eks in joined(model):
        for one in objects_of(eks):
            if (one.group, one.kind) == (NODE_POOL_GROUP, NODE_POOL_KIND):
                own = classes.get((cluster.resource, one.text(*_REFERENCE, "name"))) if _asks_for_hyperpod(one) else None
                yield NodePool(one, cluster, own)


def karpenter_manifests(model: Model) -> dict[Resource, Cluster]:
    """The manifests with a node class, or with a node pool for HyperPod's nodes."""
    pools = (pool for pool in node_pools(model) if pool.asks_for_hyperpod)
    return {one.resource: one.cluster for one in (*pools, *node_classes(model))}


def is_of_karpenter(one: KubernetesObject) -> bool:
    """Whether an object is, or is meant to be, a node class or a node pool for HyperPod's nodes."""
    in_group = one.group == NODE_CLASS_GROUP or one.kind == NODE_CLASS_KIND
    return in_group or (one.kind == NODE_POOL_KIND and one.group == NODE_POOL_GROUP and _asks_for_hyperpod(one))


def has_objects(eks: EksCluster, group: str, kind: str) -> bool:
    """Whether a manifest for a cluster has an object of a kind."""
    return any((one.group, one.kind) == (group, kind) for one in objects_of(eks))
