"""Which resources can name another one: found by what they name, without a look at each of them for each of the others."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from hyperpod_constructs.rules.template.model import Resource
from hyperpod_constructs.rules.template.values import ABSENT, UNKNOWN, Reference, Value, alternatives_of

_ANYTHING = None


class Naming:
    """Resources by what a property of theirs names, or may name."""

    def __init__(self, resources: Sequence[Resource], values: Callable[[Resource], Iterable[Value] | None]) -> None:
        """
        :param values: what names something in a resource; `None` if that is not known.
        """
        self._resources = resources
        self._positions: dict[Hashable, list[int]] = {}
        for position, resource in enumerate(resources):
            for key in _keys(values(resource)):
                self._positions.setdefault(key, []).append(position)

    def of(self, *names: Resource | str) -> list[Resource]:
        """Those that name one of these, or may, in their order; whether they surely do is for the caller to see."""
        positions = {position for name in (*names, _ANYTHING) for position in self._positions.get(name, ())}
        return [self._resources[position] for position in sorted(positions)]


def _keys(values: Iterable[Value] | None) -> set[Hashable]:
    found = [alternative for value in ((UNKNOWN,) if values is None else values) for alternative in alternatives_of(value)]
    return {_key(value) for value in found if value is not ABSENT}


def _key(value: Value) -> Hashable:
    if isinstance(value, Reference):
        return value.resource
    return value if isinstance(value, str) else _ANYTHING
