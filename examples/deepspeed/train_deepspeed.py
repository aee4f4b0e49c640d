"""DeepSpeed ZeRO 2: gradients and optimizer state are sharded, parameters are not; every rank writes its part of the checkpoint."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

if not torch.cuda.is_available():
    os.environ.setdefault("DS_ACCELERATOR", "cpu")

import deepspeed
import deepspeed.ops
from common import eager
from common import world as ranks
from common.checkpoints import Store
from common.data import Plan, TokenFile, chunks, equal_share, share
from common.loop import train
from common.model import build, size_of
from common.restore import start_step
from common.saver import Saver
from common.settings import Settings, parse
from common.world import World
from torch import Tensor

TAG = "state"

library: Any = deepspeed
ops: Any = deepspeed.ops


def main() -> None:
    eager.install()
    settings = parse()
    world = ranks.join(settings.join_seconds)
    size = size_of(settings.model)
    data = TokenFile(settings.data, size.context, size.vocabulary)
    model = build(settings.model, settings.seed, world.device)
    if world.device.type == "cpu":
        # DeepSpeed would compile its own collectives for ranks on one machine at the first start; gloo does them instead.
        ops.__compatible_ops__["deepspeed_shm_comm"] = False
    engine, *_ = library.initialize(model=model, model_parameters=model.parameters(), config=configuration(settings, world))
    store = Store(settings.checkpoint_directory, settings.keep)
    start = start_step(settings, store, world)
    if start:
        engine.load_checkpoint(str(store.path(start)), tag=TAG)
    plan = Plan(data.samples, settings.global_batch, settings.seed)

    def snapshot(directory: Path) -> Callable[[], Iterable[Path]]:
        return save(directory, engine, world.rank)

    def train_step(samples: list[int], arrive: Callable[[], None]) -> Tensor:
        return one_step(settings, world, data, engine, samples, arrive)

    train(settings, world, plan, Saver(store, world, snapshot), start=start, train_step=train_step)


def configuration(settings: Settings, world: World) -> dict[str, Any]:
    gpu = world.device.type == "cuda"
    parameters = {"lr": settings.learning_rate, **({} if gpu else {"torch_adam": True})}
    return {
        "train_micro_batch_size_per_gpu": settings.micro_batch,
        "gradient_accumulation_steps": equal_share(settings.global_batch, world.size, settings.micro_batch),
        "optimizer": {"type": "AdamW", "params": parameters},
        "zero_optimization": {"stage": 2},
        "bf16": {"enabled": gpu},
    }


def one_step(
    settings: Settings, world: World, data: TokenFile, engine: Any, samples: list[int], arrive: Callable[[], None]
) -> Tensor:
    """The mean loss of the global batch: the engine averages over micro batches and ranks, all of one size."""
    total = torch.zeros((), device=world.device)
    for number, ids in enumerate(chunks(share(samples, world.rank, world.size), settings.micro_batch)):
        losses = engine(data.read(ids).to(world.device))
        if number == 0:
            arrive()
        engine.backward(losses.mean())
        engine.step()
        total += losses.detach().sum() / len(samples)
    return total


def save(directory: Path, engine: Any, rank: int) -> Callable[[], Iterable[Path]]:
    """Save the checkpoint. DeepSpeed writes in the step; checksums and the flush to disk follow in the background."""
    failure: OSError | RuntimeError | None = None
    try:
        engine.save_checkpoint(str(directory), tag=TAG, save_latest=False)
    except (OSError, RuntimeError) as error:
        failure = error

    def written() -> Iterable[Path]:
        if failure is not None:
            raise failure
        parameters = sorted((directory / TAG).glob("mp_rank_*")) if rank == 0 else []
        return [*parameters, *sorted((directory / TAG).glob(f"*zero_pp_rank_{rank}_*"))]

    return written


if __name__ == "__main__":
    main()
    ranks.leave()
