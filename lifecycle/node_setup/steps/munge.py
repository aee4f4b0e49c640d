"""Starts munge, Slurm's authentication; the image brings the key."""

from __future__ import annotations

from node_setup import systemd
from node_setup.node import Node

MANDATORY = True
KEY = "/etc/munge/munge.key"
UNIT = "munge.service"


def needed(node: Node) -> bool:
    return True


def apply(node: Node) -> None:
    node.wait_until(
        lambda: node.exists(KEY), f"{KEY}: is missing; without it, Slurm's daemons do not trust each other", node.patience.slurm
    )
    systemd.enable(node, UNIT)
    systemd.start(node, UNIT)


def verify(node: Node) -> None:
    systemd.await_active(node, UNIT)
