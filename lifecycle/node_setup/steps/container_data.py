"""Moves the data of containerd and of the kubelet, on a node of EKS, to the largest local disk; without a disk it stays.

Their folders become bind mounts of folders on the disk, so the configuration that the image writes for both needs no change. The
mounts are made again at each boot before both start. A disk that a boot finds empty gets the root volume's copy again; a new root
volume replaces what an earlier one left on the disk.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Sequence

from node_setup import disks, systemd
from node_setup.errors import NodeSetupError
from node_setup.node import STATE, Node

MANDATORY = False
FOLDERS = {"containerd": "/var/lib/containerd", "kubelet": "/var/lib/kubelet"}
UNITS = ("kubelet.service", "containerd.service")
PODS = "/var/lib/kubelet/pods"
RECORD = f"{STATE}/container_data.json"
COPY_SECONDS = 600.0


def needed(node: Node) -> bool:
    return node.software.containers and node.has("containerd")


def apply(node: Node) -> None:
    try:
        _move_unbound(node)
    finally:
        _resume(node)


def verify(node: Node) -> None:
    for name in _recorded(node, "moved"):
        if not _is_bound(node, name):
            raise NodeSetupError(f"{FOLDERS[name]}: is not on the local disk")


def _move_unbound(node: Node) -> None:
    unbound = [name for name in FOLDERS if not _is_bound(node, name)]
    place = _place(node) if unbound else None
    if place is not None:
        _stop(node)
        for name in unbound:
            _move(node, place, name)


def _place(node: Node) -> str | None:
    """The folder for the data on the disk, the same at each boot."""
    known = node.recall(RECORD).get("disk")
    try:
        node.wait_until(lambda: _disk(node, known) is not None, "no local disk is mounted", node.patience.disk)
    except NodeSetupError as error:
        if known is not None:
            raise NodeSetupError(f"{known}: is not mounted, so the data of containers begins anew on the root volume") from error
        node.log.line(f"{error}; the data of containers stays on the root volume")
        return None
    found = _disk(node, known)
    if found is None:
        return None
    disks.require_safe(node, found)
    _record(node, "disk", found)
    return f"{found}/hyperpod"


def _disk(node: Node, known: object) -> str | None:
    if known is None:
        return disks.largest(node)
    return next((path for path in disks.DISKS if path == known and path in disks.mounted_paths(node)), None)


def _stop(node: Node) -> None:
    """Stop both services; what was active is written down first, so that a killed run starts it again later."""
    active = [unit for unit in UNITS if systemd.is_active(node, unit)]
    if UNITS[0] in active and node.names(PODS):
        raise NodeSetupError(f"{PODS}: holds pods, and moving their files would break them; replace the node to move them")
    stopped = _recorded(node, "stopped")
    if set(active) - set(stopped):
        _record(node, "stopped", [unit for unit in UNITS if unit in active or unit in stopped])
    for unit in active:
        systemd.stop(node, unit)


def _resume(node: Node) -> None:
    """Start what this step stopped. At a boot systemd starts both itself, after this program."""
    stopped = _recorded(node, "stopped")
    for unit in reversed(stopped) if node.mode != "boot" else ():
        systemd.start(node, unit)
    if stopped:
        _record(node, "stopped", [])


def _move(node: Node, place: str, name: str) -> None:
    path, source = FOLDERS[name], f"{place}/{name}"
    moved = _recorded(node, "moved")
    if name not in moved or not node.exists(source):
        _copy(node, path, source)
        _record(node, "moved", [*moved, *([] if name in moved else [name])])
    if not stat.S_ISDIR(node.status(source).st_mode) or node.owner(source) != (0, 0):
        raise NodeSetupError(f"{source}: is not a folder of root")
    node.run(["mount", "--bind", source, path])


def _copy(node: Node, path: str, source: str) -> None:
    """Put a copy of a folder into place, completely or not at all. What it replaces is removed last."""
    node.folder(source.rpartition("/")[0], 0o700)
    if not node.exists(path):
        node.folder(path, 0o700)
    _clear(node, f"{source}.new", f"{source}.old")
    node.run(["cp", "--archive", "--one-file-system", path, f"{source}.new"], seconds=COPY_SECONDS)
    node.move(source, f"{source}.old")
    if not node.move(f"{source}.new", source):
        raise NodeSetupError(f"{source}: cannot be put into place")
    _clear(node, f"{source}.old")


def _clear(node: Node, *paths: str) -> None:
    """Remove folders that containers filled, so of any depth and width."""
    node.run(["rm", "-rf", "--one-file-system", *paths], seconds=COPY_SECONDS)


def _is_bound(node: Node, name: str) -> bool:
    return FOLDERS[name] in disks.mounted_paths(node)


def _recorded(node: Node, key: str) -> Sequence[str]:
    """The known names in a list of the record."""
    value = node.recall(RECORD).get(key)
    known = (*FOLDERS, *UNITS)
    return [name for name in value if name in known] if isinstance(value, list) else []


def _record(node: Node, key: str, value: object) -> None:
    node.write(RECORD, json.dumps({**node.recall(RECORD), key: value}, sort_keys=True) + "\n", 0o600)
