"""Discovery: which groups, versions and resources there are, plain and aggregated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hyperpod_constructs.local.kubernetes import status
from hyperpod_constructs.local.kubernetes.resources import Resources, ResourceType

Object = dict[str, Any]
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def core_versions(address: str) -> Object:
    """The versions of the core group."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def group_list(resources: Resources) -> Object:
    """All groups but the core one."""
    groups = [_group(name, types) for name, types in _groups(resources).items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group(resources: Resources, name: str) -> Object:
    """One group.

    :raises ApiError: 404.
    """
    types = _groups(resources).get(name)
    if not types:
        raise status.no_such_path()
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, types)}


def resource_list(resources: Resources, group: str, version: str) -> Object:
    """The resources of a version.

    :raises ApiError: 404.
    """
    found = [kind for kind in resources if (kind.group, kind.version) == (group, version)]
    if not found:
        raise status.no_such_path()
    listed = [one for kind in found for one in (_plain(kind), *(_plain_subresource(kind, name) for name in kind.subresources))]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": found[0].api_version, "resources": listed}


def aggregated(resources: Resources, *, core: bool) -> Object:
    """All groups with their resources at once; of the core group or of the others."""
    items = []
    for name, types in _groups(resources).items():
        if (name == "") is core:
            versions = [
                {"version": version, "resources": [_discovered(kind) for kind in kinds], "freshness": "Current"}
                for version, kinds in _versions(types).items()
            ]
            items.append({"metadata": {"name": name, "creationTimestamp": None}, "versions": versions})
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _groups(resources: Resources) -> dict[str, list[ResourceType]]:
    found: dict[str, list[ResourceType]] = {}
    for kind in resources:
        found.setdefault(kind.group, []).append(kind)
    return found


def _versions(types: Iterable[ResourceType]) -> dict[str, list[ResourceType]]:
    found: dict[str, list[ResourceType]] = {}
    for kind in types:
        found.setdefault(kind.version, []).append(kind)
    return found


def _group(name: str, types: list[ResourceType]) -> Object:
    versions = [{"groupVersion": f"{name}/{version}", "version": version} for version in _versions(types)]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def _plain(kind: ResourceType) -> Object:
    found = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": list(kind.verbs),
        "shortNames": list(kind.short_names),
        "categories": list(kind.categories),
    }
    return {key: value for key, value in found.items() if value != []}


def _plain_subresource(kind: ResourceType, name: str) -> Object:
    found = {"name": f"{kind.plural}/{name}", "singularName": "", "namespaced": kind.namespaced, "kind": kind.kind}
    if name == "scale":
        found |= {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    return {**found, "verbs": ["get", "patch", "update"]}


def _discovered(kind: ResourceType) -> Object:
    scope = "Namespaced" if kind.namespaced else "Cluster"
    own = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    scaled = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    found = {
        "resource": kind.plural,
        "responseKind": own,
        "scope": scope,
        "singularResource": kind.singular,
        "verbs": list(kind.verbs),
        "shortNames": list(kind.short_names),
        "categories": list(kind.categories),
        "subresources": [
            {"subresource": name, "responseKind": scaled if name == "scale" else own, "verbs": ["get", "patch", "update"]}
            for name in kind.subresources
        ],
    }
    return {key: value for key, value in found.items() if value != []}
