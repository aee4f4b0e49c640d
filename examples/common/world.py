"""The ranks of a job: this rank, its device, and sums over all ranks."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.distributed_c10d import _set_pg_timeout

from common import backend

NEURON_DEVICE = Path("/dev/neuron0")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    rank: int
    size: int
    device: torch.device
    group: dist.ProcessGroup | None = None
    """Of the sums and values below; the group of all collectives when not given."""

    def sum(self, values: list[Tensor | float]) -> list[float]:
        """The sums over all ranks, by one small all-reduce; all ranks get the same numbers."""
        parts = [torch.as_tensor(value, dtype=torch.float32, device=self.device) for value in values]
        totals = torch.stack(parts)
        dist.all_reduce(totals, group=self.group)
        return cast("list[float]", totals.tolist())

    def gather(self, rows: list[list[int]]) -> list[list[int]]:
        """The rows of all ranks, in their order; each rank may have another number of them."""
        counts = self.gather_equal(torch.tensor([len(rows), len(rows[0]) if rows else 0]))
        most, width = (int(value) for value in counts.max(dim=0).values)
        padded = torch.zeros(most, width, dtype=torch.int64)
        if rows:
            padded[: len(rows)] = torch.tensor(rows)
        gathered = self.gather_equal(padded)
        return [row for count, found in zip(counts[:, 0].tolist(), gathered.tolist(), strict=True) for row in found[:count]]

    def gather_equal(self, rows: Tensor) -> Tensor:
        gathered = [torch.empty_like(rows, device=self.device) for _ in range(self.size)]
        dist.all_gather(gathered, rows.to(self.device))
        return torch.stack(gathered).cpu()

    def from_first(self, value: Any) -> Any:
        """Rank 0's value, on all ranks."""
        values = [value]
        dist.broadcast_object_list(values, src=0, device=self.device, group=self.group)
        return values[0]

    def expect_within(self, seconds: float) -> None:
        """Set the silence after which a peer counts as lost, from now on."""
        _set_pg_timeout(timedelta(seconds=seconds), self.group)


def choose_device() -> torch.device:
    local_rank = int(os.environ.get("LOCAL_RANK", "0"))
    if torch.cuda.is_available():
        device = torch.device("cuda", local_rank)
        torch.cuda.set_device(device)
        return device
    if NEURON_DEVICE.exists():
        raise SystemExit(
            "this is a Trainium node, and this job is for GPUs and CPUs; submit trainium/trainium.sbatch here, "
            "or this job to another partition"
        )
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    return torch.device("cpu")


def join(seconds: float) -> World:
    """Meet the other ranks at the address in torchrun's variables.

    The ranks wait up to the timeout for each other, here and in the following steps: imports, the model and a checkpoint can take
    much longer on some ranks.
    """
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s rank {os.environ['RANK']} %(message)s")
    device = choose_device()
    chosen = backend.choose(backend.family(), device.type == "cuda")
    bound = device if chosen.name == backend.NCCL else None
    logging.info("started")
    if os.environ["RANK"] == "0":
        logging.info("communication by %s: %s", chosen.name, chosen.reason)
    dist.init_process_group(chosen.name, timeout=timedelta(seconds=seconds), device_id=bound)
    logging.info("joined %d ranks", dist.get_world_size())
    return World(rank=dist.get_rank(), size=dist.get_world_size(), device=device)


def leave() -> None:
    """End the meeting, after all that uses it is gone.

    What is left of DDP would end the group's threads while it holds Python's lock. A thread that needs the lock to end would wait
    forever, and the job with it.
    """
    dist.destroy_process_group()
