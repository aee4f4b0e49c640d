"""What a demand of a service does to two requests."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.analysis.schema.judge import violations
from hyperpod_constructs.facts.property_schemas import request_limits


def check_demand(kind: str, wrong: dict[str, Any], right: dict[str, Any]) -> None:
    """The wrong one is refused for one thing, and the nearest right one is taken."""
    schema = request_limits(kind)
    assert schema is not None
    assert len(list(violations(schema, wrong))) == 1
    assert list(violations(schema, right)) == []
