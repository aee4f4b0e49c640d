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
    :param names: the types of which one names it, each with the only property that can, if it has one.
    :param words: what a partner does.
    """

    type: str
    when: Schema | None
    names: tuple[tuple[str, str | None], ...]
    words: str


@cache
def partners() -> Sequence[Partner]:
    """All partners."""
    return [
        Partner(type_, opened(json.loads(when)) if when else None, tuple(map(_named_by, names.split(","))), words)
        for type_, when, names, words, _ in rows("partners.tsv")
    ]


def _named_by(text: str) -> tuple[str, str | None]:
    type_, _, name = text.partition(".")
    return type_, name or None
