"""What has no effect alone: `partners.tsv` has date and sources."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from hyperpod_constructs.facts.data import rows
from hyperpod_constructs.facts.property_schemas import Schema, opened


class Partner(NamedTuple):
    """A resource that another needs to have an effect.

    :param when: a schema of the properties of the one that is alone; it needs the partner where they fit it.
    :param names: the types of which one names it, each with the only property that can, if it has one; none if any may.
    :param beside: the types that name it and do not use it, where any other may.
    :param words: what a partner does.
    """

    type: str
    when: Schema | None
    names: tuple[tuple[str, str | None], ...]
    words: str
    beside: frozenset[str] = frozenset()

    @property
    def types(self) -> tuple[str, ...]:
        """The types of a partner, each once."""
        return tuple(dict.fromkeys(type_ for type_, _ in self.names))


_ANY, _BUT = "*", " but "


@cache
def partners() -> Sequence[Partner]:
    """All partners."""
    return [_partner(*cells[:4]) for cells in rows("partners.tsv")]


def _partner(type_: str, when: str, names: str, words: str) -> Partner:
    first, *beside = names.split(_BUT)
    named = tuple(map(_named_by, first.split(","))) if first != _ANY else ()
    return Partner(
        type_,
        opened(json.loads(when)) if when else None,
        named,
        words,
        frozenset(one for text in beside for one in text.split(",")),
    )


def _named_by(text: str) -> tuple[str, str | None]:
    type_, _, name = text.partition(".")
    return type_, name or None
