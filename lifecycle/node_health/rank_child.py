"""The child of `node_health.stacks`: asks one rank for its stacks and for PyTorch's Flight Recorder, as the rank's own user.

Its order is one JSON argument. It prints both results in JSON, with the Flight Recorder's file in base64. The paths come from the
job, and the child has only the job's rights there. It reads regular files only, so it never waits for a pipe.
"""

from __future__ import annotations

import base64
import json
import os
import stat
import subprocess
import sys
import time
from typing import Any

FLIGHT_LIMIT = 16 * 1024 * 1024
TEXT_LIMIT = 512 * 1024
FLIGHT_SECONDS = 10.0
PAUSE_SECONDS = 0.2
FLAGS = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
SILENT = "no Python stacks: the process did not answer its dump signal, so it is stopped or blocked in the kernel"
DEAF = "no Python stacks: py-spy is not installed or not permitted, and the process handles no dump signal"


def main(text: str) -> int:
    asked = json.loads(text)
    stacks = py_spy(asked) or by_signal(asked)
    flight = base64.b64encode(recorded(asked)).decode("ascii")
    sys.stdout.write(json.dumps({"stacks": stacks[:TEXT_LIMIT], "flight": flight}))
    return 0


def py_spy(asked: dict[str, Any]) -> str:
    if not asked["py_spy"]:
        return ""
    command = [asked["py_spy"], "dump", "--nonblocking", "--pid", str(asked["pid"])]
    try:
        done = subprocess.run(  # noqa: S603
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=asked["py_spy_seconds"], check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def by_signal(asked: dict[str, Any]) -> str:
    """The stacks that the job's heartbeat prints at its signal. Without its file, the signal is not sent: it could kill the job."""
    if not asked["signal"] or not os.path.isfile(asked["stack"]):  # noqa: PTH113
        return DEAF
    before = written(asked["stack"])[1]
    os.kill(asked["pid"], asked["signal"])
    deadline = time.monotonic() + asked["signal_seconds"]
    text = shown = b""
    while time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
        shown, text = text, read(asked["stack"], TEXT_LIMIT, before)
        if text and text == shown:
            break
    return text.decode("utf-8", "replace") or SILENT


def recorded(asked: dict[str, Any]) -> bytes:
    """The Flight Recorder's output on a request through its pipe; without a pipe, the output of the job's own watchdog."""
    dump, pipe = asked["flight_dump"], asked["flight_pipe"]
    if not dump:
        return b""
    before = written(dump)
    deadline = time.monotonic() + (FLIGHT_SECONDS if pipe and poke(pipe) else 0.0)
    last = None
    while time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
        now = written(dump)
        if now != before and now == last:
            break
        last = now
    return read(dump, FLIGHT_LIMIT)


def poke(pipe: str) -> bool:
    """Write to the pipe, and return whether it had a reader."""
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


def read(path: str, limit: int, offset: int = 0) -> bytes:
    """The content of the user's own regular file from a position on."""
    try:
        descriptor = os.open(path, os.O_RDONLY | FLAGS)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return b""
        stream.seek(offset)
        return stream.read(limit)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
