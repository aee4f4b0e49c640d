"""Places in properties by paths with `*` for each item of a list."""

from __future__ import annotations

from collections.abc import Iterable

from hyperpod_constructs.templates.values import Value, at


def place_in(value: Value, path: str) -> Iterable[tuple[tuple[str | int, ...], Value]]:
    """The values at a path such as `Policies/*/PolicyDocument`, each with its place."""
    found: list[tuple[tuple[str | int, ...], Value]] = [((), value)]
    for key in path.split("/") if path else ():
        found = [
            ((*place, name), at(one, name))
            for place, one in found
            for name in (range(len(one)) if key == "*" and isinstance(one, tuple) else [key])
            if key != "*" or isinstance(one, tuple)
        ]
    return found
