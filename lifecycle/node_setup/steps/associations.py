"""Adds the configured users to Slurm's accounting: one account, and an association of each user with it."""

from __future__ import annotations

from node_setup.errors import NodeSetupError
from node_setup.node import Node

MANDATORY = False
ACCOUNT = "hyperpod"
SHOW = ["sacctmgr", "--noheader", "--parsable2", "show"]
ADD = ["sacctmgr", "--immediate", "add"]


def needed(node: Node) -> bool:
    return node.is_controller and node.software.accounting is not None and bool(node.software.users)


def apply(node: Node) -> None:
    node.wait_until(
        lambda: bool(_shown(node, "cluster", "Cluster")), "slurmctld has not registered its cluster", node.patience.slurm
    )
    make_account(node)
    known = _shown(node, "user", "User")
    for user in node.software.users:
        if user.name not in known:
            node.run([*ADD, "user", user.name, f"Account={ACCOUNT}"])


def make_account(node: Node) -> None:
    """Make the account of the users whom no other account names."""
    if ACCOUNT not in _shown(node, "account", "Account"):
        node.run([*ADD, "account", ACCOUNT, "Description=users of config.json", "Organization=hyperpod"])


def verify(node: Node) -> None:
    missing = {user.name for user in node.software.users} - set(_shown(node, "user", "User"))
    if missing:
        raise NodeSetupError(f"sacctmgr show user: lacks {', '.join(sorted(missing))}")


def _shown(node: Node, entity: str, field: str) -> list[str]:
    return [line.strip() for line in node.query([*SHOW, entity, f"format={field}"]).output.splitlines() if line.strip()]
