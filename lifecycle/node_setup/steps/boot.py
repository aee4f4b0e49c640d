"""Restores mounts and local folders at every boot, before Slurm or Kubernetes starts: the lifecycle scripts do not run again.

They start even if this fails: the health check then keeps jobs from the node, and the unit tries again.
"""

from __future__ import annotations

from node_setup import systemd
from node_setup.errors import NodeSetupError
from node_setup.node import HOME, Node

MANDATORY = True
UNIT = "hyperpod-boot.service"
SLURM = """After=network-online.target remote-fs.target dlami-nvme.service
Wants=network-online.target
Before=slurmd.service slurmctld.service docker.service"""
EKS = """After=local-fs.target dlami-nvme.service
Before=containerd.service kubelet.service"""
TEXT = f"""[Unit]
Description=Mounts and local folders of a HyperPod node
{{order}}

[Service]
Type=oneshot
RemainAfterExit=yes
WorkingDirectory={HOME}
ExecStart=/usr/bin/env python3 -B -m node_setup boot
Restart=on-failure
RestartSec=60
TimeoutStartSec=300
StandardOutput=append:/var/log/provision/provisioning.log
StandardError=inherit

[Install]
WantedBy=multi-user.target
"""


def needed(node: Node) -> bool:
    return True


def apply(node: Node) -> None:
    systemd.write_units(node, {UNIT: TEXT.format(order=EKS if node.config.on_eks else SLURM)}, UNIT)


def verify(node: Node) -> None:
    if not systemd.is_enabled(node, UNIT):
        raise NodeSetupError(f"{UNIT}: is not enabled, so a reboot would lose the mounts")
