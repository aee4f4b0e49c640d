"""Output of every command: plain lines in a pipe, steps with their time, errors as one message."""

from __future__ import annotations

import codecs
import functools
import io
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ParamSpec, TextIO

from hyperpod_constructs._support.printable import printable, printable_lines

# A check or a plan printed as JSON needs no rich, and is faster without it.
if TYPE_CHECKING:
    from rich.console import Console

_P = ParamSpec("_P")
_PIPE_WIDTH = 10_000
_NARROWEST = 40
INTERRUPTED = 130


class CliError(ValueError):
    """A mistake of the user or a failed step. It is shown as one message without a traceback; the exit code is 1."""


class Interrupted(Exception):  # noqa: N818
    """An interruption by the user, with what became of the work. The exit code is 130."""


_IN_ASCII = {"…": "...", "─": "-", "→": "->"}


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """A likeness for each character that the encoding lacks, else its Python escape."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_IN_ASCII.get(char) or char.encode("unicode_escape").decode("ascii") for char in text), error.end


def make_encodable(*streams: TextIO) -> None:
    """Let these streams print every text, whatever their encoding: a terminal need not know UTF-8."""
    codecs.register_error("hyperpod", _replaced)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="hyperpod")


def stdout() -> Console:
    """The console for results. It is as wide as the terminal; in a pipe it folds at COLUMNS, and not at all without."""
    return _console(stderr=False)


def _console(*, stderr: bool) -> Console:
    from rich.console import Console, ConsoleDimensions

    console = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = _columns() or _PIPE_WIDTH
    elif console.is_dumb_terminal:
        # rich takes such a terminal for 80 columns wide, whatever its size.
        console.size = ConsoleDimensions(*shutil.get_terminal_size())
    return console


def folds() -> bool:
    """Whether results are folded: in a terminal, and in a pipe if COLUMNS says how wide."""
    return is_terminal() or _columns() is not None


def is_terminal() -> bool:
    """Whether results go to a terminal; variables may call a pipe one. A plain pipe needs no rich for the answer."""
    asked = sys.stdout.isatty() or any(name in os.environ for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))
    return asked and stdout().is_terminal


def _columns() -> int | None:
    given = os.environ.get("COLUMNS", "")
    return max(int(given), _NARROWEST) if given.isdecimal() and len(given) < 5 and int(given) else None


def say(text: str = "", *, style: str | None = None) -> None:
    """Print one line without folding it, so that a copied command stays whole."""
    if style is None or not is_terminal():
        # rich takes a tenth of a millisecond for it.
        sys.stdout.write(f"{printable(text)}\n")
    else:
        stdout().print(printable(text), style=style, soft_wrap=True)


@contextmanager
def if_interrupted(sentence: str) -> Iterator[None]:
    """Say this if the user interrupts the block.

    :raises Interrupted: with the sentence.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(sentence) from None


@contextmanager
def step(title: str) -> Iterator[None]:
    """Show the start of a step, and its seconds at the end."""
    started = time.monotonic()
    say(f"{title} …")
    yield
    say(f"{title}: {time.monotonic() - started:.1f} s")


def reported(command: Callable[_P, None]) -> Callable[_P, None]:
    """Turn a mistake of the user, a refusal of AWS or an interruption into one message and an exit code."""

    @functools.wraps(command)
    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except Interrupted as interruption:
            _fail(f"interrupted; {interruption}", INTERRUPTED)
        except CliError as error:
            _fail(str(error), 1)
        except KeyboardInterrupt:
            _fail("interrupted; what was started may still be running", INTERRUPTED)
        except Exception as error:
            if not is_aws_error(error):
                raise
            _fail(f"AWS answered: {error}", 1)

    return guarded


def is_aws_error(error: Exception) -> bool:
    """Whether AWS refused a request or could not be reached."""
    botocore = sys.modules.get("botocore.exceptions")
    return botocore is not None and isinstance(error, (botocore.BotoCoreError, botocore.ClientError))


def _fail(message: str, code: int) -> None:
    _console(stderr=True).print(printable_lines(f"hyperpod: {message}"), style="red", soft_wrap=True)
    raise SystemExit(code)
