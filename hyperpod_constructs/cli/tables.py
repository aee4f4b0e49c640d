"""Tables and paragraphs: as wide as the terminal, and not folded in a pipe unless COLUMNS says how wide."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Sequence
from itertools import zip_longest

from hyperpod_constructs._support.printable import printable
from hyperpod_constructs.cli.console import folds, say, stdout

_LONGEST_VALUE = 40

Cell = str | tuple[str, ...]
"""One line or several."""


def table(columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, numbers: int = 0, whole: int = 0) -> None:
    """Print rows under the names of their columns.

    :param columns: the names.
    :param rows: one cell for each column.
    :param numbers: the number of last columns that hold numbers: they are aligned to the right and not folded.
    :param whole: the number of first columns that are not folded.
    """
    if not folds():
        _write_plain(columns, rows, numbers)
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    out = stdout()
    box = SIMPLE_HEAD if out.is_terminal else None
    drawn = Table(box=box, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for position, column in enumerate(columns):
        if position < len(columns) - numbers:
            drawn.add_column(column, overflow="fold", no_wrap=position < whole)
        else:
            drawn.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        drawn.add_row(*(_cell(cell) for cell in row))
    with out.capture() as captured:
        out.print(drawn)
    # In a pipe, the spaces that fill the last column are of no use.
    shown = captured.get()
    sys.stdout.write(shown if out.is_terminal else "".join(f"{line.rstrip()}\n" for line in shown.splitlines()))


def _write_plain(columns: Sequence[str], rows: Sequence[Sequence[Cell]], numbers: int) -> None:
    """Write rows that nothing folds: a thousand of them take rich most of a second."""
    from rich.cells import cell_len

    texts = [list(columns), *([_cell(cell) for cell in row] for row in rows)]
    lines = [line for row in texts for line in zip_longest(*(cell.split("\n") for cell in row), fillvalue="")]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    left = len(columns) - numbers
    for line in lines:
        fills = [" " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True)]
        cells = [cell + fill if place < left else fill + cell for place, (cell, fill) in enumerate(zip(line, fills, strict=True))]
        sys.stdout.write("  ".join(cells).rstrip() + "\n")


def _cell(cell: Cell) -> str:
    return printable(cell) if isinstance(cell, str) else "\n".join(map(printable, cell))


def paragraph(text: str, *, indent: str = "", hanging: str = "", style: str | None = None) -> None:
    """Print text, wrapped between words in a terminal: the first line after `indent`, the others after `hanging`."""
    out = stdout()
    if not folds():
        say(f"{indent}{text}", style=style)
        return
    # A link stays in one line, so that the terminal can open it.
    wrapper = textwrap.TextWrapper(
        out.width, initial_indent=indent, subsequent_indent=hanging, break_on_hyphens=False, break_long_words=False
    )
    for line in wrapper.wrap(printable(text)) or [indent]:
        say(line, style=style)


def shortened(value: object) -> str:
    """A value in a few characters: a text as it is, any other value as JSON; `…` ends a value that was cut."""
    text = value if isinstance(value, str) else "-" if value is None else json.dumps(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def differing(old: object, new: object) -> tuple[object, object]:
    """Two values without their equal parts: in objects, and in lists of the same length."""
    if isinstance(old, dict) and isinstance(new, dict):
        pairs = {key: differing(old.get(key), new.get(key)) for key in {**old, **new} if old.get(key) != new.get(key)}
        return (
            {key: one for key, (one, _) in pairs.items() if key in old},
            {key: other for key, (_, other) in pairs.items() if key in new},
        )
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        items = [differing(one, other) for one, other in zip(old, new, strict=True) if one != other]
        return [one for one, _ in items], [other for _, other in items]
    return old, new
