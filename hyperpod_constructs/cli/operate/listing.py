"""Results as a table for a person, JSON for a program, or Markdown for a report."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any

import typer

from hyperpod_constructs.cli import markdown
from hyperpod_constructs.cli.console import folds, say, stdout
from hyperpod_constructs.cli.operate.completion import cluster_names
from hyperpod_constructs.cli.tables import GAP, paragraph, stacked, table, widths

UNKNOWN = "-"
_READABLE = 24
"""The characters that a column of text needs, if it is folded."""


class Output(StrEnum):
    """The format of a result."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


As = Annotated[Output, typer.Option("--output", "-o", help="For a person, a program, or a report.")]
ClusterName = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="Name or ARN; that of the last deployment, or the only one, unless given.",
        autocompletion=cluster_names,
    ),
]
Wide = Annotated[bool, typer.Option("--wide", "-w", help="Show every column.")]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its key in JSON, its heading, and whether it is shown with --wide only. Columns of numbers come last.

    :ivar long: whether it holds sentences. Where they have no room they stand below their row.
    """

    key: str
    heading: str
    number: bool = False
    wide: bool = False
    long: bool = False


def show(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]], output: Output, *, wide: bool = False) -> None:
    """Print rows. JSON has every column, with `null` for what is not known.

    :param rows: by the column's key: texts, numbers, moments (shown in UTC), ages, or `None`.
    """
    if output is Output.JSON:
        print_json([{column.key: plain_data(row.get(column.key)) for column in columns} for row in rows])
        return
    shown = [column for column in columns if wide or not column.wide]
    cells = [[_text(row.get(column.key)) for column in shown] for row in rows]
    headings, numbers = [column.heading for column in shown], sum(column.number for column in shown)
    if output is Output.MARKDOWN:
        for line in markdown.table(headings, [[markdown.plain(cell) for cell in row] for row in cells], numbers=numbers):
            say(line)
        return
    if folds():
        _show_in(stdout().width, shown, cells)
    else:
        table(headings, cells, numbers=numbers, whole=1)


def _show_in(room: int, columns: Sequence[Column], cells: Sequence[Sequence[str]]) -> None:
    """Print a table into so many characters: columns of --wide go first, from the right; then sentences go below their rows."""
    full = widths([column.heading for column in columns], cells)
    needs = [
        width if column.number or not place else min(width, _READABLE)
        for place, (column, width) in enumerate(zip(columns, full, strict=True))
    ]
    kept = list(range(len(columns)))

    def fits() -> bool:
        return sum(needs[place] for place in kept) + GAP * (len(kept) - 1) <= room

    for place in reversed([place for place in kept if columns[place].wide]):
        if not fits():
            kept.remove(place)
    below = next((place for place in kept if columns[place].long and not fits()), None)
    beside = [place for place in kept if place != below]
    headings, numbers = [columns[place].heading for place in beside], sum(columns[place].number for place in beside)
    rows = [[row[place] for place in beside] for row in cells]
    if below is None and fits():
        table(headings, rows, numbers=numbers, whole=1)
    else:
        stacked(headings, rows, ["" if below is None else row[below] for row in cells], numbers=numbers)
    left_out = [column.heading for place, column in enumerate(columns) if place not in kept]
    if left_out:
        say()
        paragraph(f"Left out, because the terminal is too narrow: {', '.join(left_out)}. They are in --output json.")


def print_json(value: object) -> None:
    """Print a document for a program."""
    sys.stdout.write(json.dumps(plain_data(value), indent=2, ensure_ascii=True) + "\n")


def plain_data(value: object) -> Any:
    """A value as JSON has it: moments as texts in UTC, ages in seconds."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return int(value.total_seconds())
    if isinstance(value, Mapping):
        return {key: plain_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(item) for item in value]
    return value


def _text(value: object) -> str:
    if value is None or value == "":
        return UNKNOWN
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M}"
    if isinstance(value, timedelta):
        return _age(value)
    return str(value)


def _age(passed: timedelta) -> str:
    """Two units at most, as in 3d4h."""
    seconds = max(int(passed.total_seconds()), 0)
    days, hours, minutes = seconds // 86_400, seconds // 3600 % 24, seconds // 60 % 60
    if days:
        return f"{days}d{hours}h"
    if hours:
        return f"{hours}h{minutes}m"
    return f"{minutes}m{seconds % 60}s"
