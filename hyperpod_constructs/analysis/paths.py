"""Places in properties by paths with `*` for each item of a list, or each value of an object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hyperpod_constructs.templates.values import Value, at


def place_in(value: Value, path: str) -> Iterable[tuple[tuple[str | int, ...], Value]]:
    """The values at a path such as `Policies/*/PolicyDocument`, each with its place."""
    found: list[tuple[tuple[str | int, ...], Value]] = [((), value)]
    for key in path.split("/") if path else ():
        found = [((*place, name), at(one, name)) for place, one in found for name in (_keys(one) if key == "*" else [key])]
    return found


def _keys(value: Value) -> Iterable[str | int]:
    return value if isinstance(value, Mapping) else range(len(value)) if isinstance(value, tuple) else ()
