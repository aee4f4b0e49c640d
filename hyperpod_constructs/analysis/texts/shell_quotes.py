"""Quotes in scripts that make another text of what stands in them: patterns of files, and texts that are filled in too early.

Sources: https://www.gnu.org/software/bash/manual/bash.html#Filename-Expansion and
https://www.gnu.org/software/bash/manual/bash.html#Here-Documents
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.written_texts import WrittenText, texts_written
from hyperpod_constructs.facts.files_of_users import FILES_OF_USERS
from hyperpod_constructs.facts.texts import Language

_TAKING_FILES = (
    *(
        ".",
        "bash",
        "bzip2",
        "cat",
        "chgrp",
        "chmod",
        "chown",
        "cp",
        "dpkg",
        "gunzip",
        "gzip",
        "head",
        "install",
        "ln",
        "ls",
        "md5sum",
    ),
    *("mv", "rm", "rmdir", "sha256sum", "shred", "source", "sort", "tail", "touch", "truncate", "unlink", "wc", "xz", "zcat"),
)
"""Commands whose words are files, by their names."""
_PATTERN = re.compile(r"[^\s]*/[^/\s]*\*[^\s]*")
_MOST_LINES = 10
"""Most lines of a command."""
_OF_USER = re.compile(
    r"(?<!\\)(?:\$\(\s*(?:id\s+-[ugn]+|whoami)\s*\)|`\s*(?:id\s+-[ugn]+|whoami)\s*`|\$\{?(?:E?UID|HOME|LOGNAME|USER)\b\}?)"
)
"""What is another text for each user."""


def of_script(script: Script) -> Slips:
    """The first quote in a script that makes another text."""
    return list(_slips(script, script.run))[:1] if script.run is not None else ()


def _slips(script: Script, run: Run) -> Iterator[Slip]:
    lines = script.text.split("\n")
    for command in (one for one in run.commands if one.name in _TAKING_FILES):
        yield from _quoted_pattern(command, lines)
    for text in texts_written(run):
        yield from _filled_too_early(text, lines)


def _quoted_pattern(command: Command, lines: list[str]) -> Iterator[Slip]:
    """A pattern of files within quotes, which is the name of a file there."""
    ended = lines[max(command.line - _MOST_LINES, 0) : command.line]
    for piece in (piece for word in command.arguments for piece in word if isinstance(piece, str) and _PATTERN.fullmatch(piece)):
        places = [(line, line.find(piece)) for line in ended if piece in line]
        if len(piece) > 1 and places and all(_is_quoted(line, place + len(piece) - 1) for line, place in places):
            says = f"the script has the pattern {piece} within quotes in line {command.line}"
            yield Slip(f"{says}: {command.name} looks for a file of this name", "the pattern behind the quotes", dead=True)


def _is_quoted(line: str, end: int) -> bool:
    """Whether a place in a line is within quotes."""
    quote, escaped = "", False
    for character in line[:end]:
        if escaped:
            escaped = False
        elif character == "\\" and quote != "'":
            escaped = True
        elif character in ("'", '"') and quote in ("", character):
            quote = "" if quote else character
    return quote != ""


def _filled_too_early(text: WrittenText, lines: list[str]) -> Iterator[Slip]:
    """A text behind `<<` for all users, in which the shell of root fills in its own."""
    if text.literal or not any(pattern.search(text.place) for pattern in FILES_OF_USERS):
        return
    for number, line in enumerate(lines[text.line - 1 : text.line - 1 + text.text.count("\n")], text.line):
        found = _OF_USER.search(line)
        if found is not None and _begins_behind(lines, text.line):
            says = f"the script writes {text.place} with {found[0]} of its own user, in line {number}: that is root's for everybody"
            yield Slip(says, f"\\{found[0]}, or a word in quotes behind <<", dead=True)


def _begins_behind(lines: list[str], line: int) -> bool:
    """Whether a text behind `<<` begins in a line."""
    return line > 1 and "<<" in lines[line - 2]


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(None, of_script)
