"""How long tests wait for what must come: so long that only a hang ends a wait, whatever else the machine does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import pytest

PATIENCE = 600.0
"""In seconds. A test whose subject is a limit of time has a limit of its own."""
_PAUSE = 0.2
T = TypeVar("T")


def until(look: Callable[[], T | None], what: str = "what is awaited", found: Callable[[], object] | None = None) -> T:
    """Look again and again until `look` gives something else than None or False, and return it.

    :param what: its name, for the failure.
    :param found: reads how things stand, for the failure.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        seen = look()
        if seen is not None and seen is not False:
            return seen
        if time.monotonic() > deadline:
            pytest.fail(f"{what}: not within {PATIENCE:.0f} s" + (f"; found {found()}" if found else ""))
        time.sleep(_PAUSE)
