"""`hyperpod check` without the parser of options: typer takes longer to load than all rules take to run."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hyperpod_constructs.cli.check import FailOn, FindingFormat, check
from hyperpod_constructs.cli.console import reported

_FORMAT, _FAIL_ON = "--format", "--fail-on"
_BROKEN_PIPE = 1


def plain_check(arguments: Sequence[str]) -> bool:
    """Run a check that is written in full: paths, and options with their values. Any other command is left to the parser.

    :param arguments: the command line, without the program.
    :raises SystemExit: as `check`; with code 1 also if nobody reads the output.
    """
    command = parsed(arguments)
    if command is None:
        return False
    try:
        reported(check)(command[0], form=command[1], fail_on=command[2])
        sys.stdout.flush()
    except BrokenPipeError:
        # Python writes the rest of the output when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(_BROKEN_PIPE) from None
    return True


def parsed(arguments: Sequence[str]) -> tuple[list[Path], FindingFormat, FailOn] | None:
    """The paths and options of a check, or `None` for what only the parser understands or refuses.

    :param arguments: as in `plain_check`.
    """
    words = iter(arguments)
    # On Windows, the parser also expands patterns of paths.
    if next(words, None) != "check" or os.name != "posix":
        return None
    paths, form, fail_on = list[Path](), FindingFormat.TEXT, FailOn.ERROR
    try:
        for word in words:
            if word == _FORMAT:
                form = FindingFormat(next(words, ""))
            elif word == _FAIL_ON:
                fail_on = FailOn(next(words, ""))
            elif word.startswith("-") or not word:
                return None
            else:
                paths.append(Path(word))
    except ValueError:
        return None
    return (paths, form, fail_on) if paths else None
