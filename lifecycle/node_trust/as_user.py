"""A child that runs as a user, with the user's groups and within limits, for work in places where the user writes.

It has a session of its own and nothing of root's except its input. The deadline kills the whole session. The user may have stopped
or changed the program, so its answer is as untrusted as any other data of the user.
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
    """The user of the child; `groups` are the supplementary ones."""

    uid: int
    gid: int
    groups: tuple[int, ...] = ()


class Limits(NamedTuple):
    """The limits of one child: bytes of its address space, of each written file and of its answer, and the number of open files."""

    seconds: float = 15.0
    memory: int = 512 * 1024 * 1024
    file_size: int = 1024 * 1024
    open_files: int = 64
    output: int = 64 * 1024


USUAL = Limits()


class Answer(NamedTuple):
    """The answer of a child.

    :param code: the exit code; 124 after the deadline.
    :param left: the process id of a child that even SIGKILL could not end; 0 by default.
    """

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
    """Run a program as a user. A child in uninterruptible sleep does not end even when killed, so it is left behind.

    :param command: the arguments; the first is the absolute path of the program.
    :param given: the input: bytes, or a file that the child reads itself.
    :param environment: its environment variables, beside a PATH.
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
            os.killpg(child.pid, signal.SIGKILL)  # the whole session; its id stays taken until the child is reaped
        if not in_time and not _has_ended(child.pid, GRACE_SECONDS):
            return Answer(EXPIRED, b"", f"not done after {limits.seconds:.0f} s, and cannot be killed", child.pid)
        code = child.wait()
        return (
            _answer(code, output, error, limits.output)
            if in_time
            else Answer(EXPIRED, b"", f"not done after {limits.seconds:.0f} s")
        )


def python(*arguments: str) -> list[str]:
    """The command for a user's Python program: with this interpreter if users can reach it, else with the system's."""
    real = Path(sys.executable).resolve()
    reachable = all(place.stat().st_mode & 0o005 == 0o005 for place in [real, *real.parents])
    interpreter = sys.executable if reachable or not Path(SYSTEM_PYTHON).exists() else SYSTEM_PYTHON
    return [interpreter, "-I", "-S", "-B", *arguments]


def _answer(code: int, output: BinaryIO, error: BinaryIO, limit: int) -> Answer:
    said, complaint = _read(output, limit), _read(error, limit)
    if len(said) > limit:
        return Answer(code or 1, b"", f"its answer has more than {limit} bytes")
    return Answer(code, said, complaint[:limit].decode(errors="replace"))


def _read(file: BinaryIO, limit: int) -> bytes:
    file.seek(0)
    return file.read(limit + 1)


def _has_ended(pid: int, seconds: float) -> bool:
    """Whether the child ends in time; it is not reaped."""
    deadline, pause = time.monotonic() + seconds, 0.0005
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        pause = min(pause * 2, 0.05, left)
        time.sleep(pause)
    return True
