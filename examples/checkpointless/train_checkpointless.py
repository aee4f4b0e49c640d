"""Recovery from a healthy replica's memory (torchft): after the loss of a group, the others neither restart nor read a checkpoint.

Checkpoints are still written. The job reads them if no group has the state, after the loss of the lighthouse's host or of too many
groups.
"""

from __future__ import annotations

import logging
import os
import time
from contextlib import nullcontext
from typing import Any

import torch
from common import eager, heartbeat
from common.checkpoints import verify
from common.data import Plan, TokenFile, chunks, share
from common.model import build, size_of
from common.restore import refuse_if_lost
from common.sample_log import progress
from common.settings import Settings, parse
from common.signals import StopRequest, requeue
from common.state import apply, collect, load_state
from group import Group, Place, replicate
from record import Recorder
from torch import Tensor


class Trainer:
    def __init__(self, settings: Settings, group: Group) -> None:
        size = size_of(settings.model)
        self.settings = settings
        self.group = group
        self.data = TokenFile(settings.data, size.context, size.vocabulary)
        self.plan = Plan(self.data.samples, settings.global_batch, settings.seed)
        self.model = build(settings.model, settings.seed, group.device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=settings.learning_rate)
        self.manager = group.manage(self.load, lambda: collect(self.model, self.optimizer))
        self.replica = replicate(self.model, group, self.manager)
        self.stop = StopRequest()
        self.beat = heartbeat.find()
        self.recorder = Recorder(settings, group.place)
        self.fresh = True
        self.stopping = False
        self.again = False

    def load(self, state: Any) -> None:
        """Load the state of a healthy group; the manager calls this."""
        apply(state, self.model, self.optimizer)
        logging.info("healed at step %d from another group's memory", self.manager.current_step())

    def run(self) -> None:
        while self.manager.current_step() < self.settings.steps:
            with self.beat.paused():
                self.manager.start_quorum()
            if self.again:
                logging.info("step %d is done again by %d groups", self.manager.current_step(), self.manager.num_participants())
            if self.manager.current_step() == 0 and self.fresh and self.restore():
                continue
            if self.step() and self.stopping:
                self.recorder.save_now(self.manager.current_step(), self.model, self.optimizer)
                if self.recorder.leads:
                    requeue(self.settings.run_directory)
                return
            time.sleep(self.settings.pause_seconds)
        self.recorder.complete(self.model, self.optimizer)

    def restore(self) -> bool:
        """Load the newest good checkpoint, because no group in this quorum has a state, and return whether there was one."""
        self.fresh = False
        store = self.recorder.store
        step = next((step for step in store.steps() if verify(store.path(step))), None)
        if step is None:
            refuse_if_lost(self.settings, progress(self.recorder.all_logs()))
            return False
        load_state(store.path(step), self.model, self.optimizer, self.group.device)
        self.manager.load_state_dict({"step": step, "batches_committed": step * self.group.place.active_groups})
        logging.info("restored step %d from the checkpoint: no group had the state", step)
        return True

    def step(self) -> bool:
        """Run a step, and return whether it was committed; otherwise the next quorum repeats it with the same samples."""
        step = self.manager.current_step()
        samples = self.plan.batch(step)
        part = self.gradients(samples)
        totals = self.group.sum(
            self.manager, torch.stack([part, torch.tensor(float(self.stop.requested), device=self.group.device)])
        )
        self.beat.after(step)
        participant = self.manager.participating_rank()
        self.again = not self.manager.should_commit()
        if self.again:
            logging.warning("step %d was not committed", step)
            return False
        self.optimizer.step()
        loss, stopping = totals.tolist()
        self.stopping = stopping > 0
        self.recorder.committed(step, samples, loss, participant, self.model, self.optimizer)
        return True

    def gradients(self, samples: list[int]) -> Tensor:
        """This rank's part of the loss. A spare computes one sample: peers wait for its gradients, which count as zero."""
        self.optimizer.zero_grad()
        place, participant = self.group.place, self.manager.participating_rank()
        spare = participant is None
        rank = 0 if participant is None else participant * place.size + place.rank
        mine = samples[:1] if spare else share(samples, rank, place.active_groups * place.size)
        total = torch.zeros((), device=self.group.device)
        parts = chunks(mine, self.settings.micro_batch)
        for number, ids in enumerate(parts):
            with nullcontext() if number == len(parts) - 1 else self.replica.no_sync():
                loss = self.forward(ids) / len(samples)
                if number == len(parts) - 1:
                    self.beat.before(self.manager.current_step())
                loss.backward()
            total += 0 if spare else loss.detach()
        return total

    def forward(self, ids: list[int]) -> Tensor:
        device = self.group.device
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
            loss: Tensor = self.replica(self.data.read(ids).to(device)).sum()
        return loss


def main() -> None:
    eager.install()
    settings = parse()
    Trainer(settings, Group(Place.find(), settings.collective_seconds)).run()
    logging.info("done")
    logging.shutdown()
    # The manager's server threads would wait for peers that have already left.
    os._exit(0)


if __name__ == "__main__":
    main()
