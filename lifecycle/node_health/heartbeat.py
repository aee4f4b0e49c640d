"""Heartbeats of a training job, for the hang detector of the node. Imported by the job with ``PYTHONPATH=/opt/hyperpod``.

    beat = Heartbeat.from_environment()
    for step in range(start, steps):
        ...                        # forward, backward
        beat.before(step)          # just before the collective that every rank takes part in
        all_reduce(...)
        beat.after(step)

A rank that hangs before the collective is then one beat behind those that wait in it. Phases in which ranks rightly wait for longer
than ``hang_seconds`` (a long evaluation, a checkpoint) belong into ``with beat.paused():``.

A call is one small write and needs the standard library only. The file stays on the node, at
``/run/hyperpod/heartbeat/<job>.<step>/<rank>``; in a container, mount ``/run/hyperpod/heartbeat``.
Where that folder is missing, every call does nothing.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import signal
import time
from pathlib import Path
from typing import IO, Iterator, Mapping

DIRECTORY = "/run/hyperpod/heartbeat"
DIRECTORY_VARIABLE = "NODE_HEALTH_HEARTBEATS"
HEADER_BYTES = 1024
BATCH_STEP = "4294967291"
SMOOTHING = 0.1
DUMP_SIGNAL = 10
"""Counted from SIGRTMIN: SIGUSR1 and SIGUSR2 belong to jobs."""


class Heartbeat:
    """One rank's progress. Each call is one write of one line."""

    def __init__(self, path: Path | None, header: Mapping[str, object]) -> None:
        self._descriptor = -1
        self._stacks: IO[str] | None = None
        self._progress = 0
        self._busy = self._wait = 0.0
        self._since = time.monotonic()
        if path is not None:
            with contextlib.suppress(OSError):
                self._open(path, header)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Heartbeat:
        """The heartbeat of this process: its step and rank as ``srun`` or ``torchrun`` put them into the environment."""
        known: Mapping[str, str] = os.environ if environment is None else environment
        rank = known.get("RANK", known.get("SLURM_PROCID", ""))
        world = known.get("WORLD_SIZE", known.get("SLURM_NTASKS", ""))
        job, step = known.get("SLURM_JOB_ID", ""), known.get("SLURM_STEP_ID", BATCH_STEP)
        base = Path(known.get(DIRECTORY_VARIABLE, DIRECTORY))
        if not (rank.isdigit() and world.isdigit() and job.isdigit() and base.is_dir()):
            return cls(None, {})
        folder = base / f"{job}.{'batch' if step == BATCH_STEP else step}"
        header = {
            "pid": os.getpid(),
            "start": _start_ticks(),
            "rank": int(rank),
            "world": int(world),
            "restart": int(known.get("SLURM_RESTART_COUNT", "0")),
            "signal": signal.SIGRTMIN + DUMP_SIGNAL,
            "flight_pipe": known.get("TORCH_NCCL_DEBUG_INFO_PIPE_FILE", ""),
            "flight_dump": known.get("TORCH_FR_DUMP_TEMP_FILE", known.get("TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "")),
        }
        return cls(folder / rank, header)

    @property
    def active(self) -> bool:
        """Whether anyone can see the beats."""
        return self._descriptor >= 0

    def before(self, step: int) -> None:
        """This rank is done with its own part of the step and enters the collective."""
        now = time.monotonic()
        self._busy += SMOOTHING * (now - self._since - self._busy)
        self._since = now
        self._beat(2 * step + 1)

    def after(self, step: int) -> None:
        """The collective of the step is over."""
        now = time.monotonic()
        self._wait += SMOOTHING * (now - self._since - self._wait)
        self._since = now
        self._beat(2 * step + 2)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """While the ranks rightly wait for longer than ``hang_seconds``: nobody is taken to hang."""
        self._write(b"P")
        try:
            yield
        finally:
            self._since = time.monotonic()
            self._write(b"R")

    def close(self) -> None:
        """Ends the heartbeats; the process is then not watched any more."""
        if self._stacks is not None:
            faulthandler.unregister(signal.SIGRTMIN + DUMP_SIGNAL)
            self._stacks.close()
            self._stacks = None
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _open(self, path: Path, header: Mapping[str, object]) -> None:
        path.parent.mkdir(exist_ok=True)
        # A fresh file in place of one of an earlier process with this rank: its header is never seen half written.
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(partial, flags, 0o644)
        line = json.dumps(header).encode("utf-8")[: HEADER_BYTES - 1]
        os.pwrite(descriptor, line.ljust(HEADER_BYTES - 1) + b"\n", 0)
        self._descriptor = descriptor
        self._write(b"R")
        self._stacks = path.with_name(f"{path.name}.stack").open("w", encoding="utf-8")
        faulthandler.register(signal.SIGRTMIN + DUMP_SIGNAL, file=self._stacks, all_threads=True)
        partial.replace(path)

    def _beat(self, progress: int) -> None:
        self._progress = progress
        self._write(b"R")

    def _write(self, state: bytes) -> None:
        if self._descriptor >= 0:
            line = b"%s %20d %14.6f %14.6f\n" % (state, self._progress, self._busy, self._wait)
            os.pwrite(self._descriptor, line, HEADER_BYTES)


def _start_ticks() -> int:
    text = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace")
    return int(text.rpartition(")")[2].split()[19])
