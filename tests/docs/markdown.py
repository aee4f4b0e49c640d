"""The fenced blocks and inline code of a Markdown file. The words after a fence are its language and its marks."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Blocks with this mark need a real account: they are the only ones that no test executes.
AWS = "aws"
# These need a machine that can run virtual nodes.
NODES = "nodes"

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
_LINKED = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: where it starts, its language, its marks, and its text."""

    line: int
    language: str
    marks: frozenset[str]
    text: str

    def commands(self) -> list[str]:
        """The lines of a `console` block that begin with `$ `, with their continuations; every line of a `sh` block."""
        joined = self.text.replace("\\\n", " ")
        if self.language == "sh":
            return [joined]
        return [line.removeprefix("$ ") for line in joined.splitlines() if line.startswith("$ ")]


def blocks(markdown: str) -> list[Block]:
    """The fenced blocks in their order."""
    found = []
    for match in _FENCE.finditer(markdown):
        language, *marks = match["info"].split() or [""]
        line = markdown.count("\n", 0, match.start()) + 1
        found.append(Block(line, language, frozenset(marks), match["text"]))
    return found


def inline_code(markdown: str) -> list[str]:
    """The code in running text."""
    return _INLINE.findall(_FENCE.sub("", markdown))


def local_links(markdown: str) -> list[tuple[str, str]]:
    """The links to the project: a file, empty for this one, and an anchor in it, empty for its top."""
    return _LINK.findall(_FENCE.sub("", markdown))


def anchors(markdown: str) -> list[str]:
    """The anchors of the headings, as GitHub makes them: a repeated one gets a number."""
    found: list[str] = []
    for heading in _HEADING.findall(_FENCE.sub("", markdown)):
        plain = re.sub(r"[^\w\- ]", "", _LINKED.sub(r"\1", heading).lower()).replace(" ", "-")
        times = sum(one == plain or re.fullmatch(rf"{re.escape(plain)}-\d+", one) is not None for one in found)
        found.append(f"{plain}-{times}" if times else plain)
    return found
