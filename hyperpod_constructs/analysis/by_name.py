"""Resources that others name as text: `LogGroupName: /aws/eks/train/cluster`, where a group of the templates has this name."""

from __future__ import annotations

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.facts.named_by_text import NAMES
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import Value, as_str


def named_resource(user: Resource, value: Value, type_: str) -> Resource | None:
    """The resource of a type that another one names by a reference, or by the name that it alone has in the region."""
    found = resource_of(value, type_)
    name = None if found is not None else as_str(value)
    if not name:
        return found
    others = [one for one in _by_name(user.template.model, type_).get(name, ()) if _is_beside(user, one)]
    return others[0] if len(others) == 1 else None


def _by_name(model: Model, type_: str) -> dict[str | None, list[Resource]]:
    """The resources of a type by their names; computed once."""
    names = model.cached(_by_name, dict[str, dict[str | None, list[Resource]]])
    if type_ not in names:
        place = NAMES.get(type_, "").split("/")
        names[type_] = grouped((as_str(one.get(*place)), one) for one in model.resources(type_) if one.exists) if place[0] else {}
    return names[type_]


def _is_beside(one: Resource, other: Resource) -> bool:
    """Whether two resources are in one region, as far as it is known."""
    return one.template.environment.region == other.template.environment.region
