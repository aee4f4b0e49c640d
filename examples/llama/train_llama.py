"""Llama under pipeline, data and tensor parallelism, on one device mesh; checkpoints load under any other mesh."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from common import eager, settings, shards
from common import world as ranks
from common.checkpoints import Store
from common.data import Plan, TokenFile, share
from common.loop import train
from common.restore import start_step
from common.saver import Saver
from llama.model import Llama, size_of
from llama.parallel import Layout, Trainer, build
from torch import Tensor
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict

# By names of parameters alone, so that stages of a pipeline have no key in common.
BY_NAME = StateDictOptions(flatten_optimizer_state_dict=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(settings.Settings):
    pp: int
    dp: int | None
    tp: int

    def layout(self, size: int) -> Layout:
        return Layout(pp=self.pp, dp=self.dp or max(1, size // (self.pp * self.tp)), tp=self.tp)


def parse(arguments: list[str] | None = None) -> Settings:
    parser = settings.make_parser()
    parser.add_argument("--pp", type=settings.positive, default=1, help="stages of the pipeline, each with some layers")
    parser.add_argument("--dp", type=settings.positive, help="ranks that share the samples; default: what --pp and --tp leave")
    parser.add_argument("--tp", type=settings.positive, default=1, help="ranks that share each matrix: at most those of one node")
    return settings.read(Settings, parser, arguments)


def main() -> None:
    eager.install()
    given = parse()
    world = ranks.join(given.join_seconds)
    size, layout = size_of(given.model), given.layout(world.size)
    layout.check(world.size, size, given.global_batch, given.micro_batch)
    data = TokenFile(given.data, size.context, size.vocabulary)
    mesh = layout.mesh(world.device)
    model = build(size, mesh, given.seed, world.device)
    optimizer = make_optimizer(model, given.learning_rate)
    group = dist.new_group(backend="gloo")
    store = Store(given.checkpoint_directory, given.keep)
    start = start_step(given, store, world)
    if start:
        load(store.path(start), model, optimizer, group)
    plan = Plan(data.samples, given.global_batch, given.seed)
    trainer = Trainer(model, optimizer, mesh, given.global_batch // (layout.dp * given.micro_batch), world.device)

    def snapshot(directory: Path) -> Callable[[], Iterable[Path]]:
        return shards.save(directory, collect(model, optimizer), group)

    def train_step(samples: list[int], arrive: Callable[[], None]) -> Tensor:
        rows = data.read(share(samples, mesh.get_local_rank("dp"), layout.dp)).to(world.device)
        arrive()
        return trainer.step(rows, len(samples))

    train(given, world, plan, Saver(store, world, snapshot), start=start, train_step=train_step)


def make_optimizer(model: Llama, learning_rate: float) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.95), weight_decay=0.1)


def collect(model: Llama, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    parameters, moments = get_state_dict(model, optimizer, options=BY_NAME)
    return {"model": parameters, "optimizer": moments}


def load(directory: Path, model: Llama, optimizer: torch.optim.Optimizer, group: dist.ProcessGroup) -> None:
    state = collect(model, optimizer)
    shards.load(directory, state, group)
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"], options=BY_NAME)


if __name__ == "__main__":
    main()
    ranks.leave()
