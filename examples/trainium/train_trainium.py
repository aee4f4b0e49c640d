"""Data parallel training on Trainium1 with PyTorch/XLA: each NeuronCore is a rank and holds the model, rank 0 writes checkpoints.

Graphs, not operations, run on the device. So every step has the same shapes, and `mark_step` ends each graph. Sums for the log and
for checkpoints are made on the host, over gloo: a trial that only extracts graphs computes nothing, and its ranks still must agree.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_backend  # noqa: F401
from common.checkpoints import Store
from common.data import Plan, TokenFile, chunks, equal_share, share
from common.loop import train
from common.model import build, size_of
from common.restore import start_step
from common.saver import Saver
from common.settings import parse
from common.state import load_state, write_copy
from common.world import World, leave
from torch import Tensor, nn

HOST = torch.device("cpu")


def main() -> None:
    settings = parse()
    world = join(settings.join_seconds)
    equal_share(settings.global_batch, world.size, settings.micro_batch)
    size = size_of(settings.model)
    data = TokenFile(settings.data, size.context, size.vocabulary)
    device: Any = xm.xla_device()
    model = build(settings.model, settings.seed, device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate)
    store = Store(settings.checkpoint_directory, settings.keep)
    start = start_step(settings, store, world)
    if start:
        load_state(store.path(start), model, optimizer, HOST)
    plan = Plan(data.samples, settings.global_batch, settings.seed)

    def snapshot(directory: Path) -> Callable[[], Iterable[Path]]:
        return write_copy(directory, model, optimizer) if world.rank == 0 else lambda: []

    def train_step(samples: list[int], arrive: Callable[[], None]) -> Tensor:
        parts = [data.read(ids).to(device) for ids in chunks(share(samples, world.rank, world.size), settings.micro_batch)]
        arrive()
        return one_step(model, optimizer, parts, len(samples), world.size)

    train(settings, world, plan, Saver(store, world, snapshot), start=start, train_step=train_step)


def join(seconds: float) -> World:
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s rank {os.environ['RANK']} %(message)s")
    dist.init_process_group("xla")
    group = dist.new_group(backend="gloo", timeout=timedelta(seconds=seconds))
    logging.info("joined %d ranks", dist.get_world_size())
    return World(rank=dist.get_rank(), size=dist.get_world_size(), device=HOST, group=group)


def one_step(model: nn.Module, optimizer: torch.optim.Optimizer, parts: list[Tensor], samples: int, ranks: int) -> Tensor:
    """The loss times the number of ranks: `optimizer_step` averages over them, but the loss is a sum over the global batch."""
    optimizer.zero_grad()
    total = torch.zeros((), device=parts[0].device)
    for part in parts:
        loss = model(part).sum() / samples
        (loss * ranks).backward()
        total += loss.detach()
        xm.mark_step()
    xm.optimizer_step(optimizer)
    xm.mark_step()
    return total.cpu()


if __name__ == "__main__":
    main()
    leave()
