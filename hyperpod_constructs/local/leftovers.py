"""What a server leaves in its directory and, with virtual nodes, on the machine; however it ended."""

from __future__ import annotations

import shutil
from pathlib import Path

STATE_FILE = "aws.json"
PARTIAL_STATE_FILE = f"{STATE_FILE}.partial"
TEMPORARY = "tmp"
NODES = "nodes"


def clear(directory: Path) -> int:
    """Remove the leftovers of the directory's last server; returns the number of crashed rigs of virtual nodes.

    To be called by who holds the directory.

    :raises NodesError: for nodes that only root can undo.
    """
    for name in (STATE_FILE, PARTIAL_STATE_FILE):
        (directory / name).unlink(missing_ok=True)
    shutil.rmtree(directory / TEMPORARY, ignore_errors=True)
    if not (directory / NODES).exists():
        return 0
    from hyperpod_constructs.local.nodes.slots import undo_crashed

    return undo_crashed(directory / NODES)
