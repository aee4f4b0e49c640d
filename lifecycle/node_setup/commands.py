"""Runs the programs of the node, each with a deadline that also holds for one that cannot be killed."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

FOLDERS = ("/opt/slurm/sbin", "/opt/slurm/bin", "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
MISSING = 127
EXPIRED = 124
GRACE_SECONDS = 2.0


class Completed(NamedTuple):
    code: int
    output: str
    error: str


def find_program(root: str, program: str) -> str | None:
    """The path of a program in the folders of a system whose root is that; a path is taken as it is."""
    candidates = [root + program] if program.startswith("/") else [f"{root}{folder}/{program}" for folder in FOLDERS]
    return next((path for path in candidates if Path(path).is_file() and os.access(path, os.X_OK)), None)


def run_command(root: str, command: Sequence[str], text: str, seconds: float, environment: Mapping[str, str]) -> Completed:
    """Runs one of the node's programs in an environment of its own: a path, the C.UTF-8 locale and ``environment``.

    What is not installed ends with 127, what is not done in time with 124. In uninterruptible sleep even a killed program
    does not end, so it is left behind.
    """
    program = find_program(root, command[0])
    if program is None:
        return Completed(MISSING, "", f"{command[0]} is not installed")
    path = ":".join(root + folder for folder in FOLDERS)
    values = {"PATH": path, "LC_ALL": "C.UTF-8", "HOME": "/root", **environment}
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        given.write(text.encode())
        given.seek(0)
        child = subprocess.Popen(  # noqa: S603
            [program, *command[1:]], stdin=given, stdout=output, stderr=error, env=values, cwd="/", start_new_session=True
        )
        try:
            code = child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(timeout=GRACE_SECONDS)
            return Completed(EXPIRED, "", f"not done after {seconds:.0f} s")
        output.seek(0)
        error.seek(0)
        return Completed(code, output.read().decode(errors="replace"), error.read().decode(errors="replace"))


def can_connect(address: str, port: int) -> bool:
    """Whether something listens there."""
    try:
        with socket.create_connection((address, port), timeout=5):
            return True
    except OSError:
        return False
