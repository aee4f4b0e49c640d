"""Starts the daemon of a node that runs or submits jobs; it asks the controller for its configuration."""

from __future__ import annotations

import zlib

from node_setup import systemd
from node_setup.errors import NodeSetupError
from node_setup.node import HOME, Node
from node_setup.steps import limits
from node_setup.waiting import wait_until

MANDATORY = True
UNIT = "slurmd.service"
PORT = 6817
OPTIONS = f"{HOME}/slurmd.env"
DROP_IN = f"""[Unit]
After=hyperpod-boot.service
StartLimitIntervalSec=0

[Service]
EnvironmentFile={OPTIONS}
Restart=on-failure
RestartSec=15
"""


def needed(node: Node) -> bool:
    return node.role.node_type in ("Login", "Compute")


def apply(node: Node) -> None:
    if not node.role.controllers:
        raise NodeSetupError("resource_config.json lists no instance of a Controller group, so slurmd knows no controller to ask")
    servers = ",".join(f"{address}:{PORT}" for address in node.role.controllers)
    options = f'SLURMD_OPTIONS="--conf-server {servers}"\n'
    node.write(OPTIONS, options)
    systemd.write_units(node, {"slurmd.service.d/60-hyperpod-slurmd.conf": DROP_IN}, UNIT)
    if systemd.is_enabled(node, "slurmctld.service"):
        node.run(["systemctl", "disable", "--quiet", "--now", "slurmctld.service"])
    for folder in ("/var/log/slurm", "/var/spool/slurmd"):
        if not node.is_folder(folder):
            node.folder(folder)
    node.once("slurmd options", options, lambda: systemd.restart_if_active(node, UNIT))
    if not systemd.is_active(node, UNIT):
        pause = 2 + zlib.crc32(node.name.encode()) % 300 / 100  # so that nodes that start together ask one after another
        wait_until(
            lambda: any(node.can_connect(address, PORT) for address in node.role.controllers),
            f"slurmctld does not listen on {servers}",
            node.patience.slurm,
            node.clock,
            pause,
        )
        systemd.start(node, UNIT)


def verify(node: Node) -> None:
    systemd.await_active(node, UNIT)
    limits.verify(node)
