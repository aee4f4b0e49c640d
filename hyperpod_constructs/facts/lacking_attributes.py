"""Attributes that a type has, and a resource with some settings has not: `lacking_attributes.tsv` has date and sources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from hyperpod_constructs.facts.data import rows
from hyperpod_constructs.facts.property_schemas import Schema, opened


@cache
def lacking() -> Mapping[tuple[str, str], tuple[Schema, str]]:
    """By type and attribute the schema of the properties of a resource that lacks it, and what such a resource is in words."""
    return {(type_, name): (opened(json.loads(schema)), words) for type_, name, schema, words, _ in rows("lacking_attributes.tsv")}
