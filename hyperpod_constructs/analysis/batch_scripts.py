"""Batch scripts of Slurm: the options that `sbatch` reads in their comments, and those that it passes over.

>>> [(one.name, one.value, one.late) for one in read_batch("#SBATCH -N 2 # two\\ntrue\\n#SBATCH --requeue\\n").options]
[('nodes', '2', False), ('requeue', '', True)]

Source: https://slurm.schedmd.com/sbatch.html
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hyperpod_constructs.facts.slurm_options import SBATCH, SHORT, WITHOUT_VALUE

_MAGIC = "#SBATCH"
_COMPONENTS = ("hetjob", "packjob")
"""Words between the jobs of a heterogeneous one."""
_DOCUMENT = re.compile(r"<<-?\s*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote)")
"""The begin of a text for a command, which may be another batch script."""


class Option(NamedTuple):
    """An option in a comment.

    :param name: the word of an option with a letter too; as it stands if `sbatch` has none of this name.
    :param value: empty for an option without a value.
    :param late: whether it stands behind the first command, where `sbatch` passes over it.
    """

    name: str
    value: str
    line: int
    late: bool


class Batch(NamedTuple):
    """What a batch script asks for.

    :param heterogeneous: whether it is several jobs, each with options of its own.
    """

    options: tuple[Option, ...]
    heterogeneous: bool

    def value(self, name: str) -> str | None:
        """The value of an option; the last one counts."""
        return next((one.value for one in reversed(self.options) if one.name == name and not one.late), None)


def read_batch(text: str) -> Batch | None:
    """The options of a script for a shell; `None` if no comment of it is for `sbatch`."""
    if _MAGIC not in text:
        return None
    lines = list(_comments(text))
    options = tuple(option for words, line, late in lines for option in _options(words, line, late=late))
    return Batch(options, any(word in _COMPONENTS for words, _, _ in lines for word in words)) if lines else None


def _comments(text: str) -> Iterator[tuple[list[str], int, bool]]:
    """The words in the comments for `sbatch`, each with its line and whether a command is before it; none in texts of commands."""
    late, end, is_open = False, "", False
    for number, line in enumerate(text.splitlines(), start=1):
        if end:
            end = "" if line.strip() == end else end
        elif line.startswith(_MAGIC) and not is_open:
            yield _words(line[len(_MAGIC) :]), number, late
        elif is_open or (line.strip() and not line.lstrip().startswith("#")):
            late, found = True, _DOCUMENT.search(line)
            end = found["end"] if found is not None else ""
            is_open ^= any(line.count(quote) % 2 for quote in ("'", '"'))


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return []


def _options(words: Sequence[str], line: int, *, late: bool) -> Iterator[Option]:
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word.startswith("--"):
            written, equals, value = word[2:].partition("=")
            name = _whole(written)
        elif word.startswith("-") and len(word) > 1:
            name, value = SHORT.get(word[1], word[1]), word[2:]
            equals = value
        else:
            continue
        takes = name in SBATCH and name not in WITHOUT_VALUE and not equals
        yield Option(name, waiting.pop(0) if takes and waiting else value, line, late)


def _whole(written: str) -> str:
    """The name of an option of which the first letters are written."""
    found = [one for one in SBATCH if one.startswith(written)]
    return found[0] if len(found) == 1 and written not in SBATCH else written
