"""Text on its way out: to a terminal, to the log of a build, into a report.

What is printed came from templates, files and services, so from strangers: an escape sequence redraws a terminal, a newline forges
a line, a mark of direction reorders what a reader sees, half of a surrogate pair cannot be printed at all, and GitHub obeys a line
of a log that begins with `::`. Every text passes here once, and all of them are then visible and harmless.
"""

from __future__ import annotations

import re

# https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands; the runner skips spaces before the mark, and
# looks for that of the older form anywhere in a line.
_COMMAND = re.compile(r"\s*::(?=[A-Za-z])")
_OLD_COMMAND = "##["


def printable(text: str) -> str:
    """A text as one line: each character that is no glyph as its escape in Python, and no command of a workflow."""
    shown = _visible(text)
    if _OLD_COMMAND in shown:
        shown = shown.replace(_OLD_COMMAND, "#\\x23[")
    return shown.replace("::", "\\x3a:", 1) if _COMMAND.match(shown) else shown


def printable_lines(text: str) -> str:
    """A text of several lines, such as the end of a log: the same for each of them."""
    return "\n".join(printable(line) for line in text.split("\n"))


def encodable(text: str) -> str:
    """A text for JSON, whose strings hold any character but half of a surrogate pair: the name of a file can have one."""
    return text.encode("utf-8", "backslashreplace").decode()


def _visible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
