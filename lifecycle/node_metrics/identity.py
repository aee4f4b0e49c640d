"""The node's own names, which the set-up has stored."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import NamedTuple

from node_setup.errors import NodeSetupError, read_json
from node_setup.role import Role
from node_setup.steps.install import ROLE


class Identity(NamedTuple):
    cluster: str
    group: str
    instance_id: str
    name: str


def read_identity() -> Identity:
    """The identity of this node.

    :raises NodeSetupError: if the set-up has stored no role.
    """
    try:
        role = Role(**read_json(Path(ROLE)))
    except TypeError as error:
        raise NodeSetupError(f"{ROLE}: is not a stored role: {error}") from error
    name = platform.node().split(".")[0]
    return Identity(role.cluster, role.group or "unknown", role.instance_id or name, name)
