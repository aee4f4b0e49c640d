"""Text on its way out: to a terminal, to the log of a build, into a report.

The text comes from templates, files and services, so from strangers. An escape sequence redraws a terminal, a newline forges a
line, a mark of direction reorders the line for its reader, and half of a surrogate pair cannot be printed. GitHub obeys a log
line that begins with `::`. Every text passes here once; then it is visible and harmless.
"""

from __future__ import annotations

import re

# The runner skips spaces before this mark, and looks for the older one anywhere in a line.
# Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
_COMMAND = re.compile(r"\s*::(?=[A-Za-z])")
_OLD_COMMAND = "##["


def printable(text: str) -> str:
    """A text as one line, with a Python escape for each character without a glyph. It cannot be a workflow command."""
    shown = _visible(text)
    if _OLD_COMMAND in shown:
        shown = shown.replace(_OLD_COMMAND, "#\\x23[")
    return shown.replace("::", "\\x3a:", 1) if _COMMAND.match(shown) else shown


def printable_lines(text: str) -> str:
    """A text of several lines, such as the end of a log, with `printable` applied to each line."""
    return "\n".join(printable(line) for line in text.split("\n"))


def encodable(text: str) -> str:
    """A text for JSON, with an escape for half of a surrogate pair: a file name can hold one, a JSON string cannot."""
    return text.encode("utf-8", "backslashreplace").decode()


def _visible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
