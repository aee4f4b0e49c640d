#!/usr/bin/python3
"""Double of `mount.lustre` and `mount.nfs`: binds a directory that all nodes share in place of a file system.

`mount -t lustre SERVER@tcp:/NAME DIRECTORY` and `mount -t nfs SERVER:/NAME DIRECTORY` call it by those names. Each NFS server has a
directory of its own. The rig orders faults in a file: `fail` ends with the message and exit code of servers that are away, `hang`
does not come back (but, unlike the kernel's client, can be killed).
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of file system: the form of its sources, in words too, the directory behind it, and the kernel's name for it."""

    source: str
    form: str
    backing: str
    shown: str
    away: int


KINDS = {
    "mount.lustre": Kind(r"[^/]+:/[A-Za-z0-9_-]{1,8}", "SERVER@tcp:/NAME", "/mnt/.lustre", "lustre", 110),
    "mount.nfs": Kind(r"[A-Za-z0-9.-]+:/[A-Za-z0-9_./-]+", "SERVER:/NAME", "/mnt/.openzfs", "nfs4", 32),
}
FAULT = Path("/mnt/.lustre-control/fault")
RECORD = Path("/run/shared-mounts")
TABLE = Path("/proc/mounts")
SHOWN_SECONDS = 5.0


def main(program: str, arguments: list[str]) -> int:
    kind = KINDS[program]
    positional = [argument for argument in arguments if not argument.startswith("-")]
    source, target = positional[0], os.path.realpath(positional[1])
    if re.fullmatch(kind.source, source) is None:
        print(f"{program}: {source}: not of the form {kind.form}", file=sys.stderr)  # noqa: T201
        return 22
    fault = FAULT.read_text(encoding="ascii") if FAULT.exists() else ""
    if fault == "hang":
        signal.pause()
    if fault == "fail":
        print(f"{program}: mount {source} at {target} failed: Connection timed out", file=sys.stderr)  # noqa: T201
        return kind.away
    with RECORD.open("a", encoding="utf-8") as file:
        file.write(json.dumps([target, source, kind.shown]) + "\n")
    bound = ["/usr/bin/mount", "--no-mtab", "--bind", backing(kind, source), target]
    mounted = subprocess.run(bound, check=False)  # noqa: S603
    deadline = time.monotonic() + SHOWN_SECONDS
    while mounted.returncode == 0 and f" {target} {kind.shown} " not in TABLE.read_text(encoding="utf-8"):
        if time.monotonic() > deadline:
            print(f"{program}: mount-table.service does not show the mount", file=sys.stderr)  # noqa: T201
            return 1
        time.sleep(0.01)
    return mounted.returncode


def backing(kind: Kind, source: str) -> str:
    """The shared directory behind a source."""
    if kind.shown == "lustre":
        return kind.backing
    own = Path(kind.backing, source.partition(":")[0])
    own.mkdir(mode=0o755, exist_ok=True)
    return str(own)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[0]).name, sys.argv[1:]))
