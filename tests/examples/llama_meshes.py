"""Trains the tiny Llama under several meshes in one group of four processes, and writes what was found as JSON.

A mesh of fewer ranks runs in copies, which must agree. `alone` is the same training in one process, without any of the machinery.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from common import eager, shards
from common.checkpoints import Store, join_seals, seal
from common.data import Plan, TokenFile, share
from llama.model import SIZES, Llama, fill_whole, size_of, sum_of_losses
from llama.parallel import LONGEST_GRADIENT, Layout, Trainer, build
from llama.train_llama import collect, load, make_optimizer
from lz_penalty import generate
from torch import multiprocessing
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.nn.utils import clip_grad_norm_

RANKS, STEPS, BATCH, MICRO, SEED, RATE = 4, 4, 4, 2, 3, 1e-2
SAVED_AFTER = 2
CPU = torch.device("cpu")
SAVES = Layout(pp=2, dp=1, tp=2)
STARTS = [Layout(pp=1, dp=2, tp=1), Layout(pp=1, dp=1, tp=2), Layout(pp=2, dp=1, tp=1), Layout(pp=1, dp=2, tp=2)]
# With the ranks, the model and the global batch, in micro batches of one sample.
WRONG = [
    (Layout(pp=4, dp=8, tp=8), 256, "70b", 64),
    (Layout(pp=2, dp=2, tp=1), 8, "tiny", 64),
    (Layout(pp=4, dp=1, tp=1), 4, "tiny", 64),
    (Layout(pp=1, dp=1, tp=16), 16, "70b", 64),
    (Layout(pp=1, dp=3, tp=1), 3, "7b", 64),
    (Layout(pp=4, dp=2, tp=1), 8, "7b", 4),
]
RESUMES = [*STARTS[:3], Layout(pp=1, dp=1, tp=1)]


def main() -> None:
    data, directory = Path(sys.argv[1]), Path(sys.argv[2])
    eager.install()
    torch.set_num_threads(1)
    (directory / "sizes.json").write_text(json.dumps({name: parameters(name) for name in SIZES}))
    (directory / "refused.json").write_text(json.dumps([refusal(*wrong) for wrong in WRONG]))
    (directory / "starts.json").write_text(json.dumps(starts()))
    multiprocessing.start_processes(work, args=(data, directory), nprocs=RANKS, start_method="fork")
    (directory / "without_ranks.json").write_text(json.dumps(read_without_ranks(data, directory)))


def read_without_ranks(path: Path, directory: Path) -> float:
    """The loss of the next step, by the reader of batch inference."""
    checkpoint, size = directory / "checkpoint", size_of("tiny")
    seal(checkpoint, 0, sorted(checkpoint.iterdir()))
    join_seals(checkpoint)
    store = Store(directory / "store", keep=1)
    store.directory.mkdir()
    checkpoint.rename(store.path(SAVED_AFTER))
    model = generate.load(size, store.directory, SEED + 1, CPU)
    data = TokenFile(path, size.context, size.vocabulary)
    rows = data.read(Plan(data.samples, BATCH, SEED).batch(SAVED_AFTER))
    with torch.inference_mode():
        return float(sum_of_losses(model(rows[:, :-1]), rows[:, 1:]) / rows[:, 1:].numel())


def parameters(name: str) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in Llama(size_of(name)).parameters())


def starts() -> list[float]:
    """The first value of each matrix."""
    with torch.device("meta"):
        model = Llama(size_of("tiny"))
    fill_whole(model, SEED, CPU)
    return [parameter.flatten()[0].item() for parameter in model.parameters() if parameter.dim() > 1]


def refusal(layout: Layout, ranks: int, name: str, global_batch: int) -> str:
    try:
        layout.check(ranks, size_of(name), global_batch, 1)
    except SystemExit as error:
        return str(error)
    return "accepted"


def work(rank: int, path: Path, directory: Path) -> None:
    dist.init_process_group("gloo", init_method=f"file://{directory}/rendezvous", rank=rank, world_size=RANKS)
    size = size_of("tiny")
    data = TokenFile(path, size.context, size.vocabulary)
    plan = Plan(data.samples, BATCH, SEED)
    group = dist.new_group(backend="gloo")
    checkpoint = directory / "checkpoint"
    found = {"alone": alone(data, plan)} if rank == 0 else {}
    found[name_of(SAVES)] = run(SAVES, data, plan, group, save=checkpoint)
    for layout in STARTS:
        found[name_of(layout)] = run(layout, data, plan, group)
    for layout in RESUMES:
        found[f"{name_of(layout)} resumed"] = run(layout, data, plan, group, resume=checkpoint)
    if rank == 0:
        (directory / "losses.json").write_text(json.dumps(found))
    dist.destroy_process_group()


def name_of(layout: Layout) -> str:
    return f"pp{layout.pp}-dp{layout.dp}-tp{layout.tp}"


def alone(data: TokenFile, plan: Plan) -> list[float]:
    with torch.device("meta"):
        model = Llama(size_of("tiny"))
    fill_whole(model, SEED, CPU)
    optimizer = make_optimizer(model, RATE)
    losses = []
    for step in range(STEPS):
        rows = data.read(plan.batch(step))
        optimizer.zero_grad()
        loss = sum_of_losses(model(rows[:, :-1]), rows[:, 1:]) / rows[:, 1:].numel()
        loss.backward()
        clip_grad_norm_(model.parameters(), LONGEST_GRADIENT)
        optimizer.step()
        losses.append(loss.item())
    return losses


def run(
    layout: Layout,
    data: TokenFile,
    plan: Plan,
    group: dist.ProcessGroup,
    *,
    save: Path | None = None,
    resume: Path | None = None,
) -> list[float]:
    size = size_of("tiny")
    copies = RANKS // (layout.pp * layout.dp * layout.tp)
    layout.check(RANKS // copies, size, BATCH, MICRO)
    mesh = init_device_mesh("cpu", (copies, layout.pp, layout.dp, layout.tp), mesh_dim_names=("copy", "pp", "dp", "tp"))
    model = build(size, mesh["pp", "dp", "tp"], SEED, CPU)
    optimizer = make_optimizer(model, RATE)
    trainer = Trainer(model, optimizer, mesh, BATCH // (layout.dp * MICRO), CPU)
    if resume is not None:
        load(resume, model, optimizer, group)
    losses = []
    for step in range(0 if resume is None else SAVED_AFTER, STEPS):
        if save is not None and step == SAVED_AFTER:
            save.mkdir(exist_ok=True)  # each rank comes here
            list(shards.save(save, collect(model, optimizer), group)())
        samples = plan.batch(step)
        rows = data.read(share(samples, mesh.get_local_rank("dp"), layout.dp))
        losses.append(agreed(trainer.step(rows, len(samples)), mesh, copies))
    return losses


def agreed(part: torch.Tensor, mesh: DeviceMesh, copies: int) -> float:
    """The sum of the parts of each copy; all are the same to the last bits."""
    gathered = [torch.zeros_like(part) for _ in range(RANKS)]
    dist.all_gather(gathered, part)
    sums = torch.stack(gathered).view(copies, -1).sum(dim=1)
    assert (sums.max() - sums.min()).item() < 1e-6, sums
    return float(sums[0])


if __name__ == "__main__":
    main()
