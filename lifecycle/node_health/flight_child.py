"""The child of ``node_health.stacks``: makes PyTorch's Flight Recorder write its file and prints the file in base64.

``flight_child.py PIPE DUMP UID``. The paths come from the job, so only a named pipe is written to, and only a regular file of the
job's own user is read; no link is followed. Without a pipe, the file that the job's own watchdog wrote is taken.
"""

from __future__ import annotations

import base64
import os
import stat
import sys
import time

LIMIT = 64 * 1024 * 1024
WAIT_SECONDS = 10.0
PAUSE_SECONDS = 0.2
FLAGS = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def main(arguments: list[str]) -> int:
    pipe, dump, owner = arguments[0], arguments[1], int(arguments[2])
    before = written(dump)
    deadline = time.monotonic() + (WAIT_SECONDS if pipe and poke(pipe) else 0.0)
    last = None
    while time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
        now = written(dump)
        if now != before and now == last:
            break
        last = now
    content = read(dump, owner)
    sys.stdout.write(base64.b64encode(content).decode("ascii"))
    return 0 if content else 1


def poke(pipe: str) -> bool:
    """Writes to the pipe; whether there was one with a reader."""
    try:
        descriptor = os.open(pipe, os.O_WRONLY | FLAGS)
    except OSError:
        return False
    try:
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            return False
        os.write(descriptor, b"1\n")
        return True
    finally:
        os.close(descriptor)


def written(path: str) -> tuple[int, int]:
    try:
        status = os.lstat(path)
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def read(path: str, owner: int) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | FLAGS)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        return stream.read(LIMIT) if stat.S_ISREG(status.st_mode) and status.st_uid == owner else b""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
