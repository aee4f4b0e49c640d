"""Distributed checkpoints: each rank writes and reads its shards, and any number of ranks reads what another one wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch.distributed as dist
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.state_dict_loader import load as load_shards
from torch.distributed.checkpoint.state_dict_saver import async_save

METADATA = ".metadata"


def save(directory: Path, state: dict[str, Any], group: dist.ProcessGroup) -> Callable[[], Iterable[Path]]:
    """Save the shards: `async_save` returns once they are in host memory, and its future ends once they are written.

    :param group: a gloo group for this alone: the background save communicates during the next steps, and messages would mix.
    """
    rank = dist.get_rank()
    writer = FileSystemWriter(directory, sync_files=True)
    future: Any = async_save(state, storage_writer=writer, process_group=group)

    def written() -> Iterable[Path]:
        future.result()
        shards = sorted(directory.glob(f"__{rank}_*.distcp"))
        return [*shards, directory / METADATA] if rank == 0 else shards

    return written


def load(directory: Path, state: dict[str, Any], group: dist.ProcessGroup | None) -> None:
    """Read this rank's shards into the state; without a group, whole tensors in a process that has no ranks."""
    load_shards(state, storage_reader=FileSystemReader(directory), process_group=group)
