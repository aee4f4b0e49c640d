"""Keys without a value: YAML reads them as null, and CloudFormation takes null nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from hyperpod_constructs.analysis.references.places import ENTRIES, Misreference, Path, entry, head, section, settled
from hyperpod_constructs.templates.model import Resource, Template
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import UNKNOWN


def without_value(template: Template) -> Iterator[Misreference]:
    """The keys of a template without a value. Metadata may have any form."""
    for resource in template.resources:
        for name, written in resource.written.items():
            for path in _nulls(written) if name != "Metadata" else ():
                place = tuple(takewhile(lambda key: not str(key).startswith("Fn::"), path)) if name == "Properties" else ()
                if not _is_doubted(resource, name, place):
                    yield replace(_mistake(resource, (resource.logical_id, name, *path), place), of_order=name == "DependsOn")
    first = head(template)
    if first is not None:
        yield from _in_other_sections(template, first)


def _in_other_sections(template: Template, first: Resource) -> Iterator[Misreference]:
    """The keys without a value outside the resources, at what has them, or at a resource."""
    for kind in template.raw.keys() - {"Metadata", "Resources"}:
        for name, one in section(template, kind).items():
            owner = entry(template, kind, name) if kind in ENTRIES else first
            yield from (settled(_mistake(owner, (kind, name, *path))) for path in _nulls(one))
        if template.raw[kind] is None:
            yield _mistake(first, (kind,))


def _is_doubted(resource: Resource, name: str, place: Path) -> bool:
    """Whether nobody knows what is right there, because this is said already."""
    if name == "DependsOn":
        return resource.key in resource.template.model.doubts.orders
    return bool(place) and resource.get(*place) is UNKNOWN


def _mistake(place: Resource, shown: Path, path: Path = ()) -> Misreference:
    message = f"{'/'.join(map(str, shown))} has no value"
    return Misreference(place, path, message, None, "a value, {Ref: AWS::NoValue}, or no such key")


def _nulls(raw: Raw) -> Iterator[Path]:
    """The paths of all that is null in a part of a template."""
    items = raw.items() if isinstance(raw, dict) else enumerate(raw) if isinstance(raw, list) else ()
    for key, value in items:
        yield from ((key, *path) for path in _nulls(value))
    if raw is None:
        yield ()
