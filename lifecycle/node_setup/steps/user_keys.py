"""Each user's own ssh key, made once even if nodes start together, and the keys that may log in as that user.

A home belongs to its user. So a child that runs as the user works there (`home_child`), within limits; root never enters. After a
problem in a home, only its user lacks the keys, and the log names the user.
"""

from __future__ import annotations

import json
from typing import Any

from node_trust.as_user import Answer, Identity

from node_setup.errors import NodeSetupError
from node_setup.home_child import Request
from node_setup.node import Node
from node_setup.software import User

MANDATORY = False
MAX_ERROR = 300


def needed(node: Node) -> bool:
    return bool(node.software.users) and node.has("ssh-keygen")


def apply(node: Node) -> None:
    wrong = [f"{user.name}: {error}" for user in node.software.users for error in [_equip(node, user)] if error]
    if wrong:
        raise NodeSetupError("; ".join(wrong))


def verify(node: Node) -> None:
    """Nothing to verify: each child has verified its own work, and root does not enter a home."""


def _equip(node: Node, user: User) -> str:
    """The reason why the user has no keys; empty if the keys are there."""
    groups = tuple(group.gid for group in node.groups() if user.name in group.members)
    request = Request(user.name, node.name, user.ssh_keys, str(node.program("ssh-keygen")))
    home = f"{node.software.homes}/{user.name}"
    answer = node.run_in_home(Identity(user.uid, user.gid, groups), home, request)
    changes, error = judge(answer)
    node.effects += changes
    return error


def judge(answer: Answer) -> tuple[int, str]:
    """The changes and the error in a child's answer. The user may have forged it, so only its form is trusted."""
    try:
        said: Any = json.loads(answer.output)
        changes, error = int(said["changes"]), str(said["error"])
    except (ValueError, KeyError, TypeError, RecursionError):
        changes, error = 0, answer.error.strip() or f"the child ended with {answer.code} and without an answer"
    return min(max(changes, 0), 1), "".join(letter if letter.isprintable() else "?" for letter in error[:MAX_ERROR])
