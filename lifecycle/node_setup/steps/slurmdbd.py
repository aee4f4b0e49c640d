"""Starts the daemon between Slurm and its accounting database."""

from __future__ import annotations

from hashlib import sha256
from typing import Callable

from node_setup import systemd
from node_setup.database import SLURMDBD_CONF
from node_setup.errors import NodeSetupError
from node_setup.node import Node

MANDATORY = True
UNIT = "slurmdbd.service"
# A database elsewhere may restart at any time, and slurmdbd may end when it makes its schema there.
RESTARTED = {
    f"{UNIT}.d/hyperpod.conf": """[Unit]
StartLimitIntervalSec=0

[Service]
Restart=on-failure
RestartSec=2
"""
}


def needed(node: Node) -> bool:
    return node.is_controller and node.software.accounting is not None


def apply(node: Node) -> None:
    accounting = node.software.accounting
    if accounting is not None and accounting.host is not None:
        systemd.write_units(node, RESTARTED)
    systemd.enable(node, UNIT)
    follow(node, lambda: systemd.restart_if_active(node, UNIT))
    systemd.start(node, UNIT)


def follow(node: Node, action: Callable[[], object]) -> None:
    """Run an action once for each content of the daemon's file. The file has a password, so only its hash is remembered."""
    node.once("slurmdbd", sha256((node.read(SLURMDBD_CONF) or "").encode()).hexdigest(), action)


def verify(node: Node) -> None:
    systemd.await_active(node, UNIT)
    node.wait_until(
        lambda: _answers(node), f"{UNIT}: sacctmgr gets no answer; see /var/log/slurm/slurmdbd.log", node.patience.slurm
    )


def _answers(node: Node) -> bool:
    try:
        return node.query(["sacctmgr", "--noheader", "--parsable2", "show", "cluster"]).code == 0
    except NodeSetupError:
        return False
