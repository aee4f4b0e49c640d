"""What a check found."""

from __future__ import annotations

from typing import NamedTuple

REPLACE = "Action:Replace"
"""The reason that makes HyperPod replace a node: case-sensitive, no blanks, otherwise it is ignored."""
REBOOT = "Action:Reboot"
ACTIONS = (REPLACE, REBOOT)


class Finding(NamedTuple):
    """One fault of this node.

    ``fault`` names its kind, so that nodes can compare theirs. ``action`` is the mark that it asks for, ``None`` when it is only
    noted. ``hardware`` says that the evidence is of this node's own devices and not of what it shares with others.
    """

    fault: str
    detail: str
    action: str | None = None
    hardware: bool = False
