"""Reads the tables beside this module: a row a line, with tabs between its cells; comments give source and date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def rows(name: str) -> Iterator[list[str]]:
    """The rows of a table, without its comments."""
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return (line.split("\t") for line in lines if not line.startswith("#"))
