"""What a name that an object does not take was meant to be: the nearest one, one below another property, or one that is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from hyperpod_constructs.analysis.schema.violation import Path, fuller, nearest, reworded
from hyperpod_constructs.templates.values import Value

_Node: TypeAlias = "Mapping[str, Any] | bool"
_FEW = 3
"""So many properties of a part that are not there may each be the one that an unknown name meant."""


class Meant(NamedTuple):
    """What may be meant.

    :param hint: to say of it, behind a message.
    :param places: from the object on.
    """

    hint: str
    places: Sequence[Path]


def meant_by(name: str, names: Sequence[str], below: str | None, beside: Mapping[str, Value], *, of_part: bool) -> Meant:
    """What an unknown name was meant to be.

    :param names: those that the object takes.
    :param below: the property below which the name is known.
    :param of_part: whether the object is a part of the properties.
    """
    near = nearest(name, names) or fuller(name, names) or reworded(name, names)
    if near is not None:
        return Meant(f"; the nearest is {near}", [(near,)])
    if below is not None:
        return Meant(f"; {below} has it", [(below, name)])
    absent = [one for one in names if one not in beside]
    return Meant("", [(one,) for one in absent] if len(absent) <= _FEW and of_part else [])


def property_with(
    name: str, known: Mapping[str, _Node], beside: Mapping[str, Value], definitions: Mapping[str, _Node]
) -> str | None:
    """The only property below which a name is one that its schema knows; of several, the only one that is given."""
    nodes = {key: child for key, child in known.items() if isinstance(child, Mapping)}
    wholes = {key: definitions.get(child["$ref"], {}) if "$ref" in child else child for key, child in nodes.items()}
    found = [key for key, whole in wholes.items() if isinstance(whole, Mapping) and name in whole.get("properties", {})]
    given = [key for key in found if key in beside]
    return given[0] if len(given) == 1 else found[0] if len(found) == 1 else None
