"""Which process holds a directory of the embedded AWS. The kernel answers, by a lock on a file.

The kernel names the process that has a record lock, ends the lock with it, and does not hand it on to children. So a server that
answers late is still known, and neither a damaged file nor a recycled process id is ever taken for one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from hyperpod_constructs.local import private

LOCK_FILE = "lock"
PAUSE_SECONDS = 0.02
KILL_SECONDS = 10.0


class StillAliveError(RuntimeError):
    """A process that holds a directory could not be ended."""


class _Flock(NamedTuple):
    """The layout of the kernel's `struct flock`, and which of its fields are the type and the process id."""

    layout: str
    type: int
    pid: int

    def question(self) -> bytes:
        """Who keeps others from a shared lock of the whole file?"""
        fields = [0] * 5
        fields[self.type] = fcntl.F_RDLCK
        return struct.pack(self.layout, *fields)


_FLOCK = _Flock("qqihh", 3, 2) if sys.platform == "darwin" else _Flock("hhqqi", 0, 4)


def hold(directory: Path) -> BinaryIO | None:
    """Hold the directory until this process ends or closes the file; None if another process holds it.

    The kernel ends the lock when the process closes *any* file object of the lock, so a holder must not ask for its own `holder`.

    :raises PermissionError: where the directory or the lock is another user's.
    """
    file = os.fdopen(private.open_existing(directory, LOCK_FILE, os.O_RDWR | os.O_CREAT), "r+b", buffering=0)
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        file.close()
        return None
    return file


@contextlib.contextmanager
def held(directory: Path) -> Iterator[bool]:
    """Hold the directory for a block; False if another process has it."""
    file = hold(directory)
    try:
        yield file is not None
    finally:
        if file is not None:
            file.close()


def holder(directory: Path) -> int | None:
    """The process that holds the directory, if one does. 0 stands for one that this PID namespace does not see.

    :raises PermissionError: where the directory or the lock is another user's, who could name any process so.
    """
    try:
        with os.fdopen(private.open_existing(directory, LOCK_FILE), "rb") as file:
            answer = struct.unpack(_FLOCK.layout, fcntl.fcntl(file, fcntl.F_GETLK, _FLOCK.question()))
    except FileNotFoundError:
        return None
    return None if answer[_FLOCK.type] == fcntl.F_UNLCK else max(0, answer[_FLOCK.pid])


def end(directory: Path, patience: float) -> None:
    """End the process that holds the directory, and return when it is gone; none is a success.

    It gets SIGTERM, and SIGKILL with the children of its session after `patience` seconds.

    :raises StillAliveError: if it still lives `KILL_SECONDS` later, or may not be signalled.
    :raises PermissionError: where the directory is another user's.
    """
    pid = holder(directory)
    if pid is None:
        return
    with _signals_to(pid, directory) as send:
        for number, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, KILL_SECONDS)):
            send(number)
            if _gone(pid, directory, seconds):
                return
    raise StillAliveError(
        f"process {pid} holds {directory}, and lives {KILL_SECONDS:.0f} s after SIGKILL; the kernel keeps it busy"
    )


def _gone(pid: int, directory: Path, seconds: float) -> bool:
    """Whether the process gives the directory up within that time."""
    deadline = time.monotonic() + seconds
    while holder(directory) == pid:
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE_SECONDS)
    return True


@contextlib.contextmanager
def _signals_to(pid: int, directory: Path) -> Iterator[Callable[[int], None]]:
    """What signals that process and no other: a handle of it is opened first, then the kernel is asked again who holds the lock."""
    if pid == 0:
        raise StillAliveError(f"{directory} is held by a process of another PID namespace (a container); stop it there")
    with _handle(pid) as handle:

        def send(number: int) -> None:
            if holder(directory) != pid:
                return
            try:
                _send(pid, handle, number)
            except PermissionError:
                raise StillAliveError(
                    f"{directory} is held by process {pid} of another user; stop it as that user or as root"
                ) from None
            except ProcessLookupError:
                return

        yield send


def _send(pid: int, handle: int | None, number: int) -> None:
    if number == signal.SIGKILL and os.getpgid(pid) == pid:
        os.killpg(pid, number)
    elif handle is not None:
        signal.pidfd_send_signal(handle, number)
    else:
        os.kill(pid, number)


@contextlib.contextmanager
def _handle(pid: int) -> Iterator[int | None]:
    """A handle that means this process for ever; None where the system has none."""
    try:
        handle = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
    except (ProcessLookupError, OSError):
        handle = None
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)
