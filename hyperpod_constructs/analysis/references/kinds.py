"""References that give another kind of thing than their property takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.references.places import Misreference, Path
from hyperpod_constructs.facts.property_schemas import attributes, property_schema
from hyperpod_constructs.facts.reference_kinds import BY_NAME, ReferenceKind, kind_of
from hyperpod_constructs.templates.model import Model, target_of
from hyperpod_constructs.templates.values import Reference, Value


def wrong_kinds(model: Model) -> tuple[Misreference, ...]:
    """References of another kind, in the types whose properties are known; computed once."""
    return model.cached(wrong_kinds, lambda: tuple(_wrong_kinds(model)))


def _wrong_kinds(model: Model) -> Iterator[Misreference]:
    for resource in model.resources():
        for path, reference in _references(resource.get()) if property_schema(resource.type) is not None else ():
            name = next((str(one) for one in reversed(path) if isinstance(one, str)), "")
            wanted = kind_of(resource.type, name)
            if wanted is not None and _is_other(reference, wanted):
                target = target_of(reference)
                what = "the Ref" if reference.attribute is None else f"{reference.attribute}"
                message = f"{name} is {what} of {target.logical_id}, an {target.type}"
                yield Misreference(resource, path, message, reference, f"{wanted.words}: {_sources(wanted)}")


def _references(value: Value) -> Iterator[tuple[Path, Reference]]:
    """The references in a value, each with its path; none of those that a condition chooses."""
    waiting: list[tuple[Path, Value]] = [((), value)]
    while waiting:
        path, current = waiting.pop()
        if isinstance(current, Reference):
            yield path, current
        elif isinstance(current, Mapping):
            waiting += [((*path, key), item) for key, item in current.items()]
        elif isinstance(current, tuple):
            waiting += [((*path, index), item) for index, item in enumerate(current)]


def _is_other(reference: Reference, wanted: ReferenceKind) -> bool:
    """Whether a reference surely gives something else; attributes of other types are known by their names only.

    An attribute that the type does not have is another mistake.
    """
    target, attribute = target_of(reference), reference.attribute
    known = attributes(target.type)
    if property_schema(target.type) is None or (attribute is not None and known is not None and attribute not in known):
        return False
    given = wanted.sources.get(target.type)
    if given is not None:
        return attribute not in given
    other = None if attribute is None else BY_NAME.get(attribute)
    return attribute is None or attribute.endswith("Arn") or (other is not None and other is not wanted)


def _sources(wanted: ReferenceKind) -> str:
    found = [
        f"{name}{'' if one is None else f'.{one}'}" for name, given in wanted.sources.items() for one in sorted(given, key=str)
    ]
    return ", ".join(found)
