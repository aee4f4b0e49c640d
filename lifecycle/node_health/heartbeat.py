"""Heartbeats of a training job, for the hang detector of the node. Imported by the job with `PYTHONPATH=/opt/hyperpod`.

    beat = Heartbeat.from_environment()
    for step in range(start, steps):
        ...                        # forward, backward
        beat.before(step)          # just before the collective of all ranks
        all_reduce(...)
        beat.after(step)

A rank that hangs before the collective is then one beat behind the ranks that wait in it. Put phases with a legitimate wait of more
than `hang_seconds` (a long evaluation, a checkpoint) into `with beat.paused():`.

A call is one small write and needs the standard library only. The file stays on the node, at
`/run/hyperpod/heartbeat/<job>.<step>/<rank>`; in a container, mount `/run/hyperpod/heartbeat`.
Heartbeats never fail a job: if that folder is missing, closed, full or somebody else's, every call does nothing.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import re
import signal
import stat
import time
from pathlib import Path
from typing import IO, Iterator, Mapping

DIRECTORY = "/run/hyperpod/heartbeat"
DIRECTORY_VARIABLE = "NODE_HEALTH_HEARTBEATS"
HEADER_BYTES = 1024
BATCH_STEP = "4294967291"
SMOOTHING = 0.1
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
NUMBER = re.compile(r"[0-9]{1,18}")
DUMP_SIGNAL = 10
"""Offset from SIGRTMIN; SIGUSR1 and SIGUSR2 belong to jobs."""


class Heartbeat:
    """One rank's progress. Each call is one write of one line."""

    def __init__(self, path: Path | None, header: Mapping[str, object]) -> None:
        self._descriptor = -1
        self._stacks: IO[str] | None = None
        self._progress = 0
        self._busy = self._wait = 0.0
        self._since = time.monotonic()
        if path is not None:
            try:
                self._open(path, header)
            except (OSError, ValueError, RuntimeError):
                self.close()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Heartbeat:
        """The heartbeat of this process, with step and rank from the environment of `srun` or `torchrun`."""
        known: Mapping[str, str] = os.environ if environment is None else environment
        rank = known.get("RANK", known.get("SLURM_PROCID", ""))
        world = known.get("WORLD_SIZE", known.get("SLURM_NTASKS", ""))
        job, step = known.get("SLURM_JOB_ID", ""), known.get("SLURM_STEP_ID", BATCH_STEP)
        if not all(NUMBER.fullmatch(number) for number in (rank, world, job, step)):
            return cls(None, {})
        folder = Path(known.get(DIRECTORY_VARIABLE, DIRECTORY)) / f"{job}.{'batch' if step == BATCH_STEP else step}"
        restart = known.get("SLURM_RESTART_COUNT", "0")
        header = {
            "pid": os.getpid(),
            "start": _start_ticks(),
            "rank": int(rank),
            "world": int(world),
            "restart": int(restart) if NUMBER.fullmatch(restart) else 0,
            "signal": signal.SIGRTMIN + DUMP_SIGNAL,
            "flight_pipe": known.get("TORCH_NCCL_DEBUG_INFO_PIPE_FILE", ""),
            "flight_dump": known.get("TORCH_FR_DUMP_TEMP_FILE", known.get("TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "")),
        }
        return cls(folder / str(int(rank)), header)

    @property
    def active(self) -> bool:
        """Whether the node can see the beats."""
        return self._descriptor >= 0

    def before(self, step: int) -> None:
        """Report that this rank has finished its own part of the step and enters the collective."""
        now = time.monotonic()
        self._busy += SMOOTHING * (now - self._since - self._busy)
        self._since = now
        self._beat(2 * step + 1)

    def after(self, step: int) -> None:
        """Report that the collective of the step is over."""
        now = time.monotonic()
        self._wait += SMOOTHING * (now - self._since - self._wait)
        self._since = now
        self._beat(2 * step + 2)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """A phase with a legitimate wait of more than `hang_seconds`: no rank counts as hanging."""
        self._write(b"P")
        try:
            yield
        finally:
            self._since = time.monotonic()
            self._write(b"R")

    def close(self) -> None:
        """End the heartbeats; the node no longer watches the process."""
        stacks, self._stacks = self._stacks, None
        descriptor, self._descriptor = self._descriptor, -1
        with contextlib.suppress(OSError, ValueError):
            if stacks is not None:
                faulthandler.unregister(signal.SIGRTMIN + DUMP_SIGNAL)
                stacks.close()
        with contextlib.suppress(OSError):
            if descriptor >= 0:
                os.close(descriptor)

    def _open(self, path: Path, header: Mapping[str, object]) -> None:
        folder = _own_folder(path.parent)
        try:
            self._write_header(folder, path.name, header)
            self._answer_signal(folder, f"{path.name}.stack")
            _name(folder, path.name)
        finally:
            os.close(folder)

    def _write_header(self, folder: int, name: str, header: Mapping[str, object]) -> None:
        """A new file in place of an earlier process's file; readers never see half of its header."""
        self._descriptor = _fresh(folder, name)
        line = json.dumps(header).encode("utf-8")
        if len(line) >= HEADER_BYTES:
            line = json.dumps({**header, "flight_pipe": "", "flight_dump": ""}).encode("utf-8")
        os.pwrite(self._descriptor, line.ljust(HEADER_BYTES - 1) + b"\n", 0)
        os.pwrite(self._descriptor, self._line(b"R"), HEADER_BYTES)

    def _answer_signal(self, folder: int, name: str) -> None:
        """Print the stacks at the dump signal, unless the job handles the signal itself. Without the file, nobody sends it."""
        number = signal.SIGRTMIN + DUMP_SIGNAL
        if signal.getsignal(number) != signal.SIG_DFL:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            return
        self._stacks = os.fdopen(_fresh(folder, name), "w", encoding="utf-8")
        faulthandler.register(number, file=self._stacks, all_threads=True)
        _name(folder, name)

    def _beat(self, progress: int) -> None:
        self._progress = progress
        self._write(b"R")

    def _write(self, state: bytes) -> None:
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.pwrite(self._descriptor, self._line(state), HEADER_BYTES)

    def _line(self, state: bytes) -> bytes:
        return b"%s %20d %14.6f %14.6f\n" % (state, self._progress, self._busy, self._wait)


def _own_folder(path: Path) -> int:
    """The folder of the step, made if missing.

    A link, or a folder that somebody else owns or can write to, is refused: it could redirect the file.
    """
    base = os.open(path.parent, FOLDER)
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(path.name, 0o700, dir_fd=base)
        folder = os.open(path.name, FOLDER | os.O_NOFOLLOW, dir_fd=base)
    finally:
        os.close(base)
    status = os.fstat(folder)
    if status.st_uid != os.geteuid() or status.st_mode & OTHERS_WRITE:
        os.close(folder)
        raise PermissionError(f"{path}: belongs to uid {status.st_uid}, or others can write to it")
    return folder


def _fresh(folder: int, name: str) -> int:
    """A new file under a temporary name."""
    partial = _partial(name)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(partial, dir_fd=folder)
    return os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)


def _name(folder: int, name: str) -> None:
    os.replace(_partial(name), name, src_dir_fd=folder, dst_dir_fd=folder)


def _partial(name: str) -> str:
    return f".{name}.{os.getpid()}"


def _start_ticks() -> int:
    """The start time of this process; 0, which matches no process, if `/proc` does not tell."""
    try:
        text = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace")
        return int(text.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0
