"""The finding of a check."""

from __future__ import annotations

from typing import NamedTuple

REPLACE = "Action:Replace"
"""The reason that makes HyperPod replace a node. HyperPod ignores any other spelling: case matters, and blanks are not allowed."""
REBOOT = "Action:Reboot"
ACTIONS = (REPLACE, REBOOT)


class Finding(NamedTuple):
    """One fault of this node.

    :param fault: the kind of the fault, which nodes compare.
    :param action: the mark that the fault asks for; `None` if it is only noted.
    :param hardware: whether the evidence comes from the node's own devices, and not from shared parts.
    """

    fault: str
    detail: str
    action: str | None = None
    hardware: bool = False
