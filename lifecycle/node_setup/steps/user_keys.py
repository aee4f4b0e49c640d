"""Each user's own ssh key, made once although nodes start together, and the keys that may log in as that user.

A user may change what is in his home while root works there, so root follows no link of his and takes nothing that is not
his; for a home that is not in order, that user is left out and named.
"""

from __future__ import annotations

import stat

from node_setup.blocks import with_block
from node_setup.errors import NodeSetupError
from node_setup.node import Node
from node_setup.software import User

MANDATORY = False
WORK = "/run/hyperpod"
KEY = "id_ed25519"


def needed(node: Node) -> bool:
    return bool(node.software.users) and node.has("ssh-keygen")


def apply(node: Node) -> None:
    wrong = []
    for user in node.software.users:
        try:
            _equip(node, user)
        except NodeSetupError as error:
            wrong.append(str(error))
    if wrong:
        raise NodeSetupError("; ".join(wrong))


def verify(node: Node) -> None:
    for user in node.software.users:
        if not node.exists(f"{_folder(node, user)}/{KEY}"):
            raise NodeSetupError(f"{_folder(node, user)}/{KEY}: is missing")


def _equip(node: Node, user: User) -> None:
    folder = _folder(node, user)
    _check_folder(node, user, folder)
    if not node.path(folder).exists():
        node.folder(folder, 0o700, user.name)
    if not node.exists(f"{folder}/{KEY}"):
        _make_key(node, user, folder)
    _clean(node, f"{WORK}/key-{user.name}")
    public = node.query(["ssh-keygen", "-y", "-f", str(node.path(f"{folder}/{KEY}"))]).output.strip()
    if not public.startswith("ssh-"):
        raise NodeSetupError(f"{folder}/{KEY}: is no key that ssh-keygen can read without a passphrase")
    node.write(f"{folder}/{KEY}.pub", public + "\n", 0o644, user.name)
    path = f"{folder}/authorized_keys"
    _check_file(node, user, path)
    node.write(path, with_block(node.read(path) or "", [*user.ssh_keys, public]), 0o600, user.name)


def _make_key(node: Node, user: User, folder: str) -> None:
    """Made on the node's own memory, then linked into place: the second node to arrive finds it and drops its own."""
    node.folder(WORK, 0o700)
    work = f"{WORK}/key-{user.name}"
    _clean(node, work)
    node.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", user.name, "-f", str(node.path(work))])
    node.create(f"{folder}/{KEY}", node.read(work) or "", 0o600, user.name)


def _clean(node: Node, work: str) -> None:
    node.remove(work)
    node.remove(f"{work}.pub")


def _check_folder(node: Node, user: User, folder: str) -> None:
    for path in (str(node.path(folder).parent)[len(node.root) :], folder):
        target = node.path(path)
        if not target.is_symlink() and not target.exists():
            continue
        if not stat.S_ISDIR(target.lstat().st_mode) or node.owner(path)[0] != user.uid:
            raise NodeSetupError(f"{path}: is not a folder of {user.name}, so no keys are put there")


def _check_file(node: Node, user: User, path: str) -> None:
    target = node.path(path)
    if (target.is_symlink() or target.exists()) and (
        not stat.S_ISREG(target.lstat().st_mode) or node.owner(path)[0] not in (0, user.uid) or target.lstat().st_nlink != 1
    ):
        raise NodeSetupError(f"{path}: is not a file of {user.name}, so no keys are put there")


def _folder(node: Node, user: User) -> str:
    return f"{node.software.homes}/{user.name}/.ssh"
