"""Keeps partitions over several groups at the nodes that their groups have.

slurmctld forgets the nodes whenever it reads its files again. It then saves its partitions, which starts this again at once; a
timer does so every minute. Jobs that run stay meanwhile, and jobs that wait go on waiting.
"""

from __future__ import annotations

from node_setup import partitions, slurm_conf, systemd
from node_setup.errors import NodeSetupError
from node_setup.node import HOME, Node

MANDATORY = False
NAME = "hyperpod-partitions"
SERVICE = f"""[Unit]
Description=Gives partitions over several groups the nodes of these groups
After=slurmctld.service

[Service]
Type=oneshot
WorkingDirectory={HOME}
ExecStart=/usr/bin/env python3 -B -m node_setup partitions
"""
TIMER = """[Unit]
Description=Looks every minute for nodes of partitions over several groups

[Timer]
OnBootSec=1min
OnUnitActiveSec=1min
AccuracySec=5s

[Install]
WantedBy=timers.target
"""
WATCH = """[Unit]
Description=Looks for nodes of partitions over several groups when slurmctld has read its files

[Path]
PathChanged={place}/part_state

[Install]
WantedBy=multi-user.target
"""
STARTED = (f"{NAME}.timer", f"{NAME}.path")


def needed(node: Node) -> bool:
    return node.is_controller and bool(node.config.scheduling.partitions)


def apply(node: Node) -> None:
    left = {partition.name for partition in node.config.scheduling.partitions} - {one.name for one in partitions.ours(node)}
    if left:
        node.log.line(f"slurm.conf, or what it includes, defines {', '.join(sorted(left))} itself; left as it is")
    place = slurm_conf.read(node).value("StateSaveLocation", "/var/spool")
    units = {f"{NAME}.service": SERVICE, f"{NAME}.timer": TIMER, f"{NAME}.path": WATCH.format(place=place)}
    systemd.write_units(node, units, *STARTED)
    for name in STARTED:
        systemd.start(node, name)
    partitions.update(node)


def verify(node: Node) -> None:
    for name in STARTED:
        if not systemd.is_active(node, name):
            raise NodeSetupError(f"{name}: is not active, so partitions over several groups do not follow their nodes")
