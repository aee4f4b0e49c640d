"""Tables and paragraphs: as wide as the terminal, and not folded in a pipe unless COLUMNS says how wide."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from hyperpod_constructs._support.printable import printable
from hyperpod_constructs.cli.console import folds, is_terminal, say, stdout

if TYPE_CHECKING:
    from rich.box import Box

GAP = 2
"""Spaces between two columns."""

_LONGEST_VALUE = 40
_INDENT = "  "
_NARROWEST_COLUMN = 4

Cell = str | tuple[str, ...]
"""One line or several."""


def table(columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, numbers: int = 0, whole: int = 0) -> None:
    """Print rows under the names of their columns.

    :param columns: the names.
    :param rows: one cell for each column.
    :param numbers: the number of last columns that hold numbers: they are aligned to the right and not folded.
    :param whole: the number of first columns that are not folded.
    """
    texts = [[_cell(cell) for cell in row] for row in rows]
    if not folds() or sum(widths(columns, texts)) + GAP * (len(columns) - 1) <= stdout().width:
        _write_plain(columns, texts, numbers)
        return
    from rich.table import Table

    out = stdout()
    drawn = Table(box=_box(), pad_edge=False, show_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for position, column in enumerate(columns):
        if position < len(columns) - numbers:
            drawn.add_column(column, overflow="fold", no_wrap=position < whole)
        else:
            drawn.add_column(column, justify="right", no_wrap=True)
    for row in texts:
        drawn.add_row(*row)
    with out.capture() as captured:
        out.print(drawn)
    # Spaces that fill the last column are of no use.
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def stacked(columns: Sequence[str], rows: Sequence[Sequence[str]], texts: Sequence[str], *, numbers: int = 0) -> None:
    """Print rows, each with a text below it that would be too narrow beside it.

    :param texts: one for each row; a row with an empty text stands alone.
    :param numbers: as in `table`.
    """
    cells = [[_cell(cell) for cell in row] for row in rows]
    wide = _narrowed(widths(columns, cells), stdout().width)
    _write_head([_chunked(column, width) for column, width in zip(columns, wide, strict=True)], wide, numbers)
    for row, text in zip(cells, texts, strict=True):
        folded = [_chunked(cell, width).split("\n") for cell, width in zip(row, wide, strict=True)]
        for line in zip_longest(*folded, fillvalue=""):
            sys.stdout.write(_line(line, wide, numbers))
        if text:
            paragraph(text, indent=_INDENT, hanging=_INDENT, breaks=True)


def _narrowed(wide: Sequence[int], room: int) -> list[int]:
    """Widths that fit: the widest column gives first."""
    found = list(wide)
    while sum(found) + GAP * (len(found) - 1) > room and max(found) > _NARROWEST_COLUMN:
        found[found.index(max(found))] -= 1
    return found


def _chunked(text: str, width: int) -> str:
    return "\n".join(text[start : start + width] for start in range(0, len(text), width)) or text


def widths(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """The characters that each column takes unless it is folded."""
    return [max(_width(line) for cell in column for line in cell.split("\n")) for column in zip(columns, *rows, strict=True)]


def _write_plain(columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: int) -> None:
    """Write rows that nothing folds: a thousand of them take rich most of a second."""
    wide = widths(columns, rows)
    _write_head(columns, wide, numbers)
    for row in rows:
        for line in zip_longest(*(cell.split("\n") for cell in row), fillvalue=""):
            sys.stdout.write(_line(line, wide, numbers))


def _write_head(columns: Sequence[str], wide: Sequence[int], numbers: int) -> None:
    """In a terminal the names are bold, with a rule below them."""
    in_terminal = is_terminal()
    for names in zip_longest(*(column.split("\n") for column in columns), fillvalue=""):
        line = _line(names, wide, numbers)
        if in_terminal:
            stdout().print(line.rstrip("\n"), style="bold", soft_wrap=True)
        else:
            sys.stdout.write(line)
    if _box() is not None:
        sys.stdout.write("─" * min(sum(wide) + GAP * (len(wide) - 1), stdout().width) + "\n")


def _box() -> Box | None:
    """Only a rule below the names, and nothing where the terminal does not know its character."""
    if not is_terminal() or stdout().options.ascii_only:
        return None
    from rich.box import SIMPLE_HEAD

    return SIMPLE_HEAD


def _line(cells: Sequence[str], wide: Sequence[int], numbers: int) -> str:
    left = len(wide) - numbers
    fills = [" " * (width - _width(cell)) for cell, width in zip(cells, wide, strict=True)]
    parts = [cell + fill if place < left else fill + cell for place, (cell, fill) in enumerate(zip(cells, fills, strict=True))]
    return (" " * GAP).join(parts).rstrip() + "\n"


def _width(text: str) -> int:
    """The cells of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _cell(cell: Cell) -> str:
    return printable(cell) if isinstance(cell, str) else "\n".join(map(printable, cell))


def paragraph(text: str, *, indent: str = "", hanging: str = "", style: str | None = None, breaks: bool = False) -> None:
    """Print text, wrapped between words in a terminal: the first line after `indent`, the others after `hanging`.

    :param breaks: whether a word that is longer than the line is broken; unless given it stays whole, as a link must.
    """
    if not folds():
        say(f"{indent}{text}", style=style)
        return
    wrapper = textwrap.TextWrapper(
        stdout().width, initial_indent=indent, subsequent_indent=hanging, break_on_hyphens=False, break_long_words=breaks
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
