"""Counts the tried and the repelled attacks of a run at each boundary; a boundary is a file of this folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

FOLDER = "tests/attacks/"


def tally(passed: Iterable[str], failed: Iterable[str]) -> list[str]:
    """The lines to print for the ids of passed and failed tests; none without an attack."""
    withstood, broken = _count(passed), _count(failed)
    boundaries = sorted(withstood.keys() | broken.keys())
    if not boundaries:
        return []
    rows = [(boundary, withstood.get(boundary, 0), broken.get(boundary, 0)) for boundary in boundaries]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    width = max(len(row[0]) for row in rows)
    return [f"{name:<{width}}  tried {good + bad:>4}  withstood {good:>4}" for name, good, bad in rows]


def _count(tests: Iterable[str]) -> dict[str, int]:
    """By boundary. An attack is known by its test, so one whose set-up failed as well counts once."""
    counted: dict[str, int] = {}
    for test in {test for test in tests if test.startswith(FOLDER)}:
        boundary = PurePosixPath(test.partition("::")[0]).stem.removeprefix("test_").replace("_", " ")
        counted[boundary] = counted.get(boundary, 0) + 1
    return counted
