"""Asynchronous checkpoints: the step waits for a copy in memory, and a thread does the rest."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from common.checkpoints import Store, seal
from common.world import World

# Called in the step with the directory. It copies the state and returns the work of the thread, which writes this rank's files and
# returns their names.
Snapshot = Callable[[Path], Callable[[], Iterable[Path]]]


class Saver:
    """The checkpoints of all ranks. Each step sums `busy` and `failed` over the ranks, so that all agree on the outcome."""

    def __init__(self, store: Store, world: World, snapshot: Snapshot) -> None:
        self.store = store
        self.world = world
        self.snapshot = snapshot
        self.token = str(world.from_first(f"{os.uname().nodename}-{os.getpid()}"))
        self.executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="checkpoint")
        self.writing: Future[None] | None = None
        self.cleaning: Future[None] | None = None
        self.step = 0

    @property
    def busy(self) -> bool:
        return self.writing is not None and not self.writing.done()

    @property
    def failed(self) -> bool:
        return self.writing is not None and self.writing.done() and self.writing.exception() is not None

    def start(self, step: int) -> None:
        """Begin the checkpoint of the state after `step` steps; the previous one must be settled."""
        self.step = step
        directory = self.store.partial(step, self.token)
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            logging.error("checkpoint of step %d: %s", step, error)
        write = self.snapshot(directory)
        self.writing = self.executor.submit(lambda: seal(directory, self.world.rank, write()))

    def settle(self, failures: int) -> None:
        """Make the checkpoint valid once all ranks have stopped writing, or drop it and keep the previous one."""
        if self.writing is None:
            return
        error = self.writing.exception()
        self.writing = None
        if error is not None:
            logging.error("checkpoint of step %d was not saved, the previous one stays: %s", self.step, describe(error))
        if self.world.rank == 0:
            self.finish(failures)

    def finish(self, failures: int) -> None:
        try:
            if failures:
                self.store.discard(self.step, self.token)
                return
            self.store.commit(self.step, self.token)
        except OSError as error:
            self.store.discard(self.step, self.token)
            logging.error("checkpoint of step %d was not saved, the previous one stays: %s", self.step, error)
            return
        logging.info("checkpoint of step %d saved", self.step)
        self.cleaning = self.executor.submit(self.store.retain)

    def wait(self) -> None:
        """Wait until every rank has written, and settle."""
        if self.writing is not None:
            self.writing.exception()
        (failures,) = self.world.sum([float(self.failed)])
        self.settle(int(failures))

    def close(self) -> None:
        self.executor.shutdown(wait=True)


def describe(error: BaseException) -> str:
    """The kind of an error and its cause: its last line, because an error may contain those of other ranks."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"
