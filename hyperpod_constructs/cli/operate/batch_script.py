"""A batch script as text: where it gives `--auto-resume` to a command that does not know it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

LARGEST = 1024 * 1024
"""The largest script that is read, in bytes; slurmctld takes no larger one than a few MiB."""

_OPTION = re.compile(r"--auto-resume(=.*)?")
_DIRECTIVE = re.compile(r"#SBATCH\s+(.*)")
_SUBMITS = ("sbatch", "salloc")
_SEPARATORS = frozenset(";|&()")


def misplaced_options(text: str) -> Iterator[tuple[int, str]]:
    """The line and the warning for each `--auto-resume` on `sbatch`, `salloc` or a `#SBATCH` line.

    On HyperPod it is an option of `srun`: only a step is started again. Elsewhere it is ignored or refused.
    """
    for number, line in _logical_lines(text):
        directive = _DIRECTIVE.fullmatch(line.strip())
        if directive is not None:
            where = "#SBATCH" if any(map(_OPTION.fullmatch, _words(directive[1]))) else None
        elif line.lstrip().startswith("#"):
            continue
        else:
            where = next((command[0] for command in _commands(line) if any(map(_OPTION.fullmatch, command[1:]))), None)
        if where is not None:
            yield (
                number,
                f"--auto-resume on {where} has no effect: HyperPod starts steps again, not jobs; write it on the srun in the "
                "script: srun --auto-resume=1 ...",
            )


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with those that a backslash continues, by the number of the first."""
    start, parts = 1, []  # type: int, list[str]
    for number, line in enumerate(text.splitlines(), start=1):
        if not parts:
            start = number
        comment = line.lstrip().startswith("#") and not parts
        if line.endswith("\\") and not comment:
            parts.append(line[:-1])
            continue
        yield start, " ".join([*parts, line])
        parts = []
    if parts:
        yield start, " ".join(parts)


def _commands(line: str) -> Iterator[list[str]]:
    """The calls of sbatch and salloc in a line, each with its words up to the next command."""
    words = _words(line)
    for index, word in enumerate(words):
        if word.rpartition("/")[2] in _SUBMITS:
            rest = words[index + 1 :]
            end = next((at for at, other in enumerate(rest) if other and set(other) <= _SEPARATORS), len(rest))
            yield [word.rpartition("/")[2], *rest[:end]]


def _words(text: str) -> list[str]:
    """The words of a shell; of a line that does not end its quotation, the words between blanks."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return text.split()
