"""Lets time pass for services between calls."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

PAUSE_SECONDS = 1.0


class Ticker:
    """A thread that calls `tend` once a second until it is stopped. An error is logged, and does not end it."""

    def __init__(self, tend: Callable[[], None]) -> None:
        self._tend = tend
        self._stopped = threading.Event()
        threading.Thread(target=self._run, name="ticker", daemon=True).start()

    def stop(self) -> None:
        """Call no more; a call on the way goes on."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(PAUSE_SECONDS):
            try:
                self._tend()
            except Exception:  # whatever it is, the next call may do better
                logging.getLogger(__name__).exception("tending")
