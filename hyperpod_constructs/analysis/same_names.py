"""Resources of one type with one name."""

from __future__ import annotations

import json
from collections.abc import Iterator

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.clusters import clusters
from hyperpod_constructs.analysis.custom_resources import PREFIXES
from hyperpod_constructs.analysis.regions import own_region_of
from hyperpod_constructs.analysis.uploads import written_object
from hyperpod_constructs.facts.updates import ALONE, BLOCKS, HELD, ONCE, naming
from hyperpod_constructs.templates.dependencies import raw_at
from hyperpod_constructs.templates.model import Model, Resource, target_of
from hyperpod_constructs.templates.values import ABSENT, Either, Reference, Value, shown

_ASSOCIATION = "AWS::FSx::DataRepositoryAssociation"  # rules of its own judge its paths
_WORLDWIDE = ("AWS::S3::Bucket",)


def same_names(model: Model) -> Iterator[tuple[Resource, Resource, bool]]:
    """Resources with one name, the later one behind, and whether they are surely in one place."""
    return iter(model.cached(same_names, lambda: tuple(_compared(model))))


def _compared(model: Model) -> Iterator[tuple[Resource, Resource, bool]]:
    named = grouped((_name_of(one), one) for one in model.resources() if one.exists) if clusters(model) else {}
    named.pop(None, None)
    for first, *others in named.values():
        for one in others:
            beside = _is_beside(first, one)
            if beside is not False:
                yield first, one, beside is True


def identity(resource: Resource) -> tuple[str, ...]:
    """The properties that name a resource: those by which the plan tells that a replacement meets the old one."""
    if resource.type in BLOCKS or resource.type == _ASSOCIATION:
        return ()
    if resource.type.startswith(PREFIXES):
        return written_object(resource) or ()
    return ALONE.get(resource.type) or HELD.get(resource.type) or naming(resource.type)


def _name_of(resource: Resource) -> tuple[object, ...] | None:
    """Type and name; `None` for a resource whose name the service makes. A name of parts that are unknown is as it is spelled."""
    if resource.type in ONCE:
        return (resource.type,)
    paths = identity(resource)
    values = [_value_of(resource, path) for path in paths]
    if not values or any(value is ABSENT or isinstance(value, Either) for value in values):
        return None
    return (resource.type, *(_part(resource, path, value) for path, value in zip(paths, values, strict=True)))


def _value_of(resource: Resource, path: str) -> Value:
    """The value at a path; an entry of an ACL without a direction is for traffic into the subnet."""
    value = resource.get(*_keys(path))
    return False if path == "Egress" and value is ABSENT else value


def _part(resource: Resource, path: str, value: Value) -> object:
    if isinstance(value, Reference):
        return target_of(value)
    if isinstance(value, str | int | bool):
        return value
    raw = raw_at(resource, _keys(path))
    return (resource.template, json.dumps(raw, sort_keys=True)) if raw is not None else object()


def _keys(path: str) -> list[str | int]:
    """The keys of a path; a number is that of an item."""
    return [int(key) if key.isdigit() else key for key in path.split("/")]


def shown_name(resource: Resource) -> str:
    """The name of a resource in words."""
    if resource.type in ONCE:
        return "of the account in its region"
    return " of ".join(str(shown(_value_of(resource, path))) for path in reversed(identity(resource)))


def _is_beside(one: Resource, other: Resource) -> bool | None:
    """Whether two resources are in the same account and region, as far as their names need it; `None` if nobody knows.

    Two stacks of one name are in different places.
    """
    if one.template.root is other.template.root:
        return True
    here, there = one.template.root.environment, other.template.root.environment
    if here.stack_name is not None and here.stack_name == there.stack_name:
        return False
    pairs = [(here.account, there.account)] if one.type not in _WORLDWIDE else []
    if one.type not in _WORLDWIDE and not one.type.startswith("AWS::IAM::"):
        pairs.append((here.region, there.region))
        if None not in (own_region_of(one), own_region_of(other)) and own_region_of(one) != own_region_of(other):
            return False
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        return False
    return None if any(None in pair for pair in pairs) else True
