"""Runs the program that tells the figures of the node, by a unit of its own without root's rights."""

from __future__ import annotations

from node_setup import systemd
from node_setup.errors import NodeSetupError
from node_setup.node import HOME, Node

MANDATORY = False
UNIT = "hyperpod-metrics.service"
TEXT = f"""[Unit]
Description=Tells the figures of this node to CloudWatch and Prometheus
After=network-online.target
StartLimitIntervalSec=0

[Service]
DynamicUser=yes
ProtectSystem=strict
ProtectHome=yes
NoNewPrivileges=yes
CapabilityBoundingSet=
MemoryMax=256M
CPUWeight=10
WorkingDirectory={HOME}
ExecStart=/usr/bin/env PATH=/usr/local/bin:/usr/bin:/bin python3 -B -m node_metrics serve
Restart=always
RestartSec=30

[Install]
WantedBy=multi-user.target
"""


def needed(node: Node) -> bool:
    return node.software.metrics is not None


def apply(node: Node) -> None:
    if not node.exists(f"{HOME}/node_metrics/__main__.py"):
        raise NodeSetupError(f"{HOME}/node_metrics: is missing, so the node cannot tell its figures")
    systemd.write_units(node, {UNIT: TEXT}, UNIT)
    content = TEXT + node.bundle("config.json")["config.json"].decode()
    node.once("metrics", content, lambda: node.run(["systemctl", "restart", "--no-block", UNIT]))


def verify(node: Node) -> None:
    if not systemd.is_enabled(node, UNIT):
        raise NodeSetupError(f"{UNIT}: is not enabled")
