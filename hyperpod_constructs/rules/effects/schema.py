"""What CloudFormation's resource schemas say about updates: `schema.json`, written by tools/generate_update_facts.py."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeFacts:
    """What one type's schema says; paths are such as `Orchestrator/Eks`, `*` stands for any item.

    create_only: a change replaces the resource.
    conditional: a change can replace it.
    identity: names the resource, so that a replacement with the same name cannot be made; empty where the service names it.
    deletes_first: a replacement deletes the old resource before it makes the new one.
    properties: all that can be written; of types that this library emits only.
    """

    create_only: frozenset[str]
    conditional: frozenset[str]
    identity: tuple[str, ...]
    deletes_first: bool
    properties: frozenset[str]


def schema_date() -> str:
    """When the schemas were read, as an ISO time."""
    return str(_document()["schema_date"])


@cache
def type_facts(resource_type: str) -> TypeFacts | None:
    """The facts of a type; None if the schemas have no such type."""
    found: Mapping[str, Any] | None = _document()["types"].get(resource_type)
    if found is None:
        return None
    return TypeFacts(
        create_only=frozenset(found.get("create_only", ())),
        conditional=frozenset(found.get("conditional", ())),
        identity=tuple(found.get("identity", ())),
        deletes_first=bool(found.get("deletes_first", False)),
        properties=frozenset(found.get("properties", ())),
    )


@cache
def _document() -> Mapping[str, Any]:
    text = resources.files(__package__).joinpath("schema.json").read_text("utf-8")
    document: Mapping[str, Any] = json.loads(text)
    return document
