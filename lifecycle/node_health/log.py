"""The log of this package on the node. A log that cannot be written is given up: a full disk must not end the checks."""

from __future__ import annotations

import contextlib
import time

from node_health.system import System

LOG = "/var/log/hyperpod/node_health.log"


def log(system: System, text: str) -> None:
    """Adds one line with its time in UTC."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(system.now()))
    with contextlib.suppress(OSError):
        system.append(LOG, f"{moment} {text.rstrip()}\n")
