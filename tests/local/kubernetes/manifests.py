"""Objects for tests."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
GROUP = "tests.example.com"


def config_map(name: str, namespace: str, **data: str) -> Object:
    """A config map."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}


def deployment(name: str, namespace: str, *, image: str = "app:1", replicas: int | None = 2) -> Object:
    """A deployment of one container."""
    labels = {"app": name}
    container = {"name": "main", "image": image, "ports": [{"containerPort": 80}]}
    spec: Object = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    }
    if replicas is not None:
        spec["replicas"] = replicas
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def role(namespace: str, *, verbs: list[str], resources: list[str], groups: tuple[str, ...] = ("",), name: str = "role") -> Object:
    """A role with one rule."""
    rule = {"apiGroups": list(groups), "resources": resources, "verbs": verbs}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata, "rules": [rule]}


def binding(namespace: str, subject: Object, *, role: str = "role", kind: str = "Role", name: str = "binding") -> Object:
    """A binding of a role to one subject."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": name, "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", **subject}],
    }


def definition(plural: str = "queues", kind: str = "Queue", schema: Object | None = None, **version: Any) -> Object:
    """A definition of a custom resource."""
    spec: Object = schema or {
        "type": "object",
        "required": ["size"],
        "properties": {
            "size": {"type": "integer", "minimum": 1, "maximum": 100},
            "mode": {"type": "string", "enum": ["fair", "strict"], "default": "fair"},
            "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
            "limit": {"x-kubernetes-int-or-string": True},
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["key"],
                    "properties": {"key": {"type": "string"}, "value": {"type": "integer"}},
                },
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["key"],
            },
        },
        "x-kubernetes-validations": [
            {"rule": "!has(self.name) || self.mode == 'fair'", "message": "name needs mode fair"},
            {"rule": "self.size >= oldSelf.size", "message": "size cannot shrink", "fieldPath": ".size"},
        ],
    }
    root = {
        "type": "object",
        "properties": {"spec": spec, "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": root}, **version}],
        },
    }


def custom(name: str, namespace: str, kind: str = "Queue", /, **spec: Any) -> Object:
    """A custom object."""
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}
