"""Properties that name another resource than their own: `selves.tsv` has date and sources."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from hyperpod_constructs.facts.data import rows


class Other(NamedTuple):
    """A property that names another resource of the same type.

    :param way: the way to it, as `analysis.ends` has it.
    :param words: what the resource does with the other one.
    """

    type: str
    way: str
    words: str
    source: str


@cache
def others() -> tuple[Other, ...]:
    """All such properties."""
    return tuple(Other(*cells) for cells in rows("selves.tsv"))
