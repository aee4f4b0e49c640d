"""The name of a resource where its id is taken: a text that its author chose, for one that only the service gives.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resources-section-structure.html#resources-section-physical-id
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.references.forms import type_named
from hyperpod_constructs.analysis.references.places import Misreference, Path
from hyperpod_constructs.facts.property_schemas import property_schema
from hyperpod_constructs.facts.reference_kinds import kind_of
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import as_str, at, placed_leaves

_IDS = ("Id", "Ids")
_ID_IN_WORDS = "the id of "
_DEEPEST = 2
"""The most keys before the name of a resource, such as BackupPlan/BackupPlanName."""


def name_for_id(resource: Resource, path: Path, text: str) -> Iterator[Misreference]:
    """A text that is the name of a resource, and no id."""
    key = next((str(one) for one in reversed(path) if isinstance(one, str)), "")
    types = _types(resource.type, key) if text and key.endswith(_IDS) else ()
    named = next((one for type_ in types for one in _names(resource.template.model).get((type_, text), ())), None)
    if named is not None:
        says = f"{key} is {text!r}, the name of {named.logical_id}, and not its id"
        yield Misreference(resource, path, says, text, f"the id, such as Ref: {named.logical_id} gives")


def _types(resource_type: str, key: str) -> tuple[str, ...]:
    """The types of which a property takes an id that the service gives."""
    kind, own = kind_of(resource_type, key), type_named(resource_type, key)
    found = kind.sources if kind is not None and kind.words.startswith(_ID_IN_WORDS) else (own,) if kind is None and own else ()
    return tuple(one for one in found if _gives_an_id(one))


def _gives_an_id(resource_type: str) -> bool:
    """Whether the service alone chooses what `Ref` gives."""
    schema = property_schema(resource_type) or {}
    identifier = str(schema.get("ref", ""))
    node = schema.get("properties", {}).get(identifier, {"readOnly": True})
    return identifier.endswith(_IDS) and bool(node.get("readOnly"))


def _names(model: Model) -> dict[tuple[str, str], list[Resource]]:
    """The resources by their types and the texts by which they are called; computed once."""
    pairs = (((one.type, name), one) for one in model.resources() if _gives_an_id(one.type) for name in _names_of(one))
    return model.cached(_names, lambda: grouped(pairs))


def _names_of(resource: Resource) -> Iterator[str]:
    for path, leaf in placed_leaves(resource.get()):
        tagged = path[0] == "Tags" and path[-1] == "Value" and as_str(at(resource.get(*path[:-1]), "Key")) == "Name"
        if isinstance(leaf, str) and (tagged or (len(path) <= _DEEPEST and str(path[-1]).endswith("Name"))):
            yield leaf
