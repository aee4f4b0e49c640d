"""Names of time zones: `time_zones.tsv` has them, with their source."""

from __future__ import annotations

from functools import cache

from hyperpod_constructs.facts.data import rows


@cache
def time_zones() -> frozenset[str]:
    """The names of all time zones, also old ones."""
    return frozenset(name for row in rows("time_zones.tsv") for name in row)
