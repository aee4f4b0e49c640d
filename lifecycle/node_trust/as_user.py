"""A child that is a user, with his groups and within limits, for what must be done where that user writes.

It has a session of its own, nothing of root's but what it is given, and is killed as a whole at the deadline. What it says comes
from a program that the user may have stopped or changed: judge it like anything else of his.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

LAUNCHER = Path(__file__).with_name("launcher.py")
EXPIRED = 124
GRACE_SECONDS = 2.0
PATH = "/opt/slurm/bin:/usr/local/bin:/usr/bin:/bin"
SYSTEM_PYTHON = "/usr/bin/python3"


class Identity(NamedTuple):
    """Whom the child is: ``groups`` are the supplementary ones."""

    uid: int
    gid: int
    groups: tuple[int, ...] = ()


class Limits(NamedTuple):
    """Of one child: bytes of its address space, of each file that it writes, of its answer, and how many files are open."""

    seconds: float = 15.0
    memory: int = 512 * 1024 * 1024
    file_size: int = 1024 * 1024
    open_files: int = 64
    output: int = 64 * 1024


USUAL = Limits()


class Answer(NamedTuple):
    """``code`` is 124 after the deadline; ``left`` is the child that not even SIGKILL ended, else 0."""

    code: int
    output: bytes
    error: str
    left: int = 0


def run_as_user(
    identity: Identity,
    command: Sequence[str],
    given: bytes | BinaryIO = b"",
    limits: Limits = USUAL,
    environment: Mapping[str, str] | None = None,
    folder: str = "/",
) -> Answer:
    """Runs a program, by its absolute path, in ``folder`` with ``given`` as its input: bytes, or a file that it reads itself.

    Its environment is ``environment`` and a PATH. In uninterruptible sleep even a killed child does not end: it is left behind.
    """
    order = {"identity": identity, "limits": limits._asdict(), "folder": folder, "command": list(command)}
    values = {"PATH": PATH, "LC_ALL": "C.UTF-8", **(environment or {})}
    launch = [sys.executable, "-I", "-S", "-B", str(LAUNCHER), json.dumps(order)]
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        if isinstance(given, bytes):
            source.write(given)
            source.seek(0)
        child = subprocess.Popen(  # noqa: S603
            launch,
            stdin=source if isinstance(given, bytes) else given,
            stdout=output,
            stderr=error,
            env=values,
            cwd="/",
            start_new_session=True,
        )
        in_time = _has_ended(child.pid, limits.seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)  # with what it started; the id is not free before the child is reaped
        if not in_time and not _has_ended(child.pid, GRACE_SECONDS):
            return Answer(EXPIRED, b"", f"not done after {limits.seconds:.0f} s, and cannot be killed", child.pid)
        code = child.wait()
        return (
            _answer(code, output, error, limits.output)
            if in_time
            else Answer(EXPIRED, b"", f"not done after {limits.seconds:.0f} s")
        )


def python(*arguments: str) -> list[str]:
    """The command of a Python program that a user runs: by this interpreter where users can reach it, else the system's."""
    real = Path(sys.executable).resolve()
    reachable = all(place.stat().st_mode & 0o005 == 0o005 for place in [real, *real.parents])
    interpreter = sys.executable if reachable or not Path(SYSTEM_PYTHON).exists() else SYSTEM_PYTHON
    return [interpreter, "-I", "-S", "-B", *arguments]


def _answer(code: int, output: BinaryIO, error: BinaryIO, limit: int) -> Answer:
    said, complaint = _read(output, limit), _read(error, limit)
    if len(said) > limit:
        return Answer(code or 1, b"", f"it said more than {limit} bytes")
    return Answer(code, said, complaint[:limit].decode(errors="replace"))


def _read(file: BinaryIO, limit: int) -> bytes:
    file.seek(0)
    return file.read(limit + 1)


def _has_ended(pid: int, seconds: float) -> bool:
    """Whether the child ends in that time; it is not reaped."""
    deadline, pause = time.monotonic() + seconds, 0.0005
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        pause = min(pause * 2, 0.05, left)
        time.sleep(pause)
    return True
