"""Counts the faults that the custom resources survived in a run."""

from __future__ import annotations

from collections.abc import Iterable

FAULTS = "faults of custom resources"
"""The property of a test's report: how many faults it tried, and how many were survived."""


def tally(properties: Iterable[tuple[str, object]]) -> str | None:
    """The line to print for the properties of all reports; None if no fault was tried."""
    counts = [value for name, value in properties if name == FAULTS]
    tried, survived = (sum(int(count[index]) for count in counts if isinstance(count, list | tuple)) for index in (0, 1))
    return f"custom resources: {tried} faults, {survived} survived" if tried else None
