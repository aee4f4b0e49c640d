"""Installs the node's health checks: Slurm runs its configured program and then the checks. A unit of its own watches for hangs."""

from __future__ import annotations

from node_setup import shared, systemd
from node_setup.errors import NodeSetupError
from node_setup.node import HOME, RUN, Node
from node_setup.settings import HEALTH_CHECK

MANDATORY = False
UNIT = "hyperpod-hang.service"
PROGRAM = f"""#!/bin/sh
# Slurm's HealthCheckProgram: the program that slurm.conf itself names, whose exit code counts, then the checks of this node.
for conf in /run/slurm/conf/slurm.conf /var/spool/slurmd/conf-cache/slurm.conf /opt/slurm/etc/slurm.conf; do
    [ ! -r "$conf" ] || break
done
chained=$(sed -n 's/^[[:space:]]*[Hh]ealth[Cc]heck[Pp]rogram[[:space:]]*=[[:space:]]*"*\\([^"[:space:]#]*\\).*/\\1/p' "$conf" |
    grep -vxF {HEALTH_CHECK} | tail -n 1)
set --
[ ! -x "$chained" ] || set -- --chain "$chained"
cd {HOME} && exec /usr/bin/env python3 -B -m node_health check "$@"
"""
HANG = f"""[Unit]
Description=Watches the jobs of this node for hangs
After=slurmd.service hyperpod-boot.service
StartLimitIntervalSec=0

[Service]
WorkingDirectory={HOME}
ExecStart=/usr/bin/env PATH=/opt/slurm/bin:/usr/local/bin:/usr/bin:/bin python3 -B -m node_health hang
Restart=always
RestartSec=30

[Install]
WantedBy=multi-user.target
"""


def needed(node: Node) -> bool:
    return node.software.health is not None


def apply(node: Node) -> None:
    health = node.software.health
    if health is None:
        return
    if not node.exists(f"{HOME}/node_health/__main__.py"):
        raise NodeSetupError(f"{HOME}/node_health: is missing, so the node cannot check itself")
    if not node.is_folder(health.checks_directory):
        node.folder(health.checks_directory)
    make_folders(node)
    node.write(HEALTH_CHECK, PROGRAM, 0o755)
    if node.role.node_type == "Compute":
        systemd.write_units(node, {UNIT: HANG}, UNIT)
        node.once("hang", HANG, lambda: node.run(["systemctl", "restart", "--no-block", UNIT]))


def make_folders(node: Node) -> None:
    """The folders for reports of jobs and nodes. Every user may enter the first, because heartbeats are below it."""
    node.folder(RUN)
    if shared.is_there(node):
        shared.make_cluster_folder(node)


def verify(node: Node) -> None:
    if not node.exists(HEALTH_CHECK):
        raise NodeSetupError(f"{HEALTH_CHECK}: is missing")
