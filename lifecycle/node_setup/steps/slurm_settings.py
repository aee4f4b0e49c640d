"""Writes our settings for Slurm into the included file of `slurm.conf`, on the controller only."""

from __future__ import annotations

from node_setup import partitions, slurm_conf
from node_setup.errors import NodeSetupError
from node_setup.node import Node
from node_setup.settings import EXPANSION, HEALTH_CHECK, wanted_settings

MANDATORY = False


def needed(node: Node) -> bool:
    return node.is_controller


def apply(node: Node) -> None:
    left = slurm_conf.write_settings(node, wanted_settings(node), partitions.wanted_lines(node))
    if left:
        node.log.line(f"slurm.conf, or what it includes, sets {', '.join(left)} itself; left as it is")
    if "SchedulerParameters" in left and EXPANSION not in _scheduler_parameters(node):
        node.log.line(f"slurm.conf sets SchedulerParameters without {EXPANSION}, so no job can take a node in place of a lost one")


def verify(node: Node) -> None:
    if node.software.health is None:
        return
    path, _ = slurm_conf.included(slurm_conf.read(node))
    if slurm_conf.parse(node.read(path) or "").value("HealthCheckProgram") != HEALTH_CHECK:
        raise NodeSetupError(f"slurm.conf sets HealthCheckProgram after it includes {path}, so the node's own checks do not run")


def _scheduler_parameters(node: Node) -> list[str]:
    conf = slurm_conf.read(node)
    path, _ = slurm_conf.included(conf)
    included = slurm_conf.parse(node.read(path) or "")
    return f"{conf.value('SchedulerParameters')},{included.value('SchedulerParameters')}".split(",")
