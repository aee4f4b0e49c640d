#!/usr/bin/python3
"""Double of the kernel's names for mounts: `/proc/mounts` says `lustre` or `nfs4` where `mount_shared` bound a directory.

A file is mounted over `/proc/mounts` and follows the kernel's table. `/proc/self/mountinfo`, and with it systemd and
`findmnt`, show the directory's own type.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import socket
from pathlib import Path

KERNEL = "/proc/1/mounts"
SHOWN = Path("/run/mount-table")
TABLE = "/proc/mounts"
RECORD = Path("/run/shared-mounts")
MS_BIND = 4096


def render(table: str, record: str) -> str:
    """The kernel's table with the recorded mounts named as what they stand for."""
    recorded = {target: (source, kind) for target, source, kind in map(json.loads, record.splitlines())}
    lines = []
    for line in table.splitlines():
        _, target, _, options = line.split(" ", 3)
        source, kind = recorded.get(target, ("", ""))
        lines.append(f"{source} {target} {kind} {options}" if kind else line)
    return "\n".join(lines) + "\n"


def cover() -> None:
    """Mounts the shown file over the symbolic link itself, not over what the link leads to."""
    link = os.open(TABLE, os.O_PATH | os.O_NOFOLLOW)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(bytes(SHOWN), f"/proc/self/fd/{link}".encode(), None, MS_BIND, None) != 0:
        raise OSError(ctypes.get_errno(), "cannot mount over /proc/mounts")
    os.close(link)


def show(table: str, shown: Path = SHOWN) -> None:
    """Replaces the shown table by one write: a mount that stays is there for every reader.

    The file never shrinks, so spaces follow a shorter table.
    """
    text = table.rstrip("\n").encode()
    place = os.open(shown, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        left = os.fstat(place).st_size - len(text) - 1
        os.pwrite(place, text + b" " * left + b"\n", 0)
    finally:
        os.close(place)


def update(kernel: int) -> None:
    os.lseek(kernel, 0, os.SEEK_SET)
    table = b""
    while part := os.read(kernel, 65536):
        table += part
    record = RECORD.read_text(encoding="utf-8") if RECORD.exists() else ""
    show(render(table.decode(), record))


def main() -> None:
    kernel = os.open(KERNEL, os.O_RDONLY)
    update(kernel)
    cover()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
        ready.sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
    changes = select.poll()
    changes.register(kernel, select.POLLPRI | select.POLLERR)
    while True:
        update(kernel)
        changes.poll()


if __name__ == "__main__":
    main()
