"""What a resource demands of another that it names: `named.tsv` has date and sources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from hyperpod_constructs.facts.data import rows
from hyperpod_constructs.facts.property_schemas import Schema, opened
from hyperpod_constructs.facts.together import condition


class NamedDemand(NamedTuple):
    """A demand on a resource that another names.

    :param path: the place of the reference; `*` is each item of a list.
    :param attribute: the attribute that the reference takes; empty for any.
    :param named: the type of the named resource.
    :param when: a schema of the naming resource's properties; the demand is made where they fit it.
    :param words: the demand in words.
    :param wanted: a schema of the named resource's properties; `False` refuses each such resource.
    :param same: a property of both that has the same value, or `OWN=NAMED` with the paths of both, or `OWN<=NAMED` for a number
        that is not above the other; empty for none.
    :param source: the page that says so.
    """

    path: str
    attribute: str
    named: str
    when: Schema | None
    words: str
    wanted: Schema | bool
    same: str
    source: str


@cache
def named_demands() -> Mapping[str, tuple[NamedDemand, ...]]:
    """The demands by the type of the naming resource."""
    found: dict[str, tuple[NamedDemand, ...]] = {}
    for types, path, attribute, named, when, words, wanted, same, source in rows("named.tsv"):
        made, demand = _schema(when, sure=True) if when else None, wanted != "false" and _schema(wanted or "{}")
        one = NamedDemand(path, attribute, named, made, words, demand, same, source)
        for type_ in types.split(","):
            found[type_] = (*found.get(type_, ()), one)
    return found


def _schema(text: str, *, sure: bool = False) -> Schema:
    """A schema as it is written, or in the short form of `together`."""
    found: dict[str, Any] = opened(json.loads(text) if text.startswith("{") else condition(text, sure=sure))
    return found
