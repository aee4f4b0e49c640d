"""Sleeps that take no time. Threads that other tests have left behind, such as those of an emulator, sleep as before."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest


def replace_sleep(monkeypatch: pytest.MonkeyPatch, instead: Callable[[float], object]) -> None:
    """Let `time.sleep` of this thread call something else."""
    thread, sleep = threading.current_thread(), time.sleep

    def replaced(seconds: float) -> None:
        if threading.current_thread() is thread:
            instead(seconds)
        else:
            sleep(seconds)

    monkeypatch.setattr(time, "sleep", replaced)
