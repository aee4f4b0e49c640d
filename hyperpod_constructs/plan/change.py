"""One property that an update changes, with its surroundings before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from hyperpod_constructs.facts import updates
from hyperpod_constructs.templates.values import ABSENT, Value, alternatives_of, as_bool, as_float, at

Properties: TypeAlias = "Mapping[str, Value]"

NAMED_ITEMS = {
    ("AWS::SageMaker::Cluster", "InstanceGroups"): "InstanceGroupName",
    ("AWS::SageMaker::Cluster", "RestrictedInstanceGroups"): "InstanceGroupName",
}
"""Lists whose items pair by a name instead of their position: type and property to the key of the name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One property that differs.

    :param path: the path of the property; an item of a named list has its name as key.
    :param before: all properties of the old resource.
    :param after: all properties of the new resource.
    :param unchanged: the names of the properties that do not differ.
    """

    type: str
    path: tuple[str, ...]
    old: Value
    new: Value
    before: Properties
    after: Properties
    unchanged: frozenset[str] = frozenset()

    @property
    def item_before(self) -> Value:
        """The old item of a named list around the property; `ABSENT` if there is none."""
        return self._item(self.before)

    @property
    def item_after(self) -> Value:
        """The new item of a named list around the property; `ABSENT` if there is none."""
        return self._item(self.after)

    def _item(self, properties: Properties) -> Value:
        key = NAMED_ITEMS.get((self.type, self.path[0]))
        if key is None or len(self.path) < 2:
            return ABSENT
        found = named(properties.get(self.path[0], ABSENT), key)
        return ABSENT if found is None else found.get(self.path[1], ABSENT)


def named(value: Value, key: str) -> dict[str, Value] | None:
    """The items of a list by their names; `None` if an item has no name, or two have the same."""
    if value is ABSENT or value is None:
        return {}
    if not isinstance(value, tuple):
        return None
    names = [at(item, key) for item in value]
    found = {name: item for name, item in zip(names, value, strict=True) if isinstance(name, str)}
    return found if len(found) == len(value) else None


def fixed_by_another(change: Change) -> bool:
    """Whether another property has the value with which the service refuses the change."""
    condition = updates.fixed_with(change.type, "/".join(change.path))
    if condition is None:
        return False
    found = at(change.before, *condition[0].split("/"))
    return (as_bool(found) if isinstance(condition[1], bool) else found) == condition[1]


def grows(change: Change) -> bool:
    """Whether both numbers are known and the new one is larger; of several that it may be, none is smaller."""
    old, new = _numbers(change.old), _numbers(change.new)
    return old is not None and new is not None and max(old) <= min(new) and min(old) < max(new)


def shrinks(change: Change) -> bool:
    """Whether both numbers are known and the new one is smaller; of several that it may be, none is larger."""
    old, new = _numbers(change.old), _numbers(change.new)
    return old is not None and new is not None and max(new) <= min(old) and min(new) < max(old)


def _numbers(value: Value) -> list[float] | None:
    """The numbers that a value may be; `None` if one of them is not known."""
    found = [as_float(one) for one in alternatives_of(value)]
    known = [one for one in found if one is not None]
    return known if len(known) == len(found) else None


def added(change: Change) -> bool:
    """Whether the property is new."""
    return change.old is ABSENT


def removed(change: Change) -> bool:
    """Whether the property is gone."""
    return change.new is ABSENT
