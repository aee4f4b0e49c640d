"""The work of a function, the same on any machine: how many functions it calls."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Work:
    """The calls of Python functions, and of built-in ones."""

    calls: int = 0
    built_in: int = 0


@contextmanager
def counted() -> Iterator[Work]:
    """Count the calls in a block."""
    work = Work()

    def count(frame: object, event: str, argument: object) -> None:
        if event == "call":
            work.calls += 1
        elif event == "c_call":
            work.built_in += 1

    sys.setprofile(count)
    try:
        yield work
    finally:
        sys.setprofile(None)


def calls(function: Callable[[], object]) -> int:
    """The number of calls of Python functions while a function runs."""
    with counted() as work:
        function()
    return work.calls
