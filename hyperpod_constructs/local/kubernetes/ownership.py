"""Who owns which field (`managedFields`), and server-side apply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from hyperpod_constructs.local.kubernetes import field_sets, values
from hyperpod_constructs.local.kubernetes.field_sets import Fields, Path, Typing, is_atomic, scalar
from hyperpod_constructs.local.kubernetes.schemas import Schema
from hyperpod_constructs.local.kubernetes.status import ApiError

Object = dict[str, Any]
MOST_MANAGERS = 50
_SYSTEM = ("apiVersion", "kind")
_METADATA = [
    "name",
    "namespace",
    "creationTimestamp",
    "uid",
    "resourceVersion",
    "generation",
    "managedFields",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
]
_NOT_OWNED = {*((f"f:{name}",) for name in _SYSTEM), *(("f:metadata", f"f:{name}") for name in _METADATA)}


class Manager(NamedTuple):
    """Who writes: the name, `Apply` or `Update`, and the subresource."""

    name: str
    operation: str
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """What one manager owns."""

    manager: Manager
    api_version: str
    time: str
    fields: frozenset[Path]

    def render(self) -> dict[str, Any]:
        """As an entry of `managedFields`."""
        found = {
            "manager": self.manager.name,
            "operation": self.manager.operation,
            "apiVersion": self.api_version,
            "time": self.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": field_sets.to_json(self.fields),
        }
        return {**found, "subresource": self.manager.subresource} if self.manager.subresource else found


Owners = dict[Manager, Entry]
Values = dict[Path, Any]


def owners(obj: Mapping[str, Any] | None) -> Owners:
    """Who owns the fields of an object."""
    found: Owners = {}
    for entry in values.at(obj, "metadata", "managedFields") or ():
        manager = Manager(entry.get("manager", ""), entry.get("operation", ""), entry.get("subresource", ""))
        if manager.operation in ("Apply", "Update"):
            fields = frozenset(field_sets.from_json(entry.get("fieldsV1")))
            found[manager] = Entry(manager, entry.get("apiVersion", ""), entry.get("time", ""), fields)
    return found


def with_owners(obj: Object, found: Owners) -> Object:
    """The object with its `managedFields`."""
    entries = [entry for entry in found.values() if entry.fields]
    entries = sorted(entries, key=lambda entry: entry.manager.operation)[-MOST_MANAGERS:]
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    if entries:
        metadata["managedFields"] = [entry.render() for entry in entries]
    return {**obj, "metadata": metadata}


class Ownership:
    """Ownership of the fields of one kind."""

    def __init__(self, typing: Typing, schema: Schema, *, status_apart: bool) -> None:
        self._typing = typing
        self._schema = schema
        self._status_apart = status_apart

    def written(self, before: Object | None, after: Object, manager: Manager) -> Object:
        """The object after an ordinary write: what changed is the writer's now, and nobody else's."""
        found = owners(after if _rewritten(before, after) else before)
        old = {} if before is None else self._leaves(before, manager.subresource)
        new = self._leaves(after, manager.subresource)
        changed = {path for path, value in new.items() if path not in old or old[path] != value}
        gone = old.keys() - new.keys()
        if not changed and not gone:
            return with_owners(after, found)
        for other, entry in found.items():
            if other != manager:
                found[other] = replace(entry, fields=entry.fields - changed - gone)
        own = found.get(manager)
        fields = ((own.fields if own else frozenset()) - gone) | changed
        if own is None or own.fields != fields:
            found[manager] = Entry(manager, after["apiVersion"], values.now(), frozenset(fields))
        return with_owners(after, found)

    def applied(self, live: Object | None, applied: Object, manager: Manager, *, force: bool) -> Object:
        """The object after a server-side apply.

        :raises ApiError: 409 where another manager owns a field with another value, unless forced.
        """
        found = owners(live)
        reading = self._typing.read(self._schema, applied)
        wanted = self._owned(reading.fields, manager.subresource)
        if live is not None:
            found = self._settle(live, reading.values, wanted, found, manager, force=force)
        previous = found.pop(manager, None)
        merged = applied if live is None else self._merge(self._schema, live, applied)
        if previous is not None:
            kept = {path[: depth + 1] for path in _all_paths(found, wanted) for depth in range(len(path))}
            gone = {path for path in previous.fields - wanted if path not in kept and not _is_key(path)}
            merged = self._without(self._schema, merged, field_sets.to_json(gone))
        time = previous.time if previous is not None and previous.fields == wanted else values.now()
        found[manager] = Entry(manager, applied["apiVersion"], time, frozenset(wanted))
        return with_owners(merged, found)

    def _settle(self, live: Object, new: Values, wanted: Fields, found: Owners, manager: Manager, *, force: bool) -> Owners:
        old = self._typing.read(self._schema, live).values
        conflicts: dict[Manager, list[Path]] = {}
        for other, entry in found.items():
            if other != manager:
                paths = sorted(path for path in entry.fields & wanted if _differs(path, old.get(path), new[path]))
                if paths:
                    conflicts[other] = paths
        if conflicts and not force:
            raise _conflict({found[other]: paths for other, paths in conflicts.items()})
        return {other: replace(entry, fields=entry.fields - set(conflicts.get(other, ()))) for other, entry in found.items()}

    def _leaves(self, obj: Object, subresource: str) -> Values:
        reading = self._typing.read(self._schema, obj)
        paths = self._owned(reading.fields, subresource)
        return {path: None if path[-1].startswith("k:") else reading.values[path] for path in paths}

    def _owned(self, fields: Fields, subresource: str) -> Fields:
        """The fields that a writer may own: not the system's, and `status` by its subresource alone."""
        kept = {path for path in fields if path[:1] not in _NOT_OWNED and path[:2] not in _NOT_OWNED and path != ("f:metadata",)}
        if subresource == "status":
            return {path for path in kept if path[0] == "f:status"}
        return {path for path in kept if path[0] != "f:status"} if self._status_apart else kept

    def _merge(self, schema: Schema, live: Any, applied: Any) -> Any:
        schema = self._typing.resolve(schema)
        if isinstance(live, Mapping) and isinstance(applied, Mapping) and not is_atomic(schema):
            merged = dict(live)
            for key, item in applied.items():
                merged[key] = self._merge(self._typing.child(schema, key), live.get(key), item)
            return merged
        if isinstance(live, list) and isinstance(applied, list):
            if schema.get("x-kubernetes-list-type") == "set":
                old = {scalar(item) for item in live}
                return live + [item for item in applied if scalar(item) not in old]
            if self._typing.keys(schema):
                return self._merge_items(schema, live, applied)
        return applied

    def _merge_items(self, schema: Schema, live: list[Any], applied: list[Any]) -> list[Any]:
        items, element = self._typing.items(schema), self._typing.element
        old = {element(schema, item): item for item in live}
        new = {element(schema, item): item for item in applied}
        merged = {name: self._merge(items, old[name], item) if name in old else item for name, item in new.items()}
        if old.keys() <= new.keys():
            return list(merged.values())
        return [merged.get(name, item) for name, item in old.items()] + [merged[name] for name in merged if name not in old]

    def _without(self, schema: Schema, value: Any, gone: Mapping[str, Any]) -> Any:
        """The value without the fields of a tree, and without maps and lists that this empties."""
        schema = self._typing.resolve(schema)
        if isinstance(value, Mapping):
            return self._without_keys(schema, value, gone)
        return self._without_items(schema, value, gone) if isinstance(value, list) else value

    def _without_keys(self, schema: Schema, value: Mapping[str, Any], gone: Mapping[str, Any]) -> Object:
        kept = dict(value)
        for element, inner in gone.items():
            key = element[2:]
            if element.startswith("f:") and key in kept:
                left = {} if _whole(inner) else self._without(self._typing.child(schema, key), kept[key], inner)
                kept[key] = left
                if left is None or left in ({}, []):
                    del kept[key]
        return kept

    def _without_items(self, schema: Schema, value: list[Any], gone: Mapping[str, Any]) -> list[Any]:
        left, kept, items = dict(gone), [], self._typing.items(schema)
        for item in value:
            inner = left.pop(self._typing.member(schema, item), None)
            if inner is None:
                kept.append(item)
            elif not _whole(inner):
                kept.append(self._without(items, item, inner))
        return kept


def _whole(gone: Mapping[str, Any]) -> bool:
    """Whether a tree of fields names the field that it hangs on."""
    return not gone or "." in gone


def _differs(path: Path, old: Any, new: Any) -> bool:
    if path[-1].startswith("k:") or (isinstance(old, Mapping) and isinstance(new, Mapping) and not (old and new)):
        return False
    return bool(old != new)


def _is_key(path: Path) -> bool:
    """Whether a field is a key of the list that its item is in: it goes with the item alone."""
    return len(path) > 1 and path[-2].startswith("k:") and path[-1][2:] in json.loads(path[-2][2:])


def _rewritten(before: Object | None, after: Object) -> bool:
    """Whether a client wrote `managedFields` itself, as kubectl does where it takes over from client-side apply."""
    given = values.at(after, "metadata", "managedFields")
    return before is not None and bool(given) and given != values.at(before, "metadata", "managedFields")


def _all_paths(found: Owners, wanted: Fields) -> Fields:
    return wanted.union(*(entry.fields for entry in found.values()))


def _conflict(conflicts: Mapping[Entry, list[Path]]) -> ApiError:
    causes, parts = [], []
    for entry, paths in conflicts.items():
        who = f'"{entry.manager.name}"' + (f" with subresource {entry.manager.subresource!r}" if entry.manager.subresource else "")
        who += f" using {entry.api_version}"
        shown = [field_sets.shown(path) for path in paths]
        causes += [{"reason": "FieldManagerConflict", "message": f"conflict with {who}", "field": path} for path in shown]
        parts.append(f"conflict with {who}: {shown[0]}" if len(shown) == 1 else f"conflicts with {who}:\n- " + "\n- ".join(shown))
    count = len(causes)
    message = f"Apply failed with {count} conflict{'s' if count > 1 else ''}: " + "\n".join(parts)
    return ApiError(409, "Conflict", message, {"causes": causes})
