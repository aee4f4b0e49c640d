"""Waits for `slurm.conf`: the service's agent writes it on the controller some time after the scripts start."""

from __future__ import annotations

from node_setup import slurm_conf
from node_setup.node import Node

MANDATORY = True


def needed(node: Node) -> bool:
    return node.is_controller


def apply(node: Node) -> None:
    slurm_conf.await_whole(node)


def verify(node: Node) -> None:
    slurm_conf.included(slurm_conf.read(node))
