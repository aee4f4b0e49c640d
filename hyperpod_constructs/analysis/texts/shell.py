"""Scripts for a shell: they are read, and never run.

What is known is what any shell of the family of `sh` fails at: lines of Windows, a quote or a text for a command that never ends, a
block that is open at the end, and a failure at the end of every way through the script.

Source: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.analysis.schema.violation import nearest, quoted
from hyperpod_constructs.analysis.shell_reader import ParsedScript, read_script
from hyperpod_constructs.analysis.shell_words import Command, plain

_FAILING = re.compile(r"[1-9]\d*")


def mistakes_in_script(text: str) -> Iterator[tuple[str, str]]:
    """Why a script surely fails, in words, and what is right: one reason."""
    first = text.split("\n", 1)[0]
    if first.endswith("\r"):
        yield "has a carriage return behind its first line, so its program is not found", "lines that end with a line feed"
        return
    failing = _failing(read_script(text))
    yield from open_end(text)
    if failing is not None:
        yield f"ends with a failure in line {failing.line}, whatever happened before", "a way through the script that ends well"


def open_end(text: str) -> Iterator[tuple[str, str]]:
    """What is open at the end of a script, in words, and what is right."""
    found = read_script(text).unended
    if found is not None and (not found.end or not found.end.isdecimal()):
        lines = [line for line in text.splitlines() if found.end and "<<" not in line and nearest(line.strip(), (found.end,))]
        meant = f": the line {quoted(lines[-1])} is not {found.end}" if lines else ""
        right = f"a line with {found.end} alone, without spaces before it" if lines else "a script that its shell can read"
        yield f"has {found.what} in line {found.line} that never ends{meant}", right


def _failing(script: ParsedScript) -> Command | None:
    """A failure that nothing but commands before it can keep from happening."""
    for one in (script.commands or ()) if script.unended is None else ():
        if one.last:
            texts = [plain(word) for word in one.words]
            return one if one.alone and texts[0] == "exit" and len(texts) == 2 and _FAILING.fullmatch(texts[1]) else None
    return None
