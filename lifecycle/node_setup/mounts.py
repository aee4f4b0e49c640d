"""Waits for a file system that the service mounts, and checks that it is the right one and answers.

A Lustre client without its servers blocks every process that touches the mount, and even SIGKILL does not end it. So a child
touches the mount, and is left behind if it does not return.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from node_setup.config import Mount
from node_setup.errors import NodeSetupError, read_text
from node_setup.waiting import Clock

KERNEL_TYPES = {"lustre": ("lustre",), "openzfs": ("nfs", "nfs4")}
PAUSE_SECONDS = 2.0
# What the last look has too: on a busy node a child may take seconds to begin.
ANSWER_SECONDS = 10.0


class Entry(NamedTuple):
    source: str
    type: str


def await_mount(mount: Mount, root: str, deadline: float, clock: Clock) -> None:
    """Wait until the file system is mounted and answers.

    :param deadline: the end of the wait, as a time of `clock.monotonic`.
    :raises NodeSetupError: after the deadline, or at once if another file system is mounted there.
    """
    while True:
        answered = _touch(root + mount.path, max(ANSWER_SECONDS, deadline - clock.monotonic()))
        entry = mounted(Path(root + "/proc/mounts"), mount.path)
        if entry is not None and not is_mount(entry, mount):
            expected = f"{mount.type} from {mount.dns_name}:/{mount.export}"
            raise NodeSetupError(f"{mount.path}: mounted is {entry.type} from {entry.source}, expected is {expected}")
        if answered is None:
            raise NodeSetupError(f"{mount.path}: the {mount.type} file system {mount.dns_name} does not answer")
        if entry is not None and answered:
            return
        if clock.monotonic() + PAUSE_SECONDS > deadline:
            state = "is not mounted" if entry is None else "is mounted but cannot be read"
            raise NodeSetupError(f"{mount.path}: the {mount.type} file system {mount.dns_name} {state}")
        clock.sleep(PAUSE_SECONDS)


def mounted(mounts: Path, path: str) -> Entry | None:
    """The mounted file system at a path; a waiting automount does not count."""
    found = last_entry(mounts, path)
    return None if found is None or found.type == "autofs" else found


def last_entry(mounts: Path, path: str) -> Entry | None:
    """The kernel's topmost mount at a folder."""
    found = None
    for line in read_text(mounts).splitlines():
        source, target, kind = line.split(" ")[:3]
        if target == path:
            found = Entry(source, kind)
    return found


def is_mount(entry: Entry, mount: Mount) -> bool:
    """Whether the kernel's entry is the expected file system.

    Lustre may show the addresses of its servers instead of the name (`10.1.0.9@tcp:/abcdefgh`). So any address is accepted, but a
    name must match.
    """
    hosts, _, export = entry.source.rpartition(":/")
    host = re.split(r"[@:,]", hosts)[0]
    is_host = host == mount.dns_name or re.fullmatch(r"[0-9.]+", host) is not None
    return entry.type in KERNEL_TYPES[mount.type] and export == mount.export and is_host


def _touch(path: str, seconds: float) -> bool | None:
    """Whether a child process could read the folder; `None` if it did not return within the seconds."""
    # The dot makes the kernel enter the folder and so triggers an automount.
    command = [sys.executable, "-I", "-S", "-c", "import os, sys; os.stat(sys.argv[1])", f"{path}/."]
    nothing = subprocess.DEVNULL
    child = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)  # noqa: S603
    try:
        return child.wait(timeout=seconds) == 0
    except subprocess.TimeoutExpired:
        child.kill()  # no wait: a child in uninterruptible sleep would block this process too
        return None
