"""What Amazon's language of states demands of the parts of a machine: `state_demands.tsv` has date and sources."""

from __future__ import annotations

import json
from functools import cache

from hyperpod_constructs.facts.data import rows
from hyperpod_constructs.facts.property_schemas import Schema, opened


@cache
def state_schema(part: str) -> Schema:
    """The demands on a part: `machine`, a type of state, `choice`, or `nested` for a rule inside of one."""
    of = (part, "*") if part[:1].isupper() else (part,)
    found = [row for row in rows("state_demands.tsv") if not set(of).isdisjoint(row[0].split(","))]
    return {"extensions": [(path, words, opened(json.loads(schema))) for _, path, words, schema, _ in found]}
