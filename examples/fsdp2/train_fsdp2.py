"""FSDP2: every rank holds a shard of each parameter and of the optimizer, and writes its shard of the distributed checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from common import eager, shards
from common import world as ranks
from common.checkpoints import Store
from common.data import Plan, TokenFile, chunks, equal_share, share
from common.loop import train
from common.model import Transformer, build, size_of
from common.restore import start_step
from common.saver import Saver
from common.settings import Settings, parse
from common.tiers import Tiers
from common.world import World
from torch import Tensor
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor


def main() -> None:
    eager.install()
    settings = parse()
    world = ranks.join(settings.join_seconds)
    equal_share(settings.global_batch, world.size, settings.micro_batch)
    size = size_of(settings.model)
    data = TokenFile(settings.data, size.context, size.vocabulary)
    model = shard(build(settings.model, settings.seed, world.device), world)
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate)
    group = dist.new_group(backend="gloo")
    store = Store(settings.checkpoint_directory, settings.keep)
    tiers = Tiers.from_environment(world, lambda: local_tensors(collect(model, optimizer)))
    start = start_step(settings, store, world, tiers)
    if tiers.found is not None:
        load_from(tiers, model, optimizer)
    elif start:
        load(store.path(start), model, optimizer, group)
    plan = Plan(data.samples, settings.global_batch, settings.seed)

    def snapshot(directory: Path) -> Callable[[], Iterable[Path]]:
        return shards.save(directory, collect(model, optimizer), group)

    def train_step(samples: list[int], arrive: Callable[[], None]) -> Tensor:
        return one_step(settings, world, data, model, optimizer, samples, arrive)

    saver = Saver(store, world, snapshot)
    train(settings, world, plan, saver, start=start, train_step=train_step, committed=tiers.committed)
    tiers.close()


def shard(model: Transformer, world: World) -> Transformer:
    mesh = init_device_mesh(world.device.type, (world.size,))
    precision = MixedPrecisionPolicy(param_dtype=torch.bfloat16) if world.device.type == "cuda" else MixedPrecisionPolicy()
    for block in model.blocks:
        fully_shard(block, mesh=mesh, mp_policy=precision)
    fully_shard(model, mesh=mesh, mp_policy=precision)
    return model


def one_step(
    settings: Settings,
    world: World,
    data: TokenFile,
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    samples: list[int],
    arrive: Callable[[], None],
) -> Tensor:
    """The loss times the number of ranks: FSDP averages over the ranks, but the loss is a sum over the global batch."""
    assert isinstance(model, FSDPModule)
    optimizer.zero_grad()
    total = torch.zeros((), device=world.device)
    parts = chunks(share(samples, world.rank, world.size), settings.micro_batch)
    for number, ids in enumerate(parts):
        model.set_requires_gradient_sync(number == len(parts) - 1)
        batch = data.read(ids).to(world.device)
        if number == 0:
            arrive()
        loss = model(batch).sum() / len(samples)
        (loss * world.size).backward()
        total += loss.detach()
    optimizer.step()
    return total


def load(directory: Path, model: Transformer, optimizer: torch.optim.Optimizer, group: dist.ProcessGroup) -> None:
    """Read this rank's shards, even if another number of ranks wrote the checkpoint."""
    state = collect(model, optimizer)
    shards.load(directory, state, group)
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])


def load_from(tiers: Tiers, model: Transformer, optimizer: torch.optim.Optimizer) -> None:
    """Take this rank's shard from another tier than the file system."""
    state = collect(model, optimizer)
    tiers.load(local_tensors(state))
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])


def local_tensors(state: Any, name: str = "") -> dict[str, Tensor]:
    """This rank's part of each tensor, by its place in the state; they share the state's memory."""
    if isinstance(state, dict):
        return {key: tensor for part, value in state.items() for key, tensor in local_tensors(value, f"{name}/{part}").items()}
    if isinstance(state, Tensor):
        return {name: state.to_local() if isinstance(state, DTensor) else state}
    return {}


def collect(model: Transformer, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    parameters, moments = get_state_dict(model, optimizer)
    return {"model": parameters, "optimizer": moments}


if __name__ == "__main__":
    main()
    ranks.leave()
