"""The child process of `node_trust.as_user`: it becomes the user for good, within limits, and then the program."""

from __future__ import annotations

import ctypes
import json
import math
import os
import resource
import sys
from typing import Any

NO_NEW_PRIVILEGES = 38
FAILED = 125


def main(text: str) -> None:
    order = json.loads(text)
    _limit(order["limits"])
    _become(*order["identity"])
    os.umask(0o077)
    os.chdir(order["folder"])
    os.execv(order["command"][0], order["command"])


def _limit(limits: dict[str, Any]) -> None:
    """Set the limits so that the child cannot raise them; its processor time ends a little after its deadline."""
    values = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: math.ceil(limits["seconds"]) + 1,
        resource.RLIMIT_AS: limits["memory"],
        resource.RLIMIT_FSIZE: limits["file_size"],
        resource.RLIMIT_NOFILE: limits["open_files"],
    }
    for name, value in values.items():
        hard = resource.getrlimit(name)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(name, (value, value))


def _become(uid: int, gid: int, groups: list[int]) -> None:
    """Become the user, groups first, because only root may set them. Without root, a process can only stay its own user."""
    if os.geteuid() == 0:
        os.setgroups(groups)
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    if os.getresuid() != (uid, uid, uid):
        raise PermissionError(f"is uid {os.geteuid()}, cannot become {uid}")
    if ctypes.CDLL(None, use_errno=True).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl: cannot give up new privileges")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(FAILED)
