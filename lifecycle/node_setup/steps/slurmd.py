"""Starts the daemon of a node that runs or submits jobs; it asks the controller for its configuration.

On a login node the daemon is not mandatory: there, Slurm's commands must reach the controller.
"""

from __future__ import annotations

import zlib

from node_setup import controller, systemd
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
    if _is_login(node) and not systemd.has_unit(node, UNIT):
        node.log.line(f"{UNIT}: is not on this image; a login node can do without it")
        return
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
        _await_controller(node, servers)
        try:
            systemd.start(node, UNIT)
        except NodeSetupError as error:
            if not _is_login(node):
                raise
            node.log.line(f"{error}; a login node can do without it")


def verify(node: Node) -> None:
    if _is_login(node):
        controller.await_answer(node)
    else:
        systemd.await_active(node, UNIT)
    limits.verify(node)


def _is_login(node: Node) -> bool:
    return node.role.node_type == "Login"


def _await_controller(node: Node, servers: str) -> None:
    pause = 2 + zlib.crc32(node.name.encode()) % 300 / 100  # so that nodes that start together ask one after another
    wait_until(
        lambda: any(node.can_connect(address, PORT) for address in node.role.controllers),
        f"slurmctld does not listen on {servers}",
        node.patience.slurm,
        node.clock,
        pause,
    )
