"""Work that calls other services, outside the service's lock: a cluster of thousands of nodes blocks no caller."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

log = logging.getLogger(__name__)


class Task:
    """One piece of such work."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._ended = threading.Event()

    @property
    def done(self) -> bool:
        """Whether it has ended, however it did."""
        return self._ended.is_set()

    def run(self) -> None:
        """Do it. An error is logged: `work` says itself to whom it matters."""
        try:
            self._work()
        except Exception:  # whatever it is, the cluster goes on
            log.exception("a task failed")
        finally:
            self._ended.set()


class Tasks(Protocol):
    """Does tasks, one after another in the order in which they were asked for."""

    def begin(self, work: Callable[[], None]) -> Task:
        """Take the work on."""

    def wait(self) -> None:
        """Return when everything that was taken on has ended."""


class AtOnce:
    """Does each task while the caller waits: nothing happens behind the back of a test."""

    def begin(self, work: Callable[[], None]) -> Task:
        """Do the work now."""
        task = Task(work)
        task.run()
        return task

    def wait(self) -> None:
        """Nothing is left."""


class InThread:
    """Does tasks in a thread of its own."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tasks")

    def begin(self, work: Callable[[], None]) -> Task:
        """Take the work on, and return at once."""
        task = Task(work)
        self._thread.submit(task.run)
        return task

    def wait(self) -> None:
        """Return when everything that was taken on has ended."""
        self._thread.submit(int).result()
