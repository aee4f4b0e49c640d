"""A program that strangers' data keeps busy: its output and its time have a limit, and nothing that it starts outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, NamedTuple

_BLOCKS = 2**20
_BOUNDED = ("/bin/sh", "-c", f'ulimit -f {_BLOCKS} && exec "$@"', "sh") if os.name == "posix" else ()
"""Lets no file of the program grow beyond 512 MiB."""
_CHUNK = 2**16
_PAUSE = 0.005


class TooMuchError(Exception):
    """The program wrote more than its limit."""


class Ended(NamedTuple):
    """How a program ended, and what it wrote."""

    code: int
    output: bytes
    errors: bytes


def run(command: Sequence[str], environment: Mapping[str, str], given: bytes, *, seconds: float, most_bytes: int) -> Ended:
    """Run a program to its end, and end what it leaves behind.

    :param given: its input.
    :param seconds: the time for all of it.
    :param most_bytes: the limit of its output, and of its errors.
    :raises TimeoutError: beyond the time.
    :raises TooMuchError: beyond the limit.
    """
    with tempfile.TemporaryFile() as source:
        source.write(given)
        source.seek(0)
        process = subprocess.Popen(  # noqa: S603
            [*_BOUNDED, *command],
            env=environment,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    assert process.stdout is not None
    assert process.stderr is not None
    readers = [_Reader(pipe, most_bytes) for pipe in (process.stdout, process.stderr)]
    try:
        deadline = time.monotonic() + seconds
        while not _has_ended(process) and not any(reader.excess for reader in readers):
            if time.monotonic() > deadline:
                raise TimeoutError
            time.sleep(_PAUSE)
    finally:
        _end_group(process)
        for reader in readers:
            reader.join()
    if any(reader.excess for reader in readers):
        raise TooMuchError
    return Ended(process.wait(), *(bytes(reader.found) for reader in readers))


class _Reader(threading.Thread):
    """Reads a pipe up to a limit."""

    def __init__(self, pipe: IO[bytes], most: int) -> None:
        super().__init__(daemon=True)
        self._pipe, self._most = pipe, most
        self.found = bytearray()
        self.excess = False
        self.start()

    def run(self) -> None:
        with self._pipe as pipe:
            while part := os.read(pipe.fileno(), _CHUNK):
                if len(self.found) + len(part) > self._most:
                    self.excess = True
                    return
                self.found += part


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has; it stays a zombie, so that its group cannot become another's."""
    if os.name != "posix":
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end_group(process: subprocess.Popen[bytes]) -> None:
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
