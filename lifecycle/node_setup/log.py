"""The log: one line per event with its time in UTC; a step has a start, an end, an outcome and its seconds."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TextIO


class Log:
    """Writes to a stream and flushes each line, so that a kill loses none."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def line(self, text: str) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._stream.write(f"{now} node_setup {text}\n")
        self._stream.flush()

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        started = time.monotonic()
        self.line(f"start: {name}")
        outcome = "error"
        try:
            yield
            outcome = "ok"
        finally:
            self.line(f"end: {name}: {outcome} after {time.monotonic() - started:.1f} s")
