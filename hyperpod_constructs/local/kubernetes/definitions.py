"""Custom resource definitions: what is wrong with one, and the resource types that it makes."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_constructs.local.kubernetes import metadata, status, values
from hyperpod_constructs.local.kubernetes.resources import BUILT_IN_NAMES, ResourceType
from hyperpod_constructs.local.kubernetes.status import Cause, invalid_value
from hyperpod_constructs.local.kubernetes.values import at

Object = dict[str, Any]
_APPROVED = "api-approved.kubernetes.io"
_METADATA = {"$ref": "#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}


def problems(obj: Mapping[str, Any]) -> Iterator[Cause]:
    """What is wrong with a definition that its schema allows."""
    spec = obj.get("spec") or {}
    names, versions = spec.get("names") or {}, spec.get("versions") or ()
    wanted = f"{names.get('plural')}.{spec.get('group')}"
    if obj["metadata"].get("name") != wanted:
        yield invalid_value("metadata.name", obj["metadata"].get("name"), 'must be spec.names.plural+"."+spec.group')
    yield from _places(str(spec.get("group")), names)
    yield from _approval(str(spec.get("group")), obj["metadata"].get("annotations") or {})
    for field in ("plural", "singular"):
        if names.get(field) and (detail := metadata.label_problem(names[field])):
            yield invalid_value(f"spec.names.{field}", names[field], detail)
    if spec.get("scope") not in ("Cluster", "Namespaced"):
        yield status.unsupported("spec.scope", spec.get("scope"), ("Cluster", "Namespaced"))
    if sum(version.get("storage") is True for version in versions) != 1:
        yield invalid_value("spec.versions", [], "must have exactly one version marked as storage version")
    seen: set[Any] = set()
    for index, version in enumerate(versions):
        path = f"spec.versions[{index}]"
        if version.get("name") in seen:
            yield status.duplicate(f"{path}.name", version.get("name"))
        seen.add(version.get("name"))
        schema = at(version, "schema", "openAPIV3Schema")
        if not isinstance(schema, Mapping):
            yield status.required(f"{path}.schema.openAPIV3Schema", "schemas are required")
            continue
        where = f"{path}.schema.openAPIV3Schema"
        if schema.get("type") != "object":
            yield invalid_value(f"{where}.type", schema.get("type", ""), "must be object at the root")
        yield from _structural(schema, where)
        yield from _scale(at(version, "subresources", "scale") or {}, f"spec.versions[{index}].subresources.scale")


def _scale(scale: Mapping[str, Any], path: str) -> Iterator[Cause]:
    """Whoever may scale an object may write its desired state, and nothing of its metadata."""
    for field, within in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        if field in scale and not str(scale[field]).startswith(within):
            yield invalid_value(f"{path}.{field}", scale[field], f"should be a json path under {within[:-1]}")


def _places(group: str, names: Mapping[str, Any]) -> Iterator[Cause]:
    """No definition may serve what is built in."""
    for field in ("plural", "kind"):
        if (group, names.get(field)) in BUILT_IN_NAMES:
            where = f"group {group}" if group else "the core group"
            yield invalid_value(f"spec.names.{field}", names[field], f"is served by Kubernetes itself in {where}")


def _approval(group: str, annotations: Mapping[str, str]) -> Iterator[Cause]:
    """Groups of Kubernetes need the address of an approval.

    Source: https://github.com/kubernetes/enhancements/pull/1111
    """
    if not f".{group}".endswith((".k8s.io", ".kubernetes.io")):
        return
    path, given = f"metadata.annotations[{_APPROVED}]", annotations.get(_APPROVED, "")
    if not given:
        yield status.required(path, f"protected groups must have approval annotation {_APPROVED!r}")
    elif not given.startswith("unapproved") and not _is_address(given):
        yield invalid_value(path, given, 'must be the address of the approval, or begin with "unapproved"')


def _is_address(text: str) -> bool:
    try:
        found = urllib.parse.urlsplit(text)
    except ValueError:
        return False
    return bool(found.scheme and found.netloc)


def _structural(schema: Mapping[str, Any], path: str) -> Iterator[Cause]:
    """Rules of structural schemas: a type everywhere, and shape outside of `allOf`, `anyOf`, `oneOf` and `not`."""
    free = schema.get("x-kubernetes-int-or-string") or schema.get("x-kubernetes-preserve-unknown-fields")
    if not schema.get("type") and not free:
        yield status.required(f"{path}.type", "must not be empty for specified object fields")
    if "$ref" in schema:
        yield status.forbidden_field(f"{path}.$ref", "$ref is not supported")
    if schema.get("properties") and schema.get("additionalProperties"):
        yield status.forbidden_field(f"{path}.additionalProperties", "additionalProperties and properties are mutual exclusive")
    if schema.get("type") == "array" and not schema.get("items"):
        yield status.required(f"{path}.items", "must be specified")
    if schema.get("x-kubernetes-list-type") == "map" and not schema.get("x-kubernetes-list-map-keys"):
        yield status.required(f"{path}.x-kubernetes-list-map-keys", "must not be empty if x-kubernetes-list-type is map")
    for word in ("allOf", "anyOf", "oneOf"):
        for index, inner in enumerate(schema.get(word) or ()):
            yield from _values_only(inner, f"{path}.{word}[{index}]", int_or_string=bool(schema.get("x-kubernetes-int-or-string")))
    for name, inner in (schema.get("properties") or {}).items():
        yield from _structural(inner, f"{path}.properties[{name}]")
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), Mapping):
            yield from _structural(schema[word], f"{path}.{word}")


def _values_only(schema: Mapping[str, Any], path: str, *, int_or_string: bool) -> Iterator[Cause]:
    for word in ("type", "default", "nullable", "additionalProperties"):
        if word in schema and not (word == "type" and int_or_string):
            yield status.forbidden_field(f"{path}.{word}", "must be empty to be structural")


def types(obj: Mapping[str, Any]) -> list[ResourceType]:
    """The resource types of a definition, the newest version first."""
    spec = obj["spec"]
    names = spec["names"]
    versions = sorted((version for version in spec["versions"] if version.get("served")), key=_age, reverse=True)
    return [
        ResourceType(
            group=spec["group"],
            version=version["name"],
            plural=names["plural"],
            kind=names["kind"],
            list_kind=names.get("listKind", ""),
            singular=names.get("singular", ""),
            namespaced=spec["scope"] == "Namespaced",
            schema=_complete(version["schema"]["openAPIV3Schema"]),
            subresources=tuple(name for name in ("scale", "status") if name in (version.get("subresources") or {})),
            short_names=tuple(names.get("shortNames") or ()),
            categories=tuple(names.get("categories") or ()),
            definition=version,
        )
        for version in versions
    ]


def _age(version: Mapping[str, Any]) -> tuple[int, int, int]:
    """The order of versions: v2 before v1 before v1beta2 before v1alpha1."""
    found = re.fullmatch(r"v(\d+)(?:(alpha|beta)(\d+))?", version["name"])
    if found is None:
        return (-1, 0, 0)
    stage = {None: 2, "beta": 1, "alpha": 0}[found[2]]
    return (stage, int(found[1]), int(found[3] or 0))


def _complete(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        **(schema.get("properties") or {}),
        "metadata": _METADATA,
    }
    return {**schema, "properties": properties}


def established(obj: Object) -> Object:
    """The definition with the status of one that is served."""
    spec, time = obj["spec"], values.now()
    conditions = [
        {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found"},
        {
            "type": "Established",
            "status": "True",
            "reason": "InitialNamesAccepted",
            "message": "the initial names have been accepted",
        },
    ]
    old = {one.get("type"): one.get("lastTransitionTime") for one in at(obj, "status", "conditions") or ()}
    stored = [version["name"] for version in spec["versions"] if version.get("storage")]
    kept = [name for name in at(obj, "status", "storedVersions") or () if name not in stored]
    return {
        **obj,
        "status": {
            "conditions": [{**one, "lastTransitionTime": old.get(one["type"]) or time} for one in conditions],
            "acceptedNames": spec["names"],
            "storedVersions": kept + stored,
        },
    }
