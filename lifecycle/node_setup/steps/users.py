"""Users and groups with the configured ids. A user who leaves the configuration keeps the account."""

from __future__ import annotations

from node_setup.errors import NodeSetupError
from node_setup.node import Node
from node_setup.software import User

MANDATORY = True
SUDOERS = "/etc/sudoers.d/90-hyperpod"


def needed(node: Node) -> bool:
    return bool(node.software.users) or node.exists(SUDOERS)


def apply(node: Node) -> None:
    for user in node.software.users:
        _check(node, user)
    for user in node.software.users:
        _make_group(node, user)
        _make_user(node, user)
        _join_groups(node, user)
    _write_sudoers(node)


def verify(node: Node) -> None:
    known = {account.name: account for account in node.accounts()}
    for user in node.software.users:
        account = known.get(user.name)
        if account is None or (account.uid, account.gid, account.home) != (user.uid, user.gid, _home(node, user)):
            raise NodeSetupError(f"/etc/passwd: has {account} for user {user.name}, whose uid is {user.uid} and gid {user.gid}")


def _check(node: Node, user: User) -> None:
    """Check names and ids before the first change.

    :raises NodeSetupError: if another user or group of the node has the name or the id.
    """
    for account in node.accounts():
        if (account.name == user.name) != (account.uid == user.uid):
            raise NodeSetupError(
                f"user {user.name} has uid {user.uid} in config.json, but on this node {account.name} has uid {account.uid}; "
                "choose an id and a name that are free on every node"
            )
    for group in node.groups():
        if (group.name == user.name) != (group.gid == user.gid):
            raise NodeSetupError(
                f"user {user.name} has gid {user.gid} in config.json, but on this node group {group.name} has gid {group.gid}; "
                "choose an id and a name that are free on every node"
            )
    names = [group.name for group in node.groups()] + [other.name for other in node.software.users]
    for name in user.groups:
        if name not in names:
            raise NodeSetupError(
                f"user {user.name} should join group {name!r}, which this node does not have; the image makes groups"
            )


def _make_group(node: Node, user: User) -> None:
    if all(group.name != user.name for group in node.groups()):
        node.run(["groupadd", "--gid", str(user.gid), user.name])


def _make_user(node: Node, user: User) -> None:
    account = next((account for account in node.accounts() if account.name == user.name), None)
    home = ["--home-dir", _home(node, user), "--gid", str(user.gid)]
    if account is None:
        shell = ["--no-create-home", "--shell", "/bin/bash", "--password", "*"]
        node.run(["useradd", "--uid", str(user.uid), *home, *shell, user.name])
    elif (account.gid, account.home) != (user.gid, _home(node, user)):
        node.run(["usermod", "--home", _home(node, user), "--gid", str(user.gid), user.name])


def _join_groups(node: Node, user: User) -> None:
    joined = [group.name for group in node.groups() if user.name in group.members]
    missing = [name for name in user.groups if name not in joined and name != user.name]
    if missing:
        node.run(["usermod", "--append", "--groups", ",".join(missing), user.name])


def _write_sudoers(node: Node) -> None:
    names = [user.name for user in node.software.users if user.sudo]
    if not names:
        node.remove(SUDOERS)
        return
    node.write(SUDOERS, "".join(f"{name} ALL=(ALL:ALL) NOPASSWD: ALL\n" for name in names), 0o440)


def _home(node: Node, user: User) -> str:
    return f"{node.software.homes}/{user.name}"
