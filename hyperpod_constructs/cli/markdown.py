"""Markdown for a pull request. Names and values come from templates, so from strangers: they are shown, and obeyed in nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hyperpod_constructs._support.printable import printable

# As an entity, a character is shown and begins no link, mention, image, table cell or HTML.
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~@&!]")


def plain(text: str) -> str:
    """A text of one line without any effect."""
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", printable(text))


def code(text: str) -> str:
    """A name or a value, in the font of code; empty for an empty text."""
    return f"<code>{plain(text)}</code>" if text else ""


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int = 0) -> list[str]:
    """The lines of a table.

    :param columns: the names of the columns.
    :param rows: cells that are Markdown already.
    :param numbers: the number of last columns that hold numbers.
    """
    rule = ["---"] * (len(columns) - numbers) + ["---:"] * numbers
    return [f"| {' | '.join(cells)} |" for cells in (columns, rule, *rows)]
