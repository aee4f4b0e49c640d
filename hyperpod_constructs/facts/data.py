"""Reads the data beside this module: tables with a row a line, and JSON documents; each gives source and date."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


def rows(name: str) -> Iterator[list[str]]:
    """The rows of a table, without its comments; tabs are between their cells."""
    lines = (_HERE / name).read_text("utf-8").splitlines()
    return (line.split("\t") for line in lines if not line.startswith("#"))


@cache
def document(name: str) -> Mapping[str, Any]:
    """A JSON document."""
    import json  # kept off the import path: a table needs none

    found: Mapping[str, Any] = json.loads((_HERE / name).read_text("utf-8"))
    return found
