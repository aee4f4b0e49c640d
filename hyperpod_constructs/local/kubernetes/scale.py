"""The subresource `scale`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.local.kubernetes import status
from hyperpod_constructs.local.kubernetes.resources import ResourceType
from hyperpod_constructs.local.kubernetes.values import at

Object = dict[str, Any]


def of(kind: ResourceType, obj: Object) -> Object:
    """The scale of an object."""
    found, paths = obj["metadata"], _paths(kind)
    metadata = {key: found[key] for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp") if key in found}
    selector = at(obj, *paths["labelSelectorPath"]) if paths["labelSelectorPath"] else None
    if isinstance(selector, Mapping):
        selector = ",".join(f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items()))
    replicas = at(obj, *paths["statusReplicasPath"]) or 0
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": {"replicas": at(obj, *paths["specReplicasPath"]) or 0},
        "status": {"replicas": replicas, **({"selector": selector} if selector else {})},
    }


def onto(kind: ResourceType, obj: Object, wanted: Mapping[str, Any]) -> Object:
    """The object with the scale that is wanted.

    :raises ApiError: 422 for a count that is none.
    """
    count = at(wanted, "spec", "replicas")
    if count is None:
        count = 0
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        cause = status.invalid_value("spec.replicas", count, "must be greater than or equal to 0")
        raise status.invalid(status.Named("autoscaling", "scales", "Scale", obj["metadata"]["name"]), [cause])
    version = at(wanted, "metadata", "resourceVersion")
    if version:
        obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": version}}
    target = obj
    *parents, last = _paths(kind)["specReplicasPath"]
    for key in parents:
        target = target.setdefault(key, {})
        if not isinstance(target, dict):
            raise status.bad_request(f"the field {key} of {obj['metadata']['name']} holds no fields, so it has no scale")
    target[last] = count
    return obj


def _paths(kind: ResourceType) -> dict[str, list[str]]:
    declared = at(kind.definition, "subresources", "scale") or {}
    defaults = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ""}
    if not kind.custom:
        defaults["labelSelectorPath"] = ".spec.selector"
    return {
        name: str(declared.get(name, text)).strip(".").split(".") if declared.get(name, text) else []
        for name, text in defaults.items()
    }
