"""Rotates the log that the service ships, and Slurm's own logs unless the image does so already."""

from __future__ import annotations

from node_setup.errors import NodeSetupError
from node_setup.node import Node

MANDATORY = False
FOLDER = "/etc/logrotate.d"
PATH = f"{FOLDER}/hyperpod"
SHIPPED = """/var/log/provision/provisioning.log {
    size 50M
    rotate 2
    missingok
    notifempty
    compress
    copytruncate
}
"""
SLURM = """/var/log/slurm/*.log {
    size 50M
    rotate 2
    missingok
    notifempty
    compress
    delaycompress
    sharedscripts
    su root root
    postrotate
        for daemon in slurmctld slurmd slurmdbd; do
            systemctl kill --kill-who=main --signal=SIGUSR2 "$daemon.service" 2>/dev/null || true
        done
    endscript
}
"""


def needed(node: Node) -> bool:
    return node.software.log_rotation and node.is_folder(FOLDER)


def apply(node: Node) -> None:
    node.write(PATH, SHIPPED + ("" if _is_rotated_by_others(node) else SLURM))


def verify(node: Node) -> None:
    if not node.exists(PATH):
        raise NodeSetupError(f"{PATH}: is missing")


def _is_rotated_by_others(node: Node) -> bool:
    """Whether another entry rotates Slurm's logs: logrotate refuses a second entry for a file."""
    names = [name for name in node.names(FOLDER) if f"{FOLDER}/{name}" != PATH and not name.startswith(".")]
    others = [node.read(f"{FOLDER}/{name}") or "" for name in names]
    return any("/var/log/slurm/" in text for text in others)
