"""A result that follows the cluster: in a terminal in its place, in a pipe once after each change."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import time
from collections.abc import Callable
from typing import Annotated

import typer

Watch = Annotated[bool, typer.Option("--watch", help="Show it again and again, until Ctrl-C.")]
Every = Annotated[float, typer.Option("--every", metavar="SECONDS", min=1, help="Seconds between two looks, with --watch.")]
EVERY = 5.0

_HOME, _REST_OF_LINE, _REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"


class _Captured(io.StringIO):
    """Text for the terminal, collected."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return sys.__stdout__.encoding if sys.__stdout__ is not None else "utf-8"

    def isatty(self) -> bool:
        return True


def show(draw: Callable[[], None], *, watch: bool, every: float, sleep: Callable[[float], None] = time.sleep) -> None:
    """Draw once, or until the user interrupts.

    :param draw: prints the result.
    :param watch: whether to draw again.
    :param every: seconds between two looks.
    """
    if not watch:
        draw()
        return
    in_place = sys.stdout.isatty()
    before = None
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            text = _drawn(draw, terminal=in_place)
            if in_place:
                sys.stdout.write(_screen(text))
            elif text != before:
                sys.stdout.write(text)
            sys.stdout.flush()
            before = text
            sleep(every)


def _drawn(draw: Callable[[], None], *, terminal: bool) -> str:
    captured = _Captured() if terminal else io.StringIO()
    with contextlib.redirect_stdout(captured):
        draw()
    return captured.getvalue()


def _screen(text: str) -> str:
    """The text in the place of what was there before; what does not fit is counted."""
    lines, height = text.splitlines(), shutil.get_terminal_size().lines - 1
    if len(lines) > height:
        lines = [*lines[: height - 1], f"and {len(lines) - height + 1} more lines"]
    return _HOME + "".join(f"{line}{_REST_OF_LINE}\n" for line in lines) + _REST_OF_SCREEN
