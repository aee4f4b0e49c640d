"""Updates in CloudFormation's resource schemas: `schema.json`, written by `tools/generate_update_facts.py`, with its date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from hyperpod_constructs.facts.data import document


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeFacts:
    """The schema of one type. Paths are such as `Orchestrator/Eks`; `*` stands for any item.

    :param create_only: properties that replace the resource when they change.
    :param conditional: properties that may replace it.
    :param identity: properties that name the resource, so that CloudFormation cannot make a replacement with the same name; empty
        if the service names it.
    :param deletes_first: a replacement deletes the old resource before it makes the new one.
    :param properties: all writable properties; empty for a type that this library does not emit.
    :param leaves: the paths of all writable values; empty for a type that this library does not mean to cover.
    """

    create_only: frozenset[str]
    conditional: frozenset[str]
    identity: tuple[str, ...]
    deletes_first: bool
    properties: frozenset[str]
    leaves: frozenset[str]


def schema_date() -> str:
    """The time of the schemas, in ISO format."""
    return str(document("schema.json")["schema_date"])


@cache
def type_facts(resource_type: str) -> TypeFacts | None:
    """The facts of a type; `None` if the schemas have no such type."""
    found: Mapping[str, Any] | None = document("schema.json")["types"].get(resource_type)
    if found is None:
        return None
    return TypeFacts(
        create_only=frozenset(found.get("create_only", ())),
        conditional=frozenset(found.get("conditional", ())),
        identity=tuple(found.get("identity", ())),
        deletes_first=bool(found.get("deletes_first", False)),
        properties=frozenset(found.get("properties", ())),
        leaves=frozenset(found.get("leaves", ())),
    )
