"""DistributedDataParallel: every rank holds the model, rank 0 writes the checkpoints.

The elastic job runs this file too: ranks take samples by position, so any number of ranks computes the same step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from common import eager
from common import world as ranks
from common.checkpoints import Store
from common.data import Plan, TokenFile, chunks, share
from common.loop import train
from common.model import build, size_of
from common.restore import start_step
from common.saver import Saver
from common.settings import Settings, parse
from common.state import load_state, write_copy
from common.world import World
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel


def main() -> None:
    eager.install()
    settings = parse()
    world = ranks.join(settings.join_seconds)
    size = size_of(settings.model)
    data = TokenFile(settings.data, size.context, size.vocabulary)
    model = build(settings.model, settings.seed, world.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate)
    store = Store(settings.checkpoint_directory, settings.keep)
    start = start_step(settings, store, world)
    if start:
        load_state(store.path(start), model, optimizer, world.device)
    replica = DistributedDataParallel(model, device_ids=[world.device] if world.device.type == "cuda" else None)
    plan = Plan(data.samples, settings.global_batch, settings.seed)

    def snapshot(directory: Path) -> Callable[[], Iterable[Path]]:
        return write_copy(directory, model, optimizer) if world.rank == 0 else lambda: []

    def train_step(samples: list[int], arrive: Callable[[], None]) -> Tensor:
        return one_step(settings, world, data, replica, optimizer, samples, arrive)

    train(settings, world, plan, Saver(store, world, snapshot), start=start, train_step=train_step)


def one_step(
    settings: Settings,
    world: World,
    data: TokenFile,
    replica: DistributedDataParallel,
    optimizer: torch.optim.Optimizer,
    samples: list[int],
    arrive: Callable[[], None],
) -> Tensor:
    """The loss times the number of ranks: DDP averages over the ranks, but the loss is a sum over the global batch."""
    optimizer.zero_grad()
    total = torch.zeros((), device=world.device)
    parts = chunks(share(samples, world.rank, world.size), settings.micro_batch)
    for number, ids in enumerate(parts):
        synchronize: Any = nullcontext() if number == len(parts) - 1 else replica.no_sync()
        with synchronize, torch.autocast(world.device.type, dtype=torch.bfloat16, enabled=world.device.type == "cuda"):
            loss = replica(data.read(ids).to(world.device)).sum() / len(samples)
            if number == len(parts) - 1:
                arrive()
            (loss * world.size).backward()
        total += loss.detach()
    optimizer.step()
    return total


if __name__ == "__main__":
    main()
    ranks.leave()
