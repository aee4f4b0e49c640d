"""Each user's own ssh key, made once although nodes start together, and the keys that may log in as that user.

What a user's home holds is his, so a child that is that user works there (``home_child``), within limits; root never enters. A
home that is not in order costs its own user the keys, who is named.
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
    """Each child has verified its own; root could only look into the home."""


def _equip(node: Node, user: User) -> str:
    """Why the user has no keys; nothing where he has them."""
    groups = tuple(group.gid for group in node.groups() if user.name in group.members)
    request = Request(user.name, node.name, user.ssh_keys, str(node.program("ssh-keygen")))
    home = f"{node.software.homes}/{user.name}"
    answer = node.run_in_home(Identity(user.uid, user.gid, groups), home, request)
    changes, error = judge(answer)
    node.effects += changes
    return error


def judge(answer: Answer) -> tuple[int, str]:
    """The changes and the error that a child named, which the user may have made up: only their form is believed."""
    try:
        said: Any = json.loads(answer.output)
        changes, error = int(said["changes"]), str(said["error"])
    except (ValueError, KeyError, TypeError, RecursionError):
        changes, error = 0, answer.error.strip() or f"the child ended with {answer.code} and said nothing"
    return min(max(changes, 0), 1), "".join(letter if letter.isprintable() else "?" for letter in error[:MAX_ERROR])
