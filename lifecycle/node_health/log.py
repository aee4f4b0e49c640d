"""The log of this package on the node. An unwritable log is ignored: a full disk must not end the checks.

Entries may contain a user's text: it is escaped, so that it neither controls a terminal nor begins a line of its own.
"""

from __future__ import annotations

import contextlib
import time

from node_health.bounds import page
from node_health.system import System

LOG = "/var/log/hyperpod/node_health.log"
LIMIT = 16 * 1024


def log(system: System, text: str) -> None:
    """Add an entry with its time in UTC; further lines of a longer text are indented."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(system.now()))
    with contextlib.suppress(OSError):
        system.append(LOG, f"{moment} " + page(text.rstrip(), LIMIT).replace("\n", "\n    ") + "\n")
