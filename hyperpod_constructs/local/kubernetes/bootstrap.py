"""What a cluster holds before anybody writes: namespaces, the cluster's roles, the API service's own objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_constructs.facts.kubernetes import RBAC

Object = dict[str, Any]
NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_READ = ("get", "list", "watch")
_WRITE = ("create", "delete", "deletecollection", "patch", "update")
_DISCOVERY = (
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/healthz",
    "/livez",
    "/openapi",
    "/openapi/*",
    "/readyz",
    "/version",
    "/version/",
)
_PUBLIC = ("/healthz", "/livez", "/readyz", "/version", "/version/")

_WORKLOADS = {
    "": ("pods", "replicationcontrollers", "replicationcontrollers/scale"),
    "apps": (
        "daemonsets",
        "deployments",
        "deployments/scale",
        "replicasets",
        "replicasets/scale",
        "statefulsets",
        "statefulsets/scale",
    ),
    "autoscaling": ("horizontalpodautoscalers",),
    "batch": ("cronjobs", "jobs"),
    "networking.k8s.io": ("ingresses", "networkpolicies"),
    "policy": ("poddisruptionbudgets",),
}
_EDITED = {
    **_WORKLOADS,
    "": (*_WORKLOADS[""], "configmaps", "endpoints", "events", "persistentvolumeclaims", "serviceaccounts", "services"),
}
_SEEN = {
    **_EDITED,
    "": (*_EDITED[""], "bindings", "limitranges", "namespaces", "namespaces/status", "pods/log", "pods/status", "resourcequotas"),
    "discovery.k8s.io": ("endpointslices",),
}
_STATUSES = {
    "apps": ("daemonsets/status", "deployments/status", "replicasets/status", "statefulsets/status"),
    "autoscaling": ("horizontalpodautoscalers/status",),
    "batch": ("cronjobs/status", "jobs/status"),
    "networking.k8s.io": ("ingresses/status",),
    "policy": ("poddisruptionbudgets/status",),
}


def objects() -> Iterator[Object]:
    """All of them."""
    for name in NAMESPACES:
        yield _object("v1", "Namespace", name)
    yield from _roles()
    yield _cluster_binding("cluster-admin", "cluster-admin", "system:masters")
    yield _cluster_binding("system:basic-user", "system:basic-user", "system:authenticated")
    yield _cluster_binding("system:discovery", "system:discovery", "system:authenticated")
    yield _cluster_binding(
        "system:public-info-viewer", "system:public-info-viewer", "system:authenticated", "system:unauthenticated"
    )
    service = _object("v1", "Service", "kubernetes", "default")
    ports = [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 443}]
    yield {**service, "spec": {"clusterIP": "10.100.0.1", "clusterIPs": ["10.100.0.1"], "ports": ports, "type": "ClusterIP"}}
    for name, value in (("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)):
        yield {**_object("scheduling.k8s.io/v1", "PriorityClass", name), "value": value}


def of_namespace(name: str) -> list[Object]:
    """What controllers put into every namespace."""
    return [_object("v1", "ServiceAccount", "default", name)]


def _roles() -> Iterator[Object]:
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    yield _role("cluster-admin", [everything, {"nonResourceURLs": ["*"], "verbs": ["*"]}])
    yield _role("system:discovery", [{"nonResourceURLs": list(_DISCOVERY), "verbs": ["get"]}])
    yield _role("system:public-info-viewer", [{"nonResourceURLs": list(_PUBLIC), "verbs": ["get"]}])
    yield _role(
        "system:basic-user",
        [
            _rule("authorization.k8s.io", ("selfsubjectaccessreviews", "selfsubjectrulesreviews"), ("create",)),
            _rule("authentication.k8s.io", ("selfsubjectreviews",), ("create",)),
        ],
    )
    for name in ("admin", "edit", "view"):
        selector = {"matchLabels": {f"{RBAC}/aggregate-to-{name}": "true"}}
        yield {**_role(name, []), "aggregationRule": {"clusterRoleSelectors": [selector]}}
    yield _part(
        "view", ("admin", "edit", "view"), [_rule(group, names, _READ) for group, names in (*_SEEN.items(), *_STATUSES.items())]
    )
    edit = [_rule(group, names, _WRITE) for group, names in _EDITED.items()]
    edit += [
        _rule("", ("secrets",), (*_READ, *_WRITE)),
        _rule("", ("serviceaccounts",), ("impersonate",)),
        _rule("", ("serviceaccounts/token",), ("create",)),
        _rule("", ("pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "services/proxy"), ("get", *_WRITE)),
        _rule("", ("pods/eviction",), ("create",)),
        _rule("coordination.k8s.io", ("leases",), (*_READ, *_WRITE)),
    ]
    yield _part("edit", ("admin", "edit"), edit)
    yield _part(
        "admin",
        ("admin",),
        [
            _rule("authorization.k8s.io", ("localsubjectaccessreviews",), ("create",)),
            _rule(RBAC, ("rolebindings", "roles"), (*_READ, *_WRITE)),
        ],
    )


def _rule(group: str, resources: tuple[str, ...], verbs: tuple[str, ...]) -> Object:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _role(name: str, rules: list[Object], labels: dict[str, str] | None = None) -> Object:
    role = _object(f"{RBAC}/v1", "ClusterRole", name)
    role["metadata"]["labels"] = {"kubernetes.io/bootstrapping": "rbac-defaults", **(labels or {})}
    return {**role, "rules": rules}


def _part(name: str, targets: tuple[str, ...], rules: list[Object]) -> Object:
    """A role that others aggregate."""
    return _role(f"system:aggregate-to-{name}", rules, {f"{RBAC}/aggregate-to-{target}": "true" for target in targets})


def _cluster_binding(name: str, role: str, *groups: str) -> Object:
    binding = _object(f"{RBAC}/v1", "ClusterRoleBinding", name)
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
    return {**binding, "roleRef": reference, "subjects": [{"apiGroup": RBAC, "kind": "Group", "name": one} for one in groups]}


def _object(api_version: str, kind: str, name: str, namespace: str = "") -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}
