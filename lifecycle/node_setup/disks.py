"""The local disks of a node: the instance store and the extra volume."""

from __future__ import annotations

import stat

from node_trust.way import OTHERS_WRITE

from node_setup.errors import NodeSetupError
from node_setup.node import Node

DISKS = ("/opt/dlami/nvme", "/opt/sagemaker")
"""Where the image mounts them, the largest first."""


def largest(node: Node) -> str | None:
    """The largest mounted local disk of the node."""
    mounted = mounted_paths(node)
    return next((path for path in DISKS if path in mounted), None)


def mounted_paths(node: Node) -> set[str]:
    return {line.split(" ")[1] for line in (node.read("/proc/mounts") or "").splitlines()}


def require_safe(node: Node, path: str) -> None:
    """Refuse a disk where somebody else than root could put another folder in place of the data's."""
    owner, mode = node.owner(path)[0], stat.S_IMODE(node.status(path).st_mode)
    if owner != 0 or (mode & OTHERS_WRITE and not mode & stat.S_ISVTX):
        raise NodeSetupError(
            f"{path}: belongs to uid {owner} and has mode {mode:04o}, so others than root could replace the data of containers; "
            "give it to root with mode 0755 or 1777"
        )
