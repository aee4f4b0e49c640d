"""Keeps the programs and the node's role where a reboot does not lose them: the service's copy of the scripts may vanish."""

from __future__ import annotations

import json

from node_setup.errors import NodeSetupError
from node_setup.node import HOME, STATE, Node

MANDATORY = True
PACKAGES = ("node_setup", "node_health", "node_trust")
ROLE = f"{STATE}/role.json"


def needed(node: Node) -> bool:
    return True


def apply(node: Node) -> None:
    node.folder(HOME)
    node.folder(STATE, 0o755)
    for package in PACKAGES:
        _copy(node, package)
    node.write(f"{HOME}/config.json", (node.source / "config.json").read_bytes())
    if node.role.group is not None:
        node.write(ROLE, json.dumps(node.role._asdict(), indent=1, sort_keys=True) + "\n")


def verify(node: Node) -> None:
    if not node.exists(f"{HOME}/node_setup/__main__.py"):
        raise NodeSetupError(f"{HOME}/node_setup: was not copied from {node.source}")


def _copy(node: Node, package: str) -> None:
    wanted = {
        f"{package}/{path.relative_to(node.source / package)}": path
        for path in sorted((node.source / package).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    for name, path in wanted.items():
        node.write(f"{HOME}/{name}", path.read_bytes())
    for name in _installed(node, package):
        if name not in wanted:
            node.remove(f"{HOME}/{name}")


def _installed(node: Node, package: str) -> list[str]:
    home = node.path(HOME)
    return [str(path.relative_to(home)) for path in sorted((home / package).rglob("*")) if path.is_file()]
