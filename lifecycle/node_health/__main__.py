"""`python3 -m node_health check [--chain PROGRAM ARGUMENT...] | hang | status`.

`check` ends with the exit code of the chained program, or 0 without one. `hang` runs until it is stopped. Both read the
`config.json` beside the package.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from node_health import check, status
from node_health.errors import NodeHealthError
from node_health.settings import Settings, read_settings
from node_health.system import LocalSystem
from node_health.watch import Watch

USAGE = "usage: python3 -m node_health check [--chain PROGRAM ARGUMENT...] | hang | status"
CONFIG = Path(__file__).resolve().parent.parent / "config.json"


def main(arguments: list[str]) -> int:
    verb, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    chained = rest[:1] == ["--chain"] and len(rest) > 1
    if verb not in ("check", "hang", "status") or (rest and not (verb == "check" and chained)):
        sys.stderr.write(f"{USAGE}, got {arguments!r}\n")
        return 2
    system = LocalSystem()
    if verb == "status":
        sys.stdout.write(status.table(system))
        return 0
    try:
        settings = read_settings(CONFIG)
    except NodeHealthError as error:
        sys.stderr.write(f"{error}\n")
        if verb == "hang":
            return 1
        settings = Settings()  # a failed check would keep slurmd from registering and the chained program from running
    if verb == "check":
        outcome = check.run(system, settings, node_name(), rest[1:])
        sys.stdout.write(outcome.output)
        return outcome.code
    if not settings.enabled:
        sys.stderr.write(f"{CONFIG}: has no software.health, so there is nothing to watch\n")
        return 0
    Watch(system, settings, node_name()).forever()
    return 0


def node_name() -> str:
    """The node's name in Slurm, from slurmd's environment; otherwise the host name."""
    return os.environ.get("SLURMD_NODENAME") or socket.gethostname().partition(".")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
