"""Waits for the work of other programs, with a deadline and a clock that tests replace."""

from __future__ import annotations

import time
from typing import Callable

from node_setup.errors import NodeSetupError


class Clock:
    def monotonic(self) -> float:
        return time.monotonic()

    def time(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def wait_until(condition: Callable[[], bool], what: str, seconds: float, clock: Clock, pause: float = 2.0) -> None:
    """Wait until `condition` holds.

    :raises NodeSetupError: with `what`, after `seconds`.
    """
    deadline = clock.monotonic() + seconds
    while not condition():
        if clock.monotonic() + pause > deadline:
            raise NodeSetupError(f"{what} (waited {seconds:.0f} s)")
        clock.sleep(pause)
