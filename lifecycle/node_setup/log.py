"""The log: one line per event with its time in UTC. A step has a start, an end, an outcome and a duration."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Iterator
from typing import TextIO


class Outcome:
    """The outcome of a step; `error` by default."""

    text = "error"


class Log:
    """Writes to a stream and flushes each line, so that a kill loses none."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def line(self, text: str) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        for part in text.splitlines() or [""]:
            self._stream.write(f"{now} node_setup {part}\n")
        self._stream.flush()

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[Outcome]:
        started = time.monotonic()
        self.line(f"start: {name}")
        outcome = Outcome()
        try:
            yield outcome
            if outcome.text == Outcome.text:
                outcome.text = "ok"
        finally:
            self.line(f"end: {name}: {outcome.text} after {time.monotonic() - started:.1f} s")


def silent() -> Log:
    """A log that nobody reads, for programs that run each minute."""
    return Log(io.StringIO())
