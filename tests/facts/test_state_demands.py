"""Demands of the language of states: each is of a part that machines have, in words that the judge knows."""

from __future__ import annotations

import json
import re

from hyperpod_constructs.analysis.schema.judge import _LEAVES, _STRUCTURES
from hyperpod_constructs.facts.data import rows
from hyperpod_constructs.facts.state_demands import state_schema
from hyperpod_constructs.facts.state_language import FIELDS
from tests.facts.test_property_schemas import _nodes

_PARTS = {*FIELDS, "*", "machine", "choice", "nested", "jsonata", "jsonpath"}


def test_each_demand_is_of_known_parts_in_known_words() -> None:
    for parts, path, _, schema, source in rows("state_demands.tsv"):
        assert set(parts.split(",")) <= _PARTS, parts
        for node in _nodes(json.loads(schema)):
            words = {word for word in node if word[:1].islower()}
            assert words <= {*_STRUCTURES, *_LEAVES, "type", "then", "else"}, (parts, path, words)
            re.compile(node["pattern"] if isinstance(node.get("pattern"), str) else "", re.ASCII)
        assert source.startswith("https://")


def test_each_type_of_state_has_the_demands_on_all_states() -> None:
    of_all = len(state_schema("Succeed")["extensions"])
    assert all(len(state_schema(kind)["extensions"]) >= of_all > 0 for kind in FIELDS)
    assert len(state_schema("machine")["extensions"]) > 0
