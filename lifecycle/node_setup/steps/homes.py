"""Homes on the shared file system, the same on every node: the first node makes each home, completely and once.

The folder of the homes belongs to root alone, so that nobody can replace another user's home. An existing home belongs to the user,
and root does not enter it.
"""

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
    if not node.is_folder(homes):
        node.folder(homes)
    for user in node.software.users:
        if not node.exists(f"{homes}/{user.name}"):
            _make(node, user, homes)


def verify(node: Node) -> None:
    """Make all homes. A home with a problem is skipped: it concerns its user and not the node."""
    for user in node.software.users:
        try:
            _check(node, f"{_homes(node)}/{user.name}", user)
        except (NodeSetupError, OSError) as error:
            node.log.line(f"skipped: homes: {error}")


def _check(node: Node, path: str, user: User) -> None:
    uid, _ = node.owner(path)
    if uid != user.uid:
        raise NodeSetupError(f"{path}: belongs to uid {uid}, and {user.name} has uid {user.uid}")
    if not stat.S_ISDIR(node.status(path).st_mode):
        raise NodeSetupError(f"{path}: is not a folder, so it cannot be the home of {user.name}")


def _make(node: Node, user: User, homes: str) -> None:
    """Make a home under another name and move it into place, so that no login finds half of it."""
    beside = f"{homes}/.{user.name}.{node.name}"
    node.remove(beside)
    node.folder(beside, 0o700)
    for name in node.tree(SKELETON):
        content, mode = node.load(f"{SKELETON}/{name}")
        node.write(f"{beside}/{name}", content, mode, user.name)
    node.folder(beside, 0o700, user.name)
    if not node.move(beside, f"{homes}/{user.name}"):
        node.remove(beside)


def _homes(node: Node) -> str:
    return str(node.software.homes)
