"""Sets of fields of an object, as `managedFields` names them: which fields it has, and how lists and maps merge."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hyperpod_constructs.local.kubernetes.schemas import Schema, Schemas

Path = tuple[str, ...]
Fields = set[Path]


class Reading(NamedTuple):
    """What one walk through a value finds: its fields, and the value at each path, of twins in a list the first."""

    fields: Fields
    values: dict[Path, Any]


class Typing:
    """How values merge by their schemas: maps by key, lists of type map by their keys, all else as a whole."""

    def __init__(self, schemas: Schemas) -> None:
        self.resolve = schemas.resolve

    def child(self, schema: Schema, key: str) -> Schema:
        """The schema of a key of a map."""
        found: Schema | None = schema.get("properties", {}).get(key)
        if found is None:
            rest = schema.get("additionalProperties")
            found = rest if isinstance(rest, Mapping) else {}
        return self.resolve(found)

    def items(self, schema: Schema) -> Schema:
        """The schema of a list's items."""
        return self.resolve(schema.get("items") or {})

    def keys(self, schema: Schema) -> tuple[str, ...]:
        """The keys of a list of type map."""
        if schema.get("x-kubernetes-list-type") != "map":
            return ()
        return tuple(schema.get("x-kubernetes-list-map-keys", ()))

    def element(self, schema: Schema, item: Any) -> str:
        """The path element of an item of a list of type map."""
        properties = self.items(schema).get("properties", {})
        found = {}
        for key in self.keys(schema):
            value = item.get(key) if isinstance(item, Mapping) else None
            if value is None:
                value = properties.get(key, {}).get("default", "TCP" if key == "protocol" else None)
            if value is not None:
                found[key] = value
        return "k:" + json.dumps(dict(sorted(found.items())), separators=(",", ":"))

    def member(self, schema: Schema, item: Any) -> str:
        """The path element of an item of a list of type map or set."""
        return self.element(schema, item) if self.keys(schema) else scalar(item)

    def read(self, schema: Schema, value: Any) -> Reading:
        """All fields of a value, and what stands at each path."""
        found = Reading(set(), {})
        self._collect(self.resolve(schema), value, (), found)
        return found

    def _collect(self, schema: Schema, value: Any, path: Path, found: Reading) -> None:
        found.values.setdefault(path, value)
        if isinstance(value, Mapping):
            if is_atomic(schema) or not value:
                found.fields.add(path)
                return
            properties = schema.get("properties", {})
            for key, item in value.items():
                inner = (*path, f"f:{key}")
                if key not in properties:
                    found.fields.add(inner)
                self._collect(self.child(schema, key), item, inner, found)
        elif isinstance(value, list) and value and schema.get("x-kubernetes-list-type") == "set":
            members = {(*path, scalar(item)): item for item in value}
            found.fields.update(members)
            found.values.update(members)
        elif isinstance(value, list) and value and self.keys(schema):
            items = self.items(schema)
            for item in value:
                inner = (*path, self.element(schema, item))
                found.fields.add(inner)
                self._collect(items, item, inner, found)
        else:
            found.fields.add(path)


def is_atomic(schema: Schema) -> bool:
    """Whether a map is owned as a whole."""
    return schema.get("x-kubernetes-map-type") == "atomic"


def scalar(value: Any) -> str:
    """The path element of an item of a list of type set."""
    return "v:" + json.dumps(value, separators=(",", ":"))


def to_json(fields: Iterable[Path]) -> dict[str, Any]:
    """The set as `fieldsV1`."""
    tree: dict[str, Any] = {}
    members = set(fields)
    for path in sorted(members):
        node = tree
        for depth, element in enumerate(path):
            if depth and path[:depth] in members:
                node.setdefault(".", {})
            node = node.setdefault(element, {})
    return tree


def from_json(tree: Any) -> Fields:
    """The set of a `fieldsV1`."""
    return set(_paths(tree, ()))


def _paths(tree: Any, path: Path) -> Iterator[Path]:
    if not isinstance(tree, Mapping) or not tree:
        if path:
            yield path
        return
    for element, inner in tree.items():
        if element == ".":
            yield path
        else:
            yield from _paths(inner, (*path, element))


def shown(path: Path) -> str:
    """A path as messages show it: `.spec.containers[name="a"].image`."""
    parts = []
    for element in path:
        kind, _, name = element.partition(":")
        if kind == "f":
            parts.append(f".{name}")
        elif kind == "k":
            pairs = (f"{key}={json.dumps(value)}" for key, value in json.loads(name).items())
            parts.append(f"[{','.join(pairs)}]")
        else:
            parts.append(f"[{kind}={name}]")
    return "".join(parts)
