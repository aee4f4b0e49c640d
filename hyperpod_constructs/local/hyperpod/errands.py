"""Work that calls other services, done behind the service's lock: a cluster of thousands of nodes makes nobody wait."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

log = logging.getLogger(__name__)


class Errand:
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
            log.exception("an errand failed")
        finally:
            self._ended.set()


class Errands(Protocol):
    """Does errands, one after another in the order in which they were asked for."""

    def begin(self, work: Callable[[], None]) -> Errand:
        """Take the work on."""

    def wait(self) -> None:
        """Return when everything that was taken on has ended."""


class AtOnce:
    """Does each errand while the caller waits: nothing happens behind the back of a test."""

    def begin(self, work: Callable[[], None]) -> Errand:
        """Do the work now."""
        errand = Errand(work)
        errand.run()
        return errand

    def wait(self) -> None:
        """Nothing is left."""


class Behind:
    """Does errands in a thread of its own."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="errands")

    def begin(self, work: Callable[[], None]) -> Errand:
        """Take the work on, and return at once."""
        errand = Errand(work)
        self._thread.submit(errand.run)
        return errand

    def wait(self) -> None:
        """Return when everything that was taken on has ended."""
        self._thread.submit(int).result()
