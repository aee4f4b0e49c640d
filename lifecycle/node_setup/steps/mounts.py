"""Awaits the node's file systems and checks that each is the right one and answers.

Where the scripts own the node, and after a reboot, a file system that nobody mounts is mounted here.
"""

from __future__ import annotations

import time

from node_setup.config import Mount
from node_setup.errors import NodeSetupError
from node_setup.mounts import await_mount, mounted
from node_setup.node import Node

MANDATORY = True
GRACE_SECONDS = 20.0
MOUNT_SECONDS = 60.0


def needed(node: Node) -> bool:
    return bool(node.mounts)


def apply(node: Node) -> None:
    deadline = time.monotonic() + node.patience.mount
    for mount in node.mounts:
        if node.mode != "on_init_complete":
            _mount_what_nobody_mounts(node, mount, deadline)
        await_mount(mount, node.root, deadline)


def verify(node: Node) -> None:
    for mount in node.mounts:
        if mounted(node.path("/proc/mounts"), mount.path) is None:
            raise NodeSetupError(f"{mount.path}: is no longer mounted")


def _mount_what_nobody_mounts(node: Node, mount: Mount, deadline: float) -> None:
    try:
        await_mount(mount, node.root, min(deadline, time.monotonic() + GRACE_SECONDS))
    except NodeSetupError as error:
        if "is not mounted" not in str(error):
            raise
        node.log.line(f"{error}; mounting it")
        node.folder(mount.path)
        node.run(["mount", *_arguments(mount)], seconds=MOUNT_SECONDS)


def _arguments(mount: Mount) -> list[str]:
    if mount.type == "lustre":
        return ["-t", "lustre", "-o", "noatime,flock", f"{mount.dns_name}@tcp:/{mount.export}", mount.path]
    return ["-t", "nfs", "-o", "nfsvers=4.2,nconnect=16,noatime", f"{mount.dns_name}:/{mount.export}", mount.path]
