"""What a change of a property does to what is deployed, and how that is written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from hyperpod_constructs.rules.template.values import ABSENT, Value, as_float, at

Properties: TypeAlias = "Mapping[str, Value]"

#: Lists whose items are known by a name, and so are compared by it and not by their position.
NAMED_ITEMS = {
    ("AWS::SageMaker::Cluster", "InstanceGroups"): "InstanceGroupName",
    ("AWS::SageMaker::Cluster", "RestrictedInstanceGroups"): "InstanceGroupName",
}


class Effect(StrEnum):
    """From harmless to impossible."""

    NO_INTERRUPTION = "no interruption"
    """What runs goes on."""
    ROLLING = "rolling"
    """Some nodes go or come back, others run."""
    REPLACE = "replace"
    """A new resource takes the place of the old one, or the old one goes."""
    DATA_LOSS = "data loss"
    """What is stored is gone for good."""
    REFUSED = "refused"
    """The service or CloudFormation fails the update."""

    @property
    def severity(self) -> int:
        """Its place in the list: the higher, the worse."""
        return list(Effect).index(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One property that differs: its path (an item of a named list by its name), all properties before and after, and the names
    of those properties of the resource that do not differ."""

    type: str
    path: tuple[str, ...]
    old: Value
    new: Value
    before: Properties
    after: Properties
    unchanged: frozenset[str] = frozenset()

    @property
    def item_before(self) -> Value:
        """The item of a named list that the property belongs to, as it was; ABSENT if it is new or of no such list."""
        return self._item(self.before)

    @property
    def item_after(self) -> Value:
        """The same as it will be."""
        return self._item(self.after)

    def _item(self, properties: Properties) -> Value:
        key = NAMED_ITEMS.get((self.type, self.path[0]))
        if key is None or len(self.path) < 2:
            return ABSENT
        found = named(properties.get(self.path[0], ABSENT), key)
        return ABSENT if found is None else found.get(self.path[1], ABSENT)


def named(value: Value, key: str) -> dict[str, Value] | None:
    """The items of a list by the name that each has at `key`; None if one has none, or two share one."""
    if value is ABSENT or value is None:
        return {}
    if not isinstance(value, tuple):
        return None
    names = [at(item, key) for item in value]
    found = {name: item for name, item in zip(names, value, strict=True) if isinstance(name, str)}
    return found if len(found) == len(value) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """What the change of one property does.

    path: the property, such as `LustreConfiguration/EfaEnabled`; `*` stands for the name of an item.
    effect: what happens.
    why: the reason for a person, or a function that says it of a change.
    avoid: what to do instead.
    when: whether the row is meant for a change; of several rows for a property the first that is counts.
    source: where this is written down; the resource schema unless given.
    part: only a part of the resource is replaced, and what names the resource stays as it is.
    """

    path: str
    effect: Effect
    why: str | Callable[[Change], str]
    avoid: str = ""
    when: Callable[[Change], bool] | None = None
    source: str = ""
    part: bool = False

    def applies(self, change: Change) -> bool:
        """Whether this row is meant for the change."""
        return self.when is None or self.when(change)

    def reason(self, change: Change) -> str:
        """Why the effect is what it is."""
        return self.why if isinstance(self.why, str) else self.why(change)


def grows(change: Change) -> bool:
    """Both numbers are known, and the new one is larger."""
    old, new = as_float(change.old), as_float(change.new)
    return old is not None and new is not None and new > old


def shrinks(change: Change) -> bool:
    """Both numbers are known, and the new one is smaller."""
    old, new = as_float(change.old), as_float(change.new)
    return old is not None and new is not None and new < old


def added(change: Change) -> bool:
    """There was nothing before."""
    return change.old is ABSENT


def removed(change: Change) -> bool:
    """There is nothing after."""
    return change.new is ABSENT
