"""What a resource must await beside what it refers to.

>>> [(one.resource.logical_id, one.late.logical_id) for one in unawaited(model)]
[('PublicRoute', 'Attachment')]
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from itertools import islice, product
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.references.forms import type_named
from hyperpod_constructs.analysis.schema.judge import fits
from hyperpod_constructs.facts.arn_forms import FORMS
from hyperpod_constructs.facts.creation import ONE_BY_ONE, Completion, completions
from hyperpod_constructs.facts.property_schemas import property_schema
from hyperpod_constructs.facts.reference_kinds import kind_of
from hyperpod_constructs.templates.dependencies import awaits, references
from hyperpod_constructs.templates.model import Model, Resource, Template, resource_of, target_of
from hyperpod_constructs.templates.values import UNKNOWN, Reference, Text, Value, as_str, placed_leaves

_BRACES = re.compile(r"\{([^}]*)\}")


class Late(NamedTuple):
    """A resource that does not await another.

    :param resource: the one that bears the mistake.
    :param words: what the late one does.
    """

    resource: Resource
    late: Resource
    words: str


def unawaited(model: Model) -> Iterator[Late]:
    """The resources that do not await what completes the things that they use, or what they name by its text."""
    for one in completions():
        for user in model.resources(one.user) if model.resources(one.part) else ():
            yield from _incomplete(user, one)
    yield from _named_by_text(model)
    yield from _together(model)


def _together(model: Model) -> Iterator[Late]:
    """The resources of one thing that are made at the same time, where it makes one after the other."""
    for type_, (key, words) in ONE_BY_ONE.items():
        found = [(resource_of(one.get(key)), one) for one in model.resources(type_) if one.exists]
        for those in grouped((owner, one) for owner, one in found if owner is not None).values():
            for place, one in enumerate(those):
                beside = (other for other in those[:place] if not awaits(one, other) and not awaits(other, one))
                yield from (Late(one, other, words) for other in islice(beside, 1))


def _incomplete(user: Resource, one: Completion) -> Iterator[Late]:
    """A user that awaits none of the parts of what it uses."""
    if one.when is not None and not fits(one.when, user.get()):
        return
    used = [set(_things(user, place)) for place in one.used]
    found = [part for part in _beside(user, one.part) if _completes(part, one, used) and not awaits(part, user)]
    if found and user.exists is not None and not any(awaits(user, part) for part in found):
        bearer = resource_of(user.get(one.bearer)) if one.bearer and "DependsOn" not in user.raw else None
        yield Late(user if bearer is None else bearer, found[0], one.words)


def _beside(user: Resource, type_: str) -> Iterator[Resource]:
    """The resources of a type that are surely made in the same deployment of a stack."""
    found = user.template.model.resources(type_)
    return (one for one in found if one.exists and one is not user and one.template.root is user.template.root)


def _completes(part: Resource, one: Completion, used: list[set[Hashable]]) -> bool:
    """Whether a part names the first thing that its user uses, and no other one than the further ones."""
    named = [set(_things(part, place)) for place in one.named]
    first, *others = zip(used, named, strict=True)
    return (one.used == ("",) or not first[0].isdisjoint(first[1])) and all(
        not mine or not its or not mine.isdisjoint(its) for mine, its in others
    )


def _things(resource: Resource, place: str) -> Iterator[Hashable]:
    """The things at a place: resources, texts, and parameters whose value is not known."""
    if place.startswith("/"):
        yield from _texts(resource, place)
        return
    first, _, rest = place.partition(">")
    for path, value in place_in(resource.get(), first):
        if rest:
            for named in references(value):
                yield from _things(named, rest)
        elif value is UNKNOWN and len(path) == 1:
            yield from _parameter(resource, str(path[0]))
        else:
            text = as_str(value)
            yield from (*references(value), *_named(value)) if text is None else (text,)


def _named(value: Value) -> Iterator[str]:
    """A text with the names that its template gives to the resources in it."""
    names = [_name_of(one) for one in (value.parts if isinstance(value, Text) else ())]
    if names and None not in names:
        yield "".join(map(str, names))


def _name_of(part: Value) -> str | None:
    if not isinstance(part, Reference):
        return as_str(part)
    return None if part.attribute is not None else _chosen_name(target_of(part))


def _texts(resource: Resource, pattern: str) -> Iterator[str]:
    """The texts of a pattern with properties of a resource in it, as far as they are known."""
    values = [[one for one in _things(resource, name) if isinstance(one, str)] for name in _BRACES.findall(pattern)]
    for found in product(*values):
        yield _BRACES.sub("{}", pattern).format(*found)


def _parameter(resource: Resource, name: str) -> Iterator[tuple[Template, str]]:
    properties = resource.raw.get("Properties")
    written = properties.get(name) if isinstance(properties, dict) else None
    parameter = written.get("Ref") if isinstance(written, dict) else None
    if isinstance(parameter, str):
        yield resource.template, parameter


def _named_by_text(model: Model) -> Iterator[Late]:
    """The resources that name another of their stack by the text of its name or its ARN, and not by a reference."""
    chosen = grouped(((one.template.root, name), one) for one in model.resources() if (name := _chosen_name(one)))
    for user in model.resources() if chosen else ():
        for property_, value in _texts_of(user.get()) if property_schema(user.type) is not None else ():
            for name in _names_in(value):
                for other in chosen.get((user.template.root, name), ()):
                    early = other.exists and other is not user and not awaits(user, other) and not awaits(other, user)
                    if early and _takes(user, property_, value, other):
                        yield Late(user, other, f"which it names by text in {property_}")


def _chosen_name(resource: Resource) -> str | None:
    """The name that a template gives to a resource, if `Ref` gives the same."""
    schema = property_schema(resource.type)
    return as_str(resource.get(str(schema["ref"]))) if schema and "ref" in schema else None


def _texts_of(value: Value) -> Iterator[tuple[str, Value]]:
    """The texts in a value, each with the name of its property."""
    for path, leaf in placed_leaves(value):
        name = next((one for one in reversed(path) if isinstance(one, str)), "")
        if isinstance(leaf, str | Text) and name:
            yield name, leaf


def _names_in(value: Value) -> tuple[str, ...]:
    """A text as a name, and the name at the end of an ARN."""
    text = value if isinstance(value, str) else value.suffix if isinstance(value, Text) else ""
    return (text, re.split("[:/]", text)[-1]) if ":" in text else (text,)


def _takes(user: Resource, property_: str, value: Value, other: Resource) -> bool:
    """Whether a property takes the name, or the ARN, of another resource."""
    kind, arn = kind_of(user.type, property_), not isinstance(value, str) or value.startswith("arn:")
    form = FORMS.get(other.type)
    given = frozenset({None}) if kind is None and type_named(user.type, property_) == other.type else frozenset[str | None]()
    given = kind.sources.get(other.type, given) if kind is not None else given
    names, arns = (frozenset({None}), frozenset[str | None]()) if form is None else (form.names, form.arns)
    return bool(given & (arns if arn else names))
