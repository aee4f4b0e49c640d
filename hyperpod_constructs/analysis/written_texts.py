"""Texts that scripts of a shell write into files: behind `<<`, or by `echo` and `printf`.

Source: https://www.gnu.org/software/bash/manual/bash.html#Redirections
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Word
from hyperpod_constructs.templates.values import parts_of

_WRITING, _SAYING = ("cat", "tee"), ("echo", "printf")
HOLE = "?"
"""What stands for a part that is not known."""


class WrittenText(NamedTuple):
    """A text for a file.

    :param places: words of which one is the path.
    :param literal: whether it is a text behind `<<` that the shell leaves as it is.
    """

    places: tuple[str, ...]
    text: str
    line: int
    literal: bool = False


def texts_written(run: Run) -> Iterator[WrittenText]:
    """The texts that the commands of a script write into files."""
    for command, behind in itertools.pairwise((*run.commands, *run.commands[-1:])):
        if command.name in _SAYING and command.read:
            words = [text_of(word, run) for word in command.arguments]
            places = tuple(text_of(word, run) for word in command.read)
            yield WrittenText(places, " ".join(one for one in words if one not in ("-e", "-n")), command.line)
        elif command.name in _WRITING and not behind.words and behind.read:
            places = tuple(text_of(word, run) for word in (*command.read, *command.arguments))
            yield WrittenText(places, text_of(behind.read[0], run), behind.line, behind.literal)


def text_of(word: Word, run: Run) -> str:
    """The characters of a word, with a question mark for each part that is not known."""
    return "".join(part if isinstance(part, str) else HOLE for part in parts_of(run.value(word)))
