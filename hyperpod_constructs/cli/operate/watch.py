"""A result that follows the cluster: in a terminal in its place, in a pipe once after each change."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import textwrap
import time
from collections.abc import Callable
from typing import Annotated

import typer

from hyperpod_constructs._support.printable import printable
from hyperpod_constructs.cli.console import INTERRUPTED
from hyperpod_constructs.cli.operate.patience import Patience

Watch = Annotated[bool, typer.Option("--watch", help="Show it again and again, until Ctrl-C.")]
Every = Annotated[float, typer.Option("--every", metavar="SECONDS", min=1, help="Seconds between two looks, with --watch.")]
EVERY = 5.0

_HOME, _REST_OF_LINE, _REST_OF_SCREEN, _PLAIN = "\x1b[H", "\x1b[K", "\x1b[J", "\x1b[0m"


class _Captured(io.StringIO):
    """Text for the terminal, collected."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return sys.__stdout__.encoding if sys.__stdout__ is not None else "utf-8"

    def isatty(self) -> bool:
        return True


def show(draw: Callable[[], None], *, watch: bool, every: float, sleep: Callable[[float], None] = time.sleep) -> None:
    """Draw once, or until the user interrupts; then the exit code is 130.

    Faults of AWS that pass, such as throttling, do not end it: they stand below the last picture, or go to standard error.

    :param draw: prints the result.
    :param watch: whether to draw again.
    :param every: seconds between two looks.
    """
    if not watch:
        draw()
        return
    in_place = sys.stdout.isatty()
    try:
        _follow(draw, Patience(every), in_place=in_place, sleep=sleep)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    finally:
        if in_place:
            sys.stdout.write(_PLAIN)


def _follow(draw: Callable[[], None], patience: Patience, *, in_place: bool, sleep: Callable[[float], None]) -> None:
    shown, told = "", None
    while True:
        text = patience.look(lambda: _drawn(draw, terminal=in_place))
        if in_place:
            sys.stdout.write(_screen(shown if text is None else text, patience.fault))
        elif text not in (None, shown):
            sys.stdout.write(text or "")
        sys.stdout.flush()
        if not in_place and patience.fault not in (None, told):
            typer.echo(f"hyperpod: {patience.fault}", err=True)
        shown, told = shown if text is None else text, patience.fault
        sleep(patience.pause)


def _drawn(draw: Callable[[], None], *, terminal: bool) -> str:
    captured = _Captured() if terminal else io.StringIO()
    with contextlib.redirect_stdout(captured):
        draw()
    return captured.getvalue()


def _screen(text: str, fault: str | None) -> str:
    """The text in the place of what was there before, with a fault below it; what does not fit is counted."""
    size = shutil.get_terminal_size()
    below = [] if fault is None else ["", *textwrap.wrap(printable(fault), size.columns)]
    lines, height = text.splitlines(), size.lines - 1 - len(below)
    if len(lines) > height:
        lines = [*lines[: height - 1], f"and {len(lines) - height + 1} more lines"]
    return _HOME + "".join(f"{line}{_REST_OF_LINE}\n" for line in [*lines, *below]) + _REST_OF_SCREEN
