"""JSON patch, merge patch and strategic merge patch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.local.kubernetes import status
from hyperpod_constructs.local.kubernetes.schemas import Schema, Schemas
from hyperpod_constructs.local.kubernetes.status import Named
from hyperpod_constructs.local.kubernetes.values import copy

MOST_OPERATIONS = 10_000
MOST_BYTES = 3 * 1024 * 1024
MOST_ITEMS = 2_000_000
"""Fields and list items that one strategic merge patch may copy: it may patch an item again and again, each time with its lists."""
_ORDER, _PRIMITIVES = "$setElementOrder/", "$deleteFromPrimitiveList/"
_GONE = object()


def json_patch(named: Named, obj: Any, operations: Any) -> Any:
    """The object after a JSON patch.

    :raises ApiError: 400 for what is no patch, 413 for one that is too large, 422 for one that does not apply.
    """
    import jsonpatch
    import jsonpointer

    if not isinstance(operations, list) or not all(isinstance(one, dict) for one in operations):
        raise status.bad_request("a json patch must be a list of operations")
    if len(operations) > MOST_OPERATIONS:
        raise status.too_large(MOST_OPERATIONS)
    patched, budget = copy(obj), MOST_BYTES
    try:
        for operation in operations:
            if operation.get("op") == "copy":
                budget -= len(json.dumps(jsonpointer.resolve_pointer(patched, operation["from"])))
                if budget < 0:
                    raise status.too_large(MOST_BYTES)
            patched = jsonpatch.apply_patch(patched, [operation], in_place=True)
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, KeyError, TypeError) as error:
        detail = f"the server rejected our request due to an error in our request: {error}"
        raise status.ApiError(422, "Invalid", detail, named.details()) from None
    return patched


def merge_patch(value: Any, patch: Any) -> Any:
    """The value after a JSON merge patch (RFC 7386)."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(value) if isinstance(value, Mapping) else {}
    for key, item in patch.items():
        if item is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), item)
    return merged


class StrategicMerge:
    """Strategic merge patches by the keys that the schemas declare."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas

    def apply(self, schema: Schema, value: Any, patch: Any) -> Any:
        """The value after the patch.

        :raises ApiError: 400 for a list item without its key, and for an unknown directive; 413 for one that copies too much.
        """
        return _Merge(self._schemas).apply(schema, value, patch)


class _Merge:
    """One strategic merge patch."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._left = MOST_ITEMS

    def _spend(self, *values: Any) -> None:
        self._left -= sum(len(value) for value in values if isinstance(value, (Mapping, list)))
        if self._left < 0:
            raise status.ApiError(
                413, "RequestEntityTooLarge", f"the patch copies more than {MOST_ITEMS} fields and items; patch each item once"
            )

    def apply(self, schema: Schema, value: Any, patch: Any) -> Any:
        """The value after the patch."""
        if not isinstance(patch, Mapping):
            return patch
        self._spend(value, patch)
        resolved = self._schemas.resolve(schema)
        current = dict(value) if isinstance(value, Mapping) else {}
        if (directive := patch.get("$patch")) is not None:
            return self._directed(directive, patch)
        properties, rest = resolved.get("properties", {}), resolved.get("additionalProperties")
        for key, item in patch.items():
            if key.startswith("$"):
                continue
            inner = properties.get(key, rest if isinstance(rest, Mapping) else {})
            if item is None:
                current.pop(key, None)
            elif isinstance(item, list):
                current[key] = self._list(inner, current.get(key), item)
            elif isinstance(item, Mapping) and "$patch" in item and item["$patch"] == "delete":
                current.pop(key, None)
            else:
                current[key] = self.apply(inner, current.get(key), item)
        self._special(properties, current, patch)
        return current

    def _directed(self, directive: Any, patch: Mapping[str, Any]) -> Any:
        rest = {key: item for key, item in patch.items() if not key.startswith("$")}
        if directive == "replace":
            return rest
        if directive == "delete":
            return {}
        raise status.bad_request(f"unknown patch type found in map: {directive}")

    def _special(self, properties: Mapping[str, Schema], current: dict[str, Any], patch: Mapping[str, Any]) -> None:
        """Directives beside fields: keys to keep, items to take from lists of scalars, and the order of lists."""
        if isinstance(keys := patch.get("$retainKeys"), list):
            kept = {key for key in keys if isinstance(key, str)}
            for key in [key for key in current if key not in kept]:
                del current[key]
        for name, items in patch.items():
            if name.startswith(_PRIMITIVES) and isinstance(items, list):
                key = name.removeprefix(_PRIMITIVES)
                unwanted = set(map(_text, items))
                current[key] = [item for item in current.get(key) or [] if _text(item) not in unwanted]
            elif name.startswith(_ORDER) and isinstance(items, list):
                key = name.removeprefix(_ORDER)
                merge_key = properties.get(key, {}).get("x-kubernetes-patch-merge-key")
                current[key] = _ordered(current.get(key) or [], items, merge_key)

    def _list(self, schema: Schema, value: Any, patch: list[Any]) -> list[Any]:
        self._spend(value, patch)
        current = list(value) if isinstance(value, list) else []
        if "merge" not in str(schema.get("x-kubernetes-patch-strategy", "")).split(","):
            return [
                item for item in patch if not (isinstance(item, Mapping) and item.get("$patch") == "replace" and len(item) == 1)
            ]
        key = schema.get("x-kubernetes-patch-merge-key")
        if key is None:
            old = set(map(_text, current))
            return current + [item for item in patch if _text(item) not in old]
        if any(isinstance(item, Mapping) and item.get("$patch") == "replace" for item in patch):
            return [item for item in patch if not (isinstance(item, Mapping) and "$patch" in item)]
        places: dict[str, list[int]] = {}
        for index in reversed(range(len(current))):
            if isinstance(current[index], Mapping):
                places.setdefault(_text(current[index].get(key)), []).append(index)
        for item in patch:
            if not isinstance(item, Mapping) or key not in item:
                raise status.bad_request(f"map: {item} does not contain declared merge key: {key}")
            self._item(schema, current, places.setdefault(_text(item[key]), []), item)
        return [item for item in current if item is not _GONE]

    def _item(self, schema: Schema, current: list[Any], places: list[int], item: Mapping[str, Any]) -> None:
        """Merge one item; `places` holds where those with its key stand, the first last."""
        if item.get("$patch") == "delete":
            if places:
                current[places.pop()] = _GONE
        elif not places:
            places.append(len(current))
            current.append(self.apply(schema.get("items", {}), {}, item))
        else:
            current[places[-1]] = self.apply(schema.get("items", {}), current[places[-1]], item)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _ordered(items: list[Any], order: list[Any], key: str | None) -> list[Any]:
    """Items in the wanted order; those that it does not name stay behind the one that they followed."""

    def identity(item: Any) -> str:
        return _text(item.get(key) if isinstance(item, Mapping) and key else item)

    places: dict[str, int] = {}
    for index, item in enumerate(order):
        places.setdefault(identity(item), index)
    found = [(places.get(identity(item)), item) for item in items]
    named = sorted(((place, item) for place, item in found if place is not None), key=lambda pair: pair[0])
    return [item for _, item in named] + [item for place, item in found if place is None]
