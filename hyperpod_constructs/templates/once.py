"""Values of names, computed once: a name that depends on itself is unknown."""

from __future__ import annotations

from collections.abc import Callable

from hyperpod_constructs.templates.intrinsics import Depth
from hyperpod_constructs.templates.values import UNKNOWN, Value


class Once:
    """The values of one template's names, by section."""

    def __init__(self, depth: Depth) -> None:
        self._depth = depth
        self._values: dict[tuple[str, str], Value] = {}
        self._pending: set[tuple[str, str]] = set()

    def value(self, section: str, name: str, compute: Callable[[str], Value]) -> Value:
        """The value of a name; `UNKNOWN` while it is computed, and where the resolution is too deep."""
        key = (section, name)
        if key not in self._values:
            if key in self._pending or self._depth.reached:
                return UNKNOWN
            self._pending.add(key)
            try:
                with self._depth:
                    self._values[key] = compute(name)
            finally:
                self._pending.discard(key)
        return self._values[key]
