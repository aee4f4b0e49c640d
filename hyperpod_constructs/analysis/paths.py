"""Places in properties by paths with `*` for each item of a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_constructs.templates.values import ABSENT, Value, as_items, at


def places(value: Value, path: Sequence[str], done: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places in a value where a path leads to something."""
    if not path:
        yield done
        return
    first, *rest = path
    keys: list[str | int] = list(range(len(as_items(value) or ()))) if first == "*" else [first]
    for key in keys:
        found = at(value, key)
        if found is not ABSENT:
            yield from places(found, rest, (*done, key))
