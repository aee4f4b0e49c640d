"""OpenAPI documents out of the schemas that the double judges by: version 3 by group, version 2 in one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from hyperpod_constructs.local.kubernetes import status
from hyperpod_constructs.local.kubernetes.resources import Resources, ResourceType
from hyperpod_constructs.local.kubernetes.values import compact

Object = dict[str, Any]
_V3, _V2 = "#/components/schemas/", "#/definitions/"
_WORDS = ("dryRun", "fieldManager", "fieldValidation", "force")
_FORMS = ("apply-patch+yaml", "json-patch+json", "merge-patch+json")


class OpenApi:
    """Documents as bytes; kept until definitions come or go."""

    def __init__(self, resources: Resources, version: str) -> None:
        self._resources = resources
        self._version = version
        self._generation = -1
        self._documents: dict[str, bytes] = {}

    def index(self) -> Object:
        """The list of version 3 documents."""
        paths = {}
        for kind in self._resources:
            address = _address(kind)
            stamp = hashlib.sha256(f"{self._version}{self._resources.generation if kind.custom else ''}{address}".encode())
            paths[address] = {"serverRelativeURL": f"/openapi/v3/{address}?hash={stamp.hexdigest().upper()}"}
        return {"paths": paths}

    def version_3(self, address: str) -> bytes:
        """The document of `api/v1` or `apis/group/version`.

        :raises ApiError: 404.
        """
        kinds = [kind for kind in self._resources if _address(kind) == address]
        if not kinds:
            raise status.no_such_path()
        return self._kept(address, lambda: self._document(kinds, _V3))

    def version_2(self) -> bytes:
        """The document of all."""
        return self._kept("", lambda: self._document(list(self._resources), _V2))

    def _kept(self, name: str, make: Any) -> bytes:
        if self._generation != self._resources.generation:
            self._documents.clear()
            self._generation = self._resources.generation
        if name not in self._documents:
            self._documents[name] = compact(make())
        return self._documents[name]

    def _document(self, kinds: list[ResourceType], prefix: str) -> Object:
        schemas: Object = {}
        paths: Object = {}
        for kind in kinds:
            self._add(schemas, kind, prefix)
            paths |= _paths(kind, prefix + self._name(kind), prefix)
        info = {"title": "Kubernetes", "version": f"v{self._version}.0"}
        if prefix == _V2:
            return {"swagger": "2.0", "info": info, "paths": paths, "definitions": schemas}
        return {"openapi": "3.0.0", "info": info, "paths": paths, "components": {"schemas": schemas}}

    def _name(self, kind: ResourceType) -> str:
        built_in = self._resources.schemas.name(kind.group, kind.version, kind.kind)
        return built_in or ".".join([*reversed(kind.group.split(".")), kind.version, kind.kind])

    def _add(self, schemas: Object, kind: ResourceType, prefix: str) -> None:
        definitions = self._resources.schemas.definitions
        own = _plain(kind.schema, prefix)
        if kind.custom:
            own["x-kubernetes-group-version-kind"] = [_identity(kind)]
        schemas[self._name(kind)] = own
        waiting = list(_references(kind.schema))
        while waiting:
            name = waiting.pop()
            if name not in schemas:
                schemas[name] = _plain(definitions[name], prefix)
                waiting += _references(definitions[name])


def _address(kind: ResourceType) -> str:
    return f"apis/{kind.api_version}" if kind.group else f"api/{kind.version}"


def _identity(kind: ResourceType) -> Object:
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}


def _references(schema: Any) -> Iterable[str]:
    if isinstance(schema, Mapping):
        if isinstance(reference := schema.get("$ref"), str):
            yield reference.rpartition("/")[2]
        for inner in schema.values():
            yield from _references(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _references(inner)


def _plain(schema: Any, prefix: str) -> Any:
    """A schema as OpenAPI writes it: one type, and references into this document."""
    if isinstance(schema, list):
        return [_plain(one, prefix) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, list):
            found[key] = next(one for one in value if one != "null")
        elif key == "$ref" and isinstance(value, str):
            found[key] = prefix + value.rpartition("/")[2]
        else:
            found[key] = _plain(value, prefix)
    return found


def _paths(kind: ResourceType, reference: str, prefix: str) -> Object:
    """The paths of a resource with the operations that clients look for."""
    root = f"/{_address(kind)}" + ("/namespaces/{namespace}" if kind.namespaced else "") + f"/{kind.plural}"
    paths = {root: {"post": _operation(kind, "post", reference, prefix, ("application/json",))}}
    if "patch" in kind.verbs:
        forms = [f"application/{form}" for form in (*_FORMS, *(() if kind.custom else ("strategic-merge-patch+json",)))]
        one = {
            "get": _operation(kind, "get", reference, prefix, ()),
            "put": _operation(kind, "put", reference, prefix, ("application/json",)),
            "patch": _operation(kind, "patch", reference, prefix, forms),
            "delete": _operation(kind, "delete", reference, prefix, ()),
        }
        paths[f"{root}/{{name}}"] = one
    return paths


def _operation(kind: ResourceType, action: str, reference: str, prefix: str, forms: Iterable[str]) -> Object:
    words = [word for word in _WORDS if action != "get" and (word != "force" or action == "patch")]
    typed = {word: "boolean" if word == "force" else "string" for word in words}
    found: Object = {
        "operationId": f"{action}{kind.group}{kind.version}{kind.kind}",
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": _identity(kind),
        "responses": {"200": {"description": "OK"}},
    }
    if prefix == _V2:
        found["parameters"] = [{"name": word, "in": "query", "type": typed[word]} for word in words]
        return found
    found["parameters"] = [{"name": word, "in": "query", "schema": {"type": typed[word]}} for word in words]
    found["responses"]["200"]["content"] = {"application/json": {"schema": {"$ref": reference}}}
    if content := {form: {"schema": {"$ref": reference}} for form in forms}:
        found["requestBody"] = {"content": content}
    return found
