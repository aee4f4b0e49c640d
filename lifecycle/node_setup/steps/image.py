"""Waits for the image's own set-up and verifies it; nothing is done twice."""

from __future__ import annotations

from node_setup import controller, slurm_conf, systemd
from node_setup.node import Node

MANDATORY = True


def needed(node: Node) -> bool:
    return node.role.node_type is not None


def apply(node: Node) -> None:
    if node.is_controller:
        slurm_conf.await_whole(node)


def verify(node: Node) -> None:
    if node.role.node_type == "Login":
        controller.await_answer(node)
    else:
        systemd.await_active(node, "slurmctld.service" if node.is_controller else "slurmd.service")
