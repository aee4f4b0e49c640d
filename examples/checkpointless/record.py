"""Records that outlive the groups: logs of committed steps, checkpoints, and the mark of a complete job."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import torch
from common.checkpoints import Store, seal
from common.files import write_atomically
from common.sample_log import SampleLog, merge
from common.saver import describe
from common.settings import Settings
from common.state import write_copy
from group import Place
from torch import nn

LOGS = "samples-group-*.jsonl"


class Recorder:
    """Every participating group logs its committed steps, so that a step stays on record even if its leader dies.

    The first participant is the leader and writes the checkpoints.
    """

    def __init__(self, settings: Settings, place: Place) -> None:
        self.settings = settings
        self.first_rank = place.rank == 0
        self.leads = False
        self.store = Store(settings.checkpoint_directory, settings.keep)
        self.token = f"{os.uname().nodename}-{os.getpid()}"
        self.log = SampleLog(settings.run_directory / LOGS.replace("*", str(place.group))) if self.first_rank else None
        self.executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="checkpoint")
        self.saving: Future[None] | None = None
        self.saved = 0

    def all_logs(self) -> list[Path]:
        return sorted(self.settings.run_directory.glob(LOGS))

    def committed(
        self,
        step: int,
        samples: Sequence[int],
        loss: float,
        participant: int | None,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
    ) -> None:
        self.leads = participant == 0 and self.first_rank
        if self.log is not None and participant is not None:
            self.log.append(step, samples, loss, participant=participant)
        if self.leads and (step + 1) % self.settings.checkpoint_every == 0:
            self.save(step + 1, model, optimizer)

    def save(self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Copy the state now and write it in the background, one checkpoint at a time."""
        if self.saving is not None:
            self.saving.result()
        if step == self.saved:
            return
        directory = self.store.partial(step, self.token)
        write = write_copy(directory, model, optimizer)
        self.saving = self.executor.submit(self.write, step, directory, write)

    def write(self, step: int, directory: Path, write: Callable[[], Iterable[Path]]) -> None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            seal(directory, 0, write())
            self.store.commit(step, self.token)
            self.saved = step
            self.store.retain()
            logging.info("checkpoint of step %d saved", step)
        except (OSError, RuntimeError) as error:
            self.store.discard(step, self.token)
            logging.error("checkpoint of step %d was not saved, the previous one stays: %s", step, describe(error))

    def save_now(self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        if self.leads:
            self.save(step, model, optimizer)
        self.executor.shutdown(wait=True)

    def complete(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Save the final state as the leader. If the leader dies meanwhile, another group saves the same state."""
        if not self.first_rank:
            return
        if not self.leads:
            self.leads = not self.appears(self.settings.complete_file)
        if self.leads:
            self.save_now(self.settings.steps, model, optimizer)
            if self.settings.steps not in self.store.steps():
                raise SystemExit(
                    f"{self.store.directory}: the last checkpoint could not be saved; make room and submit the job again"
                )
            merged = merge(self.all_logs())
            write_atomically(self.settings.sample_file, "".join(f"{line}\n" for line in map(json.dumps, merged)))
            write_atomically(self.settings.complete_file, "")

    def appears(self, path: Path) -> bool:
        deadline = time.monotonic() + self.settings.collective_seconds
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.2)
        return path.exists()
