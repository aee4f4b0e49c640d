"""What resources demand of those that they name, by reference, also in another stack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.by_name import named_resource
from hyperpod_constructs.analysis.ends import ends
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.schema.judge import fits, violations
from hyperpod_constructs.analysis.schema.violation import Kind, Path, Violation, quoted
from hyperpod_constructs.facts.arn_forms import FORMS
from hyperpod_constructs.facts.named import NamedDemand, named_demands
from hyperpod_constructs.templates.model import Model, Resource, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Text, Value, as_float, as_str


class Unmet(NamedTuple):
    """A demand that a named resource surely does not meet.

    :param path: the place in the resource that names it.
    """

    resource: Resource
    path: Path
    named: Resource
    demand: NamedDemand
    violation: Violation


def unmet_demands(model: Model) -> Iterator[Unmet]:
    """The demands on named resources that are surely not met."""
    for type_, demands in named_demands().items():
        for resource in model.resources(type_):
            for one in demands:
                yield from _of(resource, one)


def _of(resource: Resource, demand: NamedDemand) -> Iterator[Unmet]:
    if demand.when is not None and not fits(demand.when, resource.get()):
        return
    for path, value in _places(resource, demand.path):
        named = _named(resource, value, demand)
        found = None if named is None else next(_lacking(resource, named, demand), None)
        if named is not None and found is not None:
            yield Unmet(resource, path, named, demand, found)


def _places(resource: Resource, path: str) -> Iterator[tuple[Path, Value]]:
    """The places of the references, each with its value; of a way through another resource the place where it begins."""
    if ">" in path:
        return ((end.start, end.value) for end in ends(resource, path))
    return iter(place_in(resource.get(), path))


def _named(resource: Resource, value: Value, demand: NamedDemand) -> Resource | None:
    if isinstance(value, Text) and demand.attribute == "Arn":
        return _in_arn(value, demand.named)
    if isinstance(value, str) and not demand.attribute:
        return named_resource(resource, value, demand.named)
    if not isinstance(value, Reference) or demand.attribute not in ("", value.attribute or "Ref"):
        return None
    found = target_of(value)
    return found if found.type == demand.named and found.exists else None


def _in_arn(value: Text, type_: str) -> Resource | None:
    """The resource of a type whose name is in an ARN that is written out."""
    form, first = FORMS.get(type_), value.parts[0]
    found = [part for part in value.parts if isinstance(part, Reference) and target_of(part).type == type_]
    if form is None or len(found) != 1 or found[0].attribute not in form.names or not str(first).startswith("arn:"):
        return None
    named = target_of(found[0])
    return named if named.exists else None


def _lacking(resource: Resource, named: Resource, demand: NamedDemand) -> Iterator[Violation]:
    if isinstance(demand.wanted, bool):
        message = f"it is an {named.type}"
        yield Violation(Kind.REFERENCE, (), message, ABSENT, "another resource")
        return
    yield from violations(demand.wanted, named.get())
    yield from _unequal(resource, named, demand.same)


def _unequal(resource: Resource, named: Resource, pair: str) -> Iterator[Violation]:
    """Two values that are not the same, or where the first may not be more than the second, and is."""
    here, sign, there = re.split("(<?=)", pair) if "=" in pair else (pair, "=", pair)
    one, other = (where.get(*place.split("/")) if place else ABSENT for where, place in ((resource, here), (named, there)))
    path, (text, wanted) = tuple(there.split("/")), (as_str(one), as_str(other))
    if sign == "<=":
        size, most = as_float(one), as_float(other)
        if size is not None and most is not None and size > most:
            message = f"{path[-1]} is {most:g}, and {here.rpartition('/')[2]} of {resource.logical_id} {size:g}"
            yield Violation(Kind.VALUE, path, message, other, f"{size:g} or more")
    elif text is not None and wanted is not None and text.casefold() != wanted.casefold():
        message = f"{there} is {quoted(wanted)}, and that of {resource.logical_id} {quoted(text)}"
        yield Violation(Kind.VALUE, path, message, wanted, text)
