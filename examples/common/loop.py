"""The training loop of the jobs that restart from checkpoints."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Protocol

from torch import Tensor

from common import heartbeat
from common.files import write_atomically
from common.pause import Pause
from common.sample_log import SampleLog
from common.saver import Saver
from common.settings import Settings
from common.signals import StopRequest, requeue
from common.world import World

# The arguments are the samples of a step, and a function to call once before the step's first collective; the result is this rank's
# part of the mean loss.
TrainStep = Callable[[list[int], Callable[[], None]], Tensor]


class Plan(Protocol):
    def batch(self, step: int) -> list[int]:
        """The samples of a step."""
        ...


def train(
    settings: Settings,
    world: World,
    plan: Plan,
    saver: Saver,
    *,
    start: int,
    train_step: TrainStep,
    committed: Callable[[int], None] = lambda step: None,
) -> None:
    """Train until the last step. `committed` gets the number of steps whenever one is on record."""
    stop, pause = StopRequest(), Pause(settings.run_directory)
    log = SampleLog(settings.sample_file) if world.rank == 0 else None
    beat = heartbeat.find()
    if world.rank == 0:
        pause.end()
    logging.info("ready for step %d", start)
    for step in range(start, settings.steps):
        samples = plan.batch(step)
        part = train_step(samples, partial(beat.before, step))
        asked = [float(stop.requested), float(world.rank == 0 and pause.requested())]
        loss, stopping, pausing, busy, failures = world.sum([part, *asked, float(saver.busy), float(saver.failed)])
        beat.after(step)
        if step == start:
            world.expect_within(settings.collective_seconds)
        if log is not None:
            log.append(step, samples, loss, ranks=world.size)
        with beat.paused():
            committed(step + 1)
            save_if_due(settings, saver, step + 1, stopping=bool(stopping or pausing), busy=bool(busy), failures=int(failures))
        if (stopping or pausing) and step + 1 < settings.steps:
            saver.close()
            if not stopping:
                with beat.paused():
                    pause.hold(answering=world.rank == 0)
            elif world.rank == 0:
                requeue(settings.run_directory)
            return
        time.sleep(settings.pause_seconds)
    saver.close()
    if world.rank == 0:
        complete(settings, saver)


def complete(settings: Settings, saver: Saver) -> None:
    if settings.steps not in saver.store.steps():
        raise SystemExit(
            f"{saver.store.directory}: the last checkpoint could not be saved; make room, "
            "and the steps since the previous checkpoint run again"
        )
    write_atomically(settings.complete_file, "")


def save_if_due(settings: Settings, saver: Saver, step: int, *, stopping: bool, busy: bool, failures: int) -> None:
    """Save a checkpoint if one is due after `step` steps. It waits while the previous one is still being written."""
    last = stopping or step == settings.steps
    due = step % settings.checkpoint_every == 0
    if not busy:
        saver.settle(failures)
    elif due or last:
        saver.wait()
    if due or last:
        saver.start(step)
    if last:
        saver.wait()
