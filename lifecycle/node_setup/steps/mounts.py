"""Waits for the node's file systems and checks that each is the right one and answers.

If the scripts own the node, and after a reboot, this step mounts a file system that nobody else mounts.
"""

from __future__ import annotations

import json

from node_setup.config import Mount
from node_setup.errors import NodeSetupError
from node_setup.mounts import await_mount, last_entry, mounted
from node_setup.node import STATE, Node

MANDATORY = True
OURS = f"{STATE}/mounts.json"
MOUNT_SECONDS = 60.0


def needed(node: Node) -> bool:
    return bool(node.mounts)


def apply(node: Node) -> None:
    deadline = node.clock.monotonic() + node.patience.mount
    for mount in node.mounts:
        if node.mode != "on_init_complete":
            _mount_what_nobody_mounts(node, mount)
        await_mount(mount, node.root, deadline, node.clock)


def verify(node: Node) -> None:
    for mount in node.mounts:
        if mounted(node.path("/proc/mounts"), mount.path) is None:
            raise NodeSetupError(f"{mount.path}: is no longer mounted")


def _mount_what_nobody_mounts(node: Node, mount: Mount) -> None:
    """Whether this step mounted the path before: after a reboot it then waits for nobody else."""
    ours = node.recall(OURS)
    try:
        node.wait_until(
            lambda: last_entry(node.path("/proc/mounts"), mount.path) is not None,
            f"{mount.path}: nobody has mounted the {mount.type} file system {mount.dns_name}",
            0 if mount.path in ours else node.patience.grace,
        )
    except NodeSetupError as error:
        node.log.line(f"{error}; mounting it")
        node.write(OURS, json.dumps({**ours, mount.path: mount.dns_name}, sort_keys=True) + "\n")
        if not node.is_folder(mount.path):
            node.folder(mount.path)
        node.run(["mount", *_arguments(mount)], seconds=min(MOUNT_SECONDS, node.patience.mount))


def _arguments(mount: Mount) -> list[str]:
    if mount.type == "lustre":
        return ["-t", "lustre", "-o", "noatime,flock", f"{mount.dns_name}@tcp:/{mount.export}", mount.path]
    return ["-t", "nfs", "-o", "nfsvers=4.2,nconnect=16,noatime", f"{mount.dns_name}:/{mount.export}", mount.path]
