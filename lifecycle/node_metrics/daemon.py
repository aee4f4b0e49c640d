"""Looks at the node at each interval, and passes what it sees on.

Nodes spread over the interval, each at a moment of its own, so that thousands do not call at the same second.
"""

from __future__ import annotations

import sys
import zlib

from node_health.bounds import shown
from node_health.checks.context import Context
from node_health.memory import Memory
from node_health.settings import Settings
from node_health.system import System
from node_setup.software import Metrics

from node_metrics import cloudwatch, exposition
from node_metrics.catalogue import Sample
from node_metrics.figures import Reading, figures
from node_metrics.identity import Identity
from node_metrics.readers import READERS, ReaderError
from node_metrics.remote_write import Writer
from node_metrics.server import Page

BUDGET_SECONDS = 25.0


class Daemon:
    def __init__(self, system: System, settings: Metrics, who: Identity, page: Page) -> None:
        self._system = system
        self._settings = settings
        self._who = who
        self._page = page
        self._memory = Memory(system)
        self._before: Reading | None = None
        self._writer = None if settings.remote_write is None else Writer(system, settings.remote_write, who)
        self._said: dict[str, str | None] = {}

    def forever(self) -> None:
        while True:
            self.look()
            self._system.sleep(pause(self._system.now(), self._settings.interval_seconds, self._who.instance_id))

    def look(self) -> None:
        """One look: the page, CloudWatch and the remote Prometheus get the same samples."""
        context = Context(self._system, Settings(), self._memory, None, self._system.monotonic() + BUDGET_SECONDS)
        reading = Reading(self._system.now(), self._read(context))
        self._page.text = exposition.text(reading.samples)
        if self._settings.cloudwatch is not None:
            put = cloudwatch.put(context, self._settings.cloudwatch, self._who, figures(reading, self._before))
            self._say("CloudWatch", put)
        if self._writer is not None:
            self._say("remote write", self._writer.write(reading.samples))
        self._before = reading

    def _read(self, context: Context) -> list[Sample]:
        samples: list[Sample] = []
        for name in self._settings.sets:
            problem: str | None = None
            try:
                samples += READERS[name](context)
            except ReaderError as error:
                problem = str(error)
            except Exception as error:  # one broken reader must not silence the others
                problem = f"{type(error).__name__}: {error}"
            samples.append(Sample("hyperpod_reader_up", {"reader": name}, float(problem is None)))
            self._say(name, problem)
        return samples

    def _say(self, what: str, problem: str | None) -> None:
        """Log a problem when it changes, and its end."""
        if self._said.get(what) != problem:
            sys.stderr.write(f"{what}: {'works again' if problem is None else shown(problem)}\n")
        self._said[what] = problem


def pause(now: float, interval: int, name: str) -> float:
    """Seconds to this node's next moment in the interval."""
    return interval - (now - zlib.crc32(name.encode()) % interval) % interval
