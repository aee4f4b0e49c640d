"""Moves container images and layers to the largest local disk: the instance store, else the extra volume, else no move.

Docker and Enroot follow the same rule. The folders are made again after a reboot that emptied the instance store.
"""

from __future__ import annotations

import json

from node_setup import disks, systemd
from node_setup.blocks import with_block
from node_setup.errors import NodeSetupError
from node_setup.node import Node

MANDATORY = False
DAEMON = "/etc/docker/daemon.json"
ENROOT = "/etc/enroot/enroot.conf"


def needed(node: Node) -> bool:
    return node.software.containers and disks.largest(node) is not None and (_has_docker(node) or _has_enroot(node))


def apply(node: Node) -> None:
    place = disks.largest(node)
    if place is None:
        return
    disks.require_safe(node, place)
    if _has_docker(node):
        _set_docker(node, f"{place}/docker")
    if _has_enroot(node):
        _set_enroot(node, f"{place}/enroot")


def verify(node: Node) -> None:
    place = disks.largest(node)
    if _has_docker(node) and not node.is_folder(f"{place}/docker"):
        raise NodeSetupError(f"{place}/docker: is missing")


def _set_docker(node: Node, place: str) -> None:
    node.folder(place, 0o710)
    text = node.read(DAEMON) or "{}"
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise NodeSetupError(f"{DAEMON}: is not JSON: {error}") from error
    if not isinstance(settings, dict):
        raise NodeSetupError(f"{DAEMON}: is {type(settings).__name__}, it must be an object")
    if settings.get("data-root") != place:
        node.write(DAEMON, json.dumps({**settings, "data-root": place}, indent=2) + "\n")
    node.once("docker data-root", place, lambda: systemd.restart_if_active(node, "docker.service"))


def _set_enroot(node: Node, place: str) -> None:
    """Enroot's settings, in a block above the existing ones: Enroot takes the first value of a key."""
    node.folder(place)
    for name in ("data", "cache", "tmp"):
        node.folder(f"{place}/{name}", 0o1777)
    lines = [
        f"ENROOT_DATA_PATH {place}/data/user-$(id -u)",
        f"ENROOT_CACHE_PATH {place}/cache/user-$(id -u)",
        f"ENROOT_TEMP_PATH {place}/tmp",
    ]
    node.write(ENROOT, with_block(node.read(ENROOT) or "", lines, first=True))


def _has_docker(node: Node) -> bool:
    return node.has("dockerd")


def _has_enroot(node: Node) -> bool:
    return node.has("enroot")
