"""Runs the programs of the node. Each has a deadline, even a program that cannot be killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, NamedTuple

from node_trust.as_user import Answer, Identity, Limits, python, run_as_user

from node_setup.home_child import PROGRAM, Request

FOLDERS = ("/opt/slurm/sbin", "/opt/slurm/bin", "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
MISSING = 127
EXPIRED = 124
GRACE_SECONDS = 2.0
MAX_SAID = 16 * 1024 * 1024
HOME_LIMITS = Limits(seconds=20, file_size=2 * 1024 * 1024, output=4096)
NOBODY = Identity(65534, 65534)


class Command(NamedTuple):
    """A program with its arguments and its input.

    :param source: a file that the program reads itself as standard input.
    :param output: a file that the program writes itself as standard output.
    :param alone: whether it runs as nobody, isolated with its input, because the input may contain commands; false by default.
    """

    words: Sequence[str]
    seconds: float = 120
    environment: Mapping[str, str] = {}
    text: str = ""
    source: BinaryIO | None = None
    output: BinaryIO | None = None
    alone: bool = False


class Completed(NamedTuple):
    code: int
    output: str
    error: str


def find_program(root: str, program: str) -> str | None:
    """The path of a program in the folders of the system at `root`; a path stays as it is."""
    candidates = [root + program] if program.startswith("/") else [f"{root}{folder}/{program}" for folder in FOLDERS]
    return next((path for path in candidates if Path(path).is_file() and os.access(path, os.X_OK)), None)


def run_command(root: str, command: Command) -> Completed:
    """Run a program of the node with a clean environment: a path, the C.UTF-8 locale and the command's own variables.

    The code is 127 for a missing program and 124 after the deadline. A program in uninterruptible sleep does not end even when
    killed, so it is left behind.
    """
    program = find_program(root, command.words[0])
    if program is None:
        return Completed(MISSING, "", f"{command.words[0]} is not installed")
    path = ":".join(root + folder for folder in FOLDERS)
    values = {"PATH": path, "LC_ALL": "C.UTF-8", "HOME": "/root", **command.environment}
    words = [program, *command.words[1:]]
    with ExitStack() as stack:
        given = command.source or stack.enter_context(tempfile.TemporaryFile())
        output = command.output or stack.enter_context(tempfile.TemporaryFile())
        if command.source is None:
            given.write(command.text.encode())
            given.seek(0)
        if command.alone:
            return _run_alone(words, given, command.seconds, values)
        error = stack.enter_context(tempfile.TemporaryFile())
        code = _run(words, given, output, error, command.seconds, values)
        if code is None:
            return Completed(EXPIRED, "", f"not done after {command.seconds:.0f} s")
        return Completed(code, "" if command.output else _said(output), _said(error))


def _run(
    words: list[str], given: BinaryIO, output: BinaryIO, error: BinaryIO, seconds: float, environment: Mapping[str, str]
) -> int | None:
    """The exit code; `None` after the deadline."""
    child = subprocess.Popen(  # noqa: S603
        words, stdin=given, stdout=output, stderr=error, env=environment, cwd="/", start_new_session=True
    )
    try:
        return child.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=GRACE_SECONDS)
        return None


def _run_alone(words: list[str], given: BinaryIO, seconds: float, environment: Mapping[str, str]) -> Completed:
    who = NOBODY if os.geteuid() == 0 else Identity(os.geteuid(), os.getegid())
    limits = Limits(seconds=seconds, memory=4 * 1024**3)
    answer = run_as_user(who, words, given, limits, {**environment, "HOME": "/"})
    return Completed(answer.code, answer.output.decode(errors="replace"), answer.error)


def _said(file: BinaryIO) -> str:
    file.seek(0)
    return file.read(MAX_SAID).decode(errors="replace")


def run_in_home(who: Identity, home: str, programs: str, request: Request) -> Answer:
    """The answer of a child process that runs as this user in the user's home, with the programs in that folder."""
    given = json.dumps(request._asdict()).encode()
    return run_as_user(who, python("-c", PROGRAM, programs), given, HOME_LIMITS, {"HOME": home}, home)


def can_connect(address: str, port: int) -> bool:
    """Whether a server listens on the address."""
    try:
        with socket.create_connection((address, port), timeout=5):
            return True
    except OSError:
        return False
