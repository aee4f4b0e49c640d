"""The properties of a resource that differ, as deep as the rows distinguish them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from hyperpod_constructs.plan.change import NAMED_ITEMS, Change, named
from hyperpod_constructs.plan.equality import Spelled
from hyperpod_constructs.plan.table import is_branch
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import ABSENT, Value

Same = Callable[[Spelled, Spelled], bool]


def changes(old: Resource, new: Resource, same: Same) -> Iterator[Change]:
    """The properties that differ. Named items, such as instance groups, pair by name; their order does not count."""
    before, after = old.properties, new.properties
    found = list(_differences(new.type, (), _properties(old), _properties(new), same))
    unchanged = frozenset(before) - {path[0] for path, _, _ in found}
    for path, one, other in found:
        yield Change(type=new.type, path=path, old=one, new=other, before=before, after=after, unchanged=unchanged)


def _properties(resource: Resource) -> Spelled:
    return Spelled(resource.properties, resource.raw.get("Properties", {}), resource.template)


def _differences(
    kind: str, path: tuple[str, ...], old: Spelled, new: Spelled, same: Same
) -> Iterator[tuple[tuple[str, ...], Value, Value]]:
    if path and same(old, new):
        return
    items = NAMED_ITEMS.get((kind, "/".join(path)))
    if items is not None:
        groups = _by_name(old, items), _by_name(new, items)
        if groups[0] is not None and groups[1] is not None:
            yield from _items(kind, path, groups[0], groups[1], same)
            return
    if (not path or is_branch(kind, path)) and _is_tree(old.value) and _is_tree(new.value):
        for key in dict.fromkeys((*_keys(old.value), *_keys(new.value))):
            yield from _differences(kind, (*path, key), old.at(key), new.at(key), same)
        return
    yield path, old.value, new.value


def _items(
    kind: str, path: tuple[str, ...], old: dict[str, Spelled], new: dict[str, Spelled], same: Same
) -> Iterator[tuple[tuple[str, ...], Value, Value]]:
    for name in dict.fromkeys((*old, *new)):
        if name in old and name in new:
            yield from _differences(kind, (*path, name), old[name], new[name], same)
        else:
            nothing = Spelled(ABSENT, None)
            yield (*path, name), old.get(name, nothing).value, new.get(name, nothing).value


def _by_name(place: Spelled, key: str) -> dict[str, Spelled] | None:
    found = named(place.value, key)
    if found is None:
        return None
    raw = place.raw
    spelled: list[Raw] = raw if isinstance(raw, list) and len(raw) == len(found) else [raw] * len(found)
    return {name: replace(place, value=item, raw=part) for (name, item), part in zip(found.items(), spelled, strict=True)}


def _is_tree(value: Value) -> bool:
    return value is ABSENT or isinstance(value, Mapping)


def _keys(value: Value) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, Mapping) else ()
