#!/usr/bin/python3
"""Double of `mount.lustre`: binds the directory that all nodes share in place of a Lustre file system.

`mount -t lustre SERVER@tcp:/NAME DIRECTORY` calls it. The rig orders faults in a file: `fail` ends with the message
and exit code of servers that are away, `hang` does not come back (but, unlike the kernel's client, can be killed).
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

BACKING = "/mnt/.lustre"
FAULT = Path("/mnt/.lustre-control/fault")
RECORD = Path("/run/lustre-mounts")
TABLE = Path("/proc/mounts")
SHOWN_SECONDS = 5.0


def main(arguments: list[str]) -> int:
    positional = [argument for argument in arguments if not argument.startswith("-")]
    source, target = positional[0], os.path.realpath(positional[1])
    if re.fullmatch(r"[^/]+:/[A-Za-z0-9_-]{1,8}", source) is None:
        print(f"mount.lustre: {source}: not of the form SERVER@tcp:/NAME", file=sys.stderr)  # noqa: T201
        return 22
    fault = FAULT.read_text(encoding="ascii") if FAULT.exists() else ""
    if fault == "hang":
        signal.pause()
    if fault == "fail":
        print(f"mount.lustre: mount {source} at {target} failed: Connection timed out", file=sys.stderr)  # noqa: T201
        return 110
    with RECORD.open("a", encoding="utf-8") as file:
        file.write(json.dumps([target, source]) + "\n")
    mounted = subprocess.run(["/usr/bin/mount", "--no-mtab", "--bind", BACKING, target], check=False)  # noqa: S603
    deadline = time.monotonic() + SHOWN_SECONDS
    while mounted.returncode == 0 and f" {target} lustre " not in TABLE.read_text(encoding="utf-8"):
        if time.monotonic() > deadline:
            print("mount.lustre: mount-table.service does not show the mount", file=sys.stderr)  # noqa: T201
            return 1
        time.sleep(0.01)
    return mounted.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
