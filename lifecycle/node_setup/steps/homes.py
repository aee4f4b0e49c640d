"""Homes on the shared file system, the same on every node: each made whole, once, by whichever node comes first."""

from __future__ import annotations

import stat

from node_setup.errors import NodeSetupError
from node_setup.node import Node
from node_setup.software import User

MANDATORY = True
SKELETON = "/etc/skel"


def needed(node: Node) -> bool:
    return bool(node.software.users)


def apply(node: Node) -> None:
    homes = _homes(node)
    if not node.path(homes).is_dir():
        node.folder(homes)
    for user in node.software.users:
        if not node.path(f"{homes}/{user.name}").exists():
            _make(node, user, homes)


def verify(node: Node) -> None:
    for user in node.software.users:
        path = node.path(f"{_homes(node)}/{user.name}")
        if not stat.S_ISDIR(path.lstat().st_mode):
            raise NodeSetupError(f"{_homes(node)}/{user.name}: is not a folder, so it cannot be the home of {user.name}")
        uid, _ = node.owner(f"{_homes(node)}/{user.name}")
        if uid != user.uid:
            raise NodeSetupError(f"{_homes(node)}/{user.name}: belongs to uid {uid}, and {user.name} has uid {user.uid}")


def _make(node: Node, user: User, homes: str) -> None:
    """Filled under another name and then moved, so that no login meets half of it."""
    beside = f"{homes}/.{user.name}.{node.name}"
    node.remove(beside)
    node.folder(beside, 0o700)
    for path in sorted(node.path(SKELETON).rglob("*")):
        if path.is_file() and not path.is_symlink():
            name = path.relative_to(node.path(SKELETON))
            node.write(f"{beside}/{name}", path.read_bytes(), stat.S_IMODE(path.stat().st_mode), user.name)
    node.folder(beside, 0o700, user.name)
    if not node.move(beside, f"{homes}/{user.name}"):
        node.remove(beside)


def _homes(node: Node) -> str:
    return str(node.software.homes)
