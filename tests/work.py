"""The work of a function, the same on any machine: how many functions it calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from cProfile import Profile
from dataclasses import dataclass


@dataclass
class Work:
    """The calls of Python functions, and of built-in ones, once a block has ended."""

    calls: int = 0
    built_in: int = 0


@contextmanager
def counted() -> Iterator[Work]:
    """Count the calls in a block; in C, as a function of Python for each call would take most of the time."""
    work, profile = Work(), Profile()
    profile.enable()
    try:
        yield work
    finally:
        profile.disable()
        for entry in profile.getstats():
            if isinstance(entry.code, str):
                work.built_in += entry.callcount
            else:
                work.calls += entry.callcount


def calls(function: Callable[[], object]) -> int:
    """The number of calls of Python functions while a function runs."""
    with counted() as work:
        function()
    return work.calls
