"""Fields of Kubernetes' objects that name other objects, and the objects that are there in each cluster (as of 2026-12-01).

Sources: https://kubernetes.io/docs/reference/kubernetes-api/, https://kueue.sigs.k8s.io/docs/reference/kueue.v1beta1/,
https://kubernetes.io/docs/reference/access-authn-authz/rbac/#user-facing-roles,
https://kubernetes.io/docs/concepts/configuration/configmap/,
https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/ and
https://docs.aws.amazon.com/eks/latest/userguide/ebs-csi.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hyperpod_constructs.facts.kubernetes_objects import pods_anywhere
from hyperpod_constructs.facts.raw_parts import items, mapping, part

OF_CLUSTER = frozenset(
    {
        *("ClusterQueue", "ClusterRole", "IngressClass", "PersistentVolume", "PriorityClass", "ResourceFlavor", "RuntimeClass"),
        *("StorageClass", "WorkloadPriorityClass"),
    }
)
"""Kinds without a namespace."""
THERE: Mapping[str, tuple[str, ...]] = {
    "ClusterRole": ("admin", "cluster-admin", "edit", "view"),
    "ConfigMap": ("kube-root-ca.crt",),
    "PriorityClass": ("system-cluster-critical", "system-node-critical"),
    "ServiceAccount": ("default",),
    "StorageClass": ("gp2",),
}
"""Objects of each cluster, or of each of its namespaces."""

_OF_PODS: tuple[tuple[str, str], ...] = (
    ("serviceAccountName", "ServiceAccount"),
    ("priorityClassName", "PriorityClass"),
    ("runtimeClassName", "RuntimeClass"),
    ("imagePullSecrets/*/name", "Secret"),
    ("volumes/*/persistentVolumeClaim/claimName", "PersistentVolumeClaim"),
    ("volumes/*/configMap/name", "ConfigMap"),
    ("volumes/*/secret/secretName", "Secret"),
    ("volumes/*/projected/sources/*/configMap/name", "ConfigMap"),
    ("volumes/*/projected/sources/*/secret/name", "Secret"),
    *(
        (f"{containers}/*/{place}", kind)
        for containers in ("containers", "initContainers")
        for place, kind in (
            ("envFrom/*/configMapRef/name", "ConfigMap"),
            ("envFrom/*/secretRef/name", "Secret"),
            ("env/*/valueFrom/configMapKeyRef/name", "ConfigMap"),
            ("env/*/valueFrom/secretKeyRef/name", "Secret"),
        )
    ),
)
"""The fields of pods."""
_OF_KINDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "ClusterQueue": (("spec/resourceGroups/*/flavors/*/name", "ResourceFlavor"),),
    "HorizontalPodAutoscaler": (("spec/scaleTargetRef", ""),),
    "Ingress": (("spec/defaultBackend/service/name", "Service"), ("spec/rules/*/http/paths/*/backend/service/name", "Service")),
    "LocalQueue": (("spec/clusterQueue", "ClusterQueue"),),
    "PersistentVolumeClaim": (("spec/volumeName", "PersistentVolume"), ("spec/storageClassName", "StorageClass")),
    "StatefulSet": (("spec/serviceName", "Service"),),
    **dict.fromkeys(("ClusterRoleBinding", "RoleBinding"), (("roleRef", ""), ("subjects/*", ""))),
}
"""The fields of kinds of objects; an empty kind is written beside the name."""
_LABELS: Mapping[str, str] = {
    "kueue.x-k8s.io/queue-name": "LocalQueue",
    "kueue.x-k8s.io/priority-class": "WorkloadPriorityClass",
}
_NAMED_KINDS = frozenset({"ClusterRole", "Deployment", "ReplicaSet", "Role", "ServiceAccount", "StatefulSet"})


class Reference(NamedTuple):
    """What an object names.

    :param place: the field, in words.
    :param namespace: the namespace beside the name, if one is written.
    """

    place: str
    kind: str
    name: Any
    namespace: Any = None


def references_in(found: Mapping[str, Any]) -> Iterator[Reference]:
    """The references of an object to others; not those that it can do without."""
    for path, kind in _OF_KINDS.get(str(found.get("kind")), ()):
        yield from _named(found, path.split("/"), kind, "")
    for key, kind in _LABELS.items():
        name = part(found, "metadata", "labels", key)
        yield from () if name is None else (Reference(f"metadata.labels.{key}", kind, name),)
    for place, pods in pods_anywhere(found):
        for path, kind in _OF_PODS:
            yield from _named(pods, path.split("/"), kind, ".".join(place))


def _named(found: Any, path: list[str], kind: str, place: str) -> Iterator[Reference]:
    if not path:
        is_object = isinstance(found, Mapping)
        named = (str(found.get("kind")), found.get("name"), found.get("namespace")) if is_object else (kind, found, None)
        if named[1] not in (None, "") and (not is_object or named[0] in _NAMED_KINDS):
            yield Reference(place, *named)
    elif path[0] == "*":
        for index, one in enumerate(items(found)):
            yield from _named(one, path[1:], kind, f"{place}.{index}")
    elif not mapping(found).get("optional"):
        yield from _named(mapping(found).get(path[0]), path[1:], kind, f"{place}.{path[0]}".lstrip("."))
