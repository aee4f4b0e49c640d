"""The log of this package on the node. A log that cannot be written is given up: a full disk must not end the checks.

What stands in it may have come from a user: it is shown so that a terminal does not obey it, and no line of his begins one.
"""

from __future__ import annotations

import contextlib
import time

from node_health.bounds import page
from node_health.system import System

LOG = "/var/log/hyperpod/node_health.log"
LIMIT = 16 * 1024


def log(system: System, text: str) -> None:
    """Adds an entry with its time in UTC; the lines of a longer text are indented."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(system.now()))
    with contextlib.suppress(OSError):
        system.append(LOG, f"{moment} " + page(text.rstrip(), LIMIT).replace("\n", "\n    ") + "\n")
