"""Makes slurmctld read our settings again, once for all changes; only the controller does so."""

from __future__ import annotations

from node_setup import slurm_conf, systemd
from node_setup.errors import NodeSetupError
from node_setup.node import Node

MANDATORY = False
TRIES = 3
PAUSE_SECONDS = 10.0
KEY = "slurm settings"


def needed(node: Node) -> bool:
    return node.is_controller


def apply(node: Node) -> None:
    node.once(KEY, current(node), lambda: _reconfigure(node))


def verify(node: Node) -> None:
    if not systemd.is_active(node, "slurmctld.service"):
        raise NodeSetupError("slurmctld.service: is not active after it was reconfigured; see its log")


def current(node: Node) -> str:
    """The settings for slurmctld to read."""
    path, _ = slurm_conf.included(slurm_conf.read(node))
    return node.read(path) or ""


def _reconfigure(node: Node) -> None:
    for attempt in range(1, TRIES + 1):
        try:
            node.run(["scontrol", "reconfigure"])
        except NodeSetupError:
            if attempt == TRIES:
                raise
            node.clock.sleep(PAUSE_SECONDS * attempt)
        else:
            return
