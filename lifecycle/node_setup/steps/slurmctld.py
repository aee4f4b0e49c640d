"""Starts the controller's daemon once all its files are in place."""

from __future__ import annotations

from node_setup import controller, slurm_conf, systemd
from node_setup.node import Node
from node_setup.steps import reconfigure

MANDATORY = True
UNIT = "slurmctld.service"


def needed(node: Node) -> bool:
    return node.is_controller


def apply(node: Node) -> None:
    conf = slurm_conf.read(node)
    user = slurm_conf.slurm_user(conf)
    for folder in ("/var/log/slurm", conf.value("StateSaveLocation", "/var/spool")):
        if not node.is_folder(folder):
            node.folder(folder, 0o755, user)
    if systemd.is_enabled(node, "slurmd.service"):
        node.run(["systemctl", "disable", "--quiet", "--now", "slurmd.service"])
    systemd.enable(node, UNIT)
    if not systemd.is_active(node, UNIT):
        systemd.start(node, UNIT)
        node.once(reconfigure.KEY, reconfigure.current(node), lambda: None)


def verify(node: Node) -> None:
    systemd.await_active(node, UNIT)
    node.wait_until(
        lambda: controller.answers(node),
        f"{UNIT}: scontrol ping does not say UP; see /var/log/slurm/slurmctld.log",
        node.patience.slurm,
    )
