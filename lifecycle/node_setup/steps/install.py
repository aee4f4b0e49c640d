"""Installs the programs and the node's role on the root volume: the service's copy of the scripts may vanish after a reboot."""

from __future__ import annotations

import json

from node_setup.errors import NodeSetupError
from node_setup.node import HOME, STATE, Node

MANDATORY = True
PACKAGES = ("node_setup", "node_health", "node_metrics", "node_trust")
ROLE = f"{STATE}/role.json"
CLUSTER = f"{STATE}/cluster"  # the id of the cluster's shared folder


def needed(node: Node) -> bool:
    return True


def apply(node: Node) -> None:
    node.folder(HOME)
    node.folder(STATE, 0o755)
    for package in PACKAGES:
        _copy(node, package)
    node.write(f"{HOME}/config.json", node.bundle("config.json")["config.json"])
    node.write(CLUSTER, f"{node.role.cluster}\n")
    if node.role.group is not None:
        node.write(ROLE, json.dumps(node.role._asdict(), indent=1, sort_keys=True) + "\n")


def verify(node: Node) -> None:
    if not node.exists(f"{HOME}/node_setup/__main__.py"):
        raise NodeSetupError(f"{HOME}/node_setup: was not copied from {node.source}")


def _copy(node: Node, package: str) -> None:
    wanted = node.bundle(package)
    for name, content in wanted.items():
        node.write(f"{HOME}/{name}", content)
    for name in node.tree(f"{HOME}/{package}"):
        if f"{package}/{name}" not in wanted:
            node.remove(f"{HOME}/{package}/{name}")
