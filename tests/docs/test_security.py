"""The table of trust boundaries is held to the code: attacks for each boundary, a boundary for each file of attacks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.markdown import local_links

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "security.md"
TEXT = PAGE.read_text("utf-8")
SOURCES = [path for folder in ("lifecycle", "hyperpod_constructs") for path in (ROOT / folder).rglob("*.py")]
COLUMNS = ["Place", "Who writes", "Who reads", "What is believed", "Attacks"]


def _table() -> list[list[str]]:
    lines = [line for line in TEXT.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert rows[0] == COLUMNS
    return rows[2:]


def test_every_row_says_everything() -> None:
    assert [row for row in _table() if len(row) != len(COLUMNS) or not all(row)] == []


def test_every_boundary_has_attacks_and_every_file_of_attacks_a_boundary() -> None:
    attacked = {(PAGE.parent / link).resolve() for row in _table() for link, _ in local_links(row[-1])}
    assert attacked == set((ROOT / "tests" / "attacks").glob("test_*.py"))


@pytest.mark.parametrize("place", [place for row in _table() for place in re.findall(r"`(/[^`]+)`", row[0])])
def test_the_place_is_one_that_the_programs_name(place: str) -> None:
    """By its fixed part: mounts and names of users, clusters and steps are settings."""
    fixed = place.removeprefix("/fsx/").partition("/<")[0]
    assert any(fixed in path.read_text("utf-8") for path in SOURCES)
