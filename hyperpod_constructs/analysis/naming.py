"""Resources by the names in their properties: the users of a resource are found without a look at each of the others."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.templates.model import Resource, target_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Value, alternatives_of

_ANYTHING = None


class Naming:
    """Resources by the sure and possible names in a property of theirs."""

    def __init__(self, resources: Sequence[Resource], values: Callable[[Resource], Iterable[Value] | None]) -> None:
        """
        :param values: the names in a resource; `None` if they are not known.
        """
        self._resources = resources
        self._positions = grouped((key, position) for position, one in enumerate(resources) for key in _keys(values(one)))

    def of(self, *names: Resource | str) -> list[Resource]:
        """The resources that name one of these, or may, in their order; the caller tells the sure ones from the possible."""
        positions = {position for name in (*names, _ANYTHING) for position in self._positions.get(name, ())}
        return [self._resources[position] for position in sorted(positions)]


def _keys(values: Iterable[Value] | None) -> set[Hashable]:
    found = [alternative for value in ((UNKNOWN,) if values is None else values) for alternative in alternatives_of(value)]
    return {_key(value) for value in found if value is not ABSENT}


def _key(value: Value) -> Hashable:
    if isinstance(value, Reference):
        return target_of(value)
    return value if isinstance(value, str) else _ANYTHING
