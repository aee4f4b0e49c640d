"""Copies the controller's state to the shared file system: every few minutes, and at shutdown after slurmctld has stopped."""

from __future__ import annotations

from node_setup import shared, state, systemd
from node_setup.errors import NodeSetupError
from node_setup.node import HOME, Node

MANDATORY = False
COMMAND = "/usr/bin/env python3 -B -m node_setup keep"
LOG = "StandardOutput=append:/var/log/provision/provisioning.log\nStandardError=inherit"
SERVICE = f"""[Unit]
Description=Copies the Slurm controller's state to the shared file system

[Service]
Type=oneshot
WorkingDirectory={HOME}
ExecStart={COMMAND}
"""
TIMER = """[Unit]
Description=Copies the Slurm controller's state to the shared file system every five minutes

[Timer]
OnBootSec=5min
OnUnitActiveSec=5min

[Install]
WantedBy=timers.target
"""
# A start after the file system's unit is a stop before it: otherwise the copy would land in the folder below the mount.
SHUTDOWN = f"""[Unit]
Description=Copies the Slurm controller's state to the shared file system at shutdown
After=network-online.target remote-fs.target mariadb.service mysql.service hyperpod-boot.service {{mount}}
Before=slurmdbd.service slurmctld.service

[Service]
Type=oneshot
RemainAfterExit=yes
WorkingDirectory={HOME}
ExecStart=/bin/true
ExecStop={COMMAND}
TimeoutStopSec=300
{LOG}

[Install]
WantedBy=multi-user.target
"""
STARTED = ("hyperpod-keep.timer", "hyperpod-keep-at-shutdown.service")


def needed(node: Node) -> bool:
    return node.is_controller and shared.is_there(node) and state.is_ready(node)


def apply(node: Node) -> None:
    mount = shared.mount(node)
    after = "" if mount is None else systemd.mount_unit(mount.path)
    units = {"hyperpod-keep.service": SERVICE, "hyperpod-keep.timer": TIMER}
    systemd.write_units(node, {**units, "hyperpod-keep-at-shutdown.service": SHUTDOWN.format(mount=after)}, *STARTED)
    for name in STARTED:
        systemd.start(node, name)


def verify(node: Node) -> None:
    for name in STARTED:
        if not systemd.is_active(node, name):
            raise NodeSetupError(f"{name}: is not active, so the controller's state is not kept")
