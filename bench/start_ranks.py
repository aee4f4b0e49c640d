"""Starts ranks that meet by a store, and loses one; run by the Python of the jobs: `start_ranks.py owners|tcp RANKS`.

The ranks are forks of one process that has imported torch, so only the start itself is measured: from the last fork until the last
rank has ended its first sum over all ranks. Prints JSON: seconds of the start, and from the loss of a rank until the others and its
replacement have ended their first sum. With `tcp` the lost rank is the one that holds the store, so all ranks start again.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from common.owner_store import Owner, OwnerStore, Slots
from torch.distributed import PrefixStore, ProcessGroupGloo, TCPStore

HOST = "127.0.0.1"
KEY = b"a token of this benchmark, 32 bytes"
TIMEOUT = timedelta(seconds=120)
LOST = 1
MeetAgain = Callable[[int], None]


def main() -> None:
    kind, size = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="start-ranks-") as folder:
        directory = Path(folder)
        measured = owners(directory, size) if kind == "owners" else tcp(directory, size)
    print(json.dumps(measured))  # noqa: T201


def owners(directory: Path, size: int) -> dict[str, float]:
    def run(slot: int, group: int) -> None:
        slots = Slots(directory / "slots")
        owner = Owner(HOST, KEY)
        slots.publish(slot, owner.address)
        store = OwnerStore(range(size), slots.find, KEY, TIMEOUT)
        meet(directory, store, slot, size, group)
        if group == 0:
            await_mark(directory / "again")
            meet(directory, store, slot, size, 1)

    ranks, started = start(size, lambda slot: run(slot, 0))
    first = await_marks(directory, size, 0) - started
    fell = time.time()
    lose(ranks.pop(LOST))
    (directory / "again").touch()
    ranks[LOST] = fork(lambda: run(LOST, 1))
    again = await_marks(directory, size, 1) - fell
    end(ranks)
    return {"start": first, "replaced": again}


def tcp(directory: Path, size: int) -> dict[str, float]:
    def run(rank: int, group: int, port: int) -> None:
        store = TCPStore(HOST, port, size, is_master=rank == 0, timeout=TIMEOUT, wait_for_workers=False)
        meet(directory, store, rank, size, group)
        await_mark(directory / "end")

    port = free_port()
    ranks, started = start(size, lambda rank: run(rank, 0, port))
    first = await_marks(directory, size, 0) - started
    fell = time.time()
    end(ranks)
    other = free_port()
    ranks, _ = start(size, lambda rank: run(rank, 1, other))
    again = await_marks(directory, size, 1) - fell
    (directory / "end").touch()
    end(ranks)
    return {"start": first, "replaced": again}


def meet(directory: Path, store: Any, rank: int, size: int, group: int) -> None:
    """Form the group and sum once; the mark is the time."""
    processes = ProcessGroupGloo(PrefixStore(f"group-{group}", store), rank, size, TIMEOUT)
    total = torch.ones(1)
    processes.allreduce([total]).wait()
    assert total.item() == size
    mark = directory / f"{group}-{rank}"
    mark.with_suffix(".part").write_text(repr(time.time()))
    mark.with_suffix(".part").rename(mark)


def start(size: int, run: Callable[[int], None]) -> tuple[dict[int, int], float]:
    ranks = {rank: fork(lambda rank=rank: run(rank)) for rank in range(size)}  # type: ignore[misc]
    return ranks, time.time()


def fork(run: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            run()
        finally:
            os._exit(0)
    return child


def lose(process: int) -> None:
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def end(ranks: dict[int, int]) -> None:
    for process in ranks.values():
        lose(process)


def await_mark(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def await_marks(directory: Path, size: int, group: int) -> float:
    marks = [directory / f"{group}-{rank}" for rank in range(size)]
    for mark in marks:
        await_mark(mark)
    return max(float(mark.read_text()) for mark in marks)


def free_port() -> int:
    store = TCPStore(HOST, 0, is_master=True, wait_for_workers=False)
    return int(store.port)


if __name__ == "__main__":
    main()
