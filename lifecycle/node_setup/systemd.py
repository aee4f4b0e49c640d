"""Units of systemd: asked first, changed only where they differ."""

from __future__ import annotations

from node_setup.errors import NodeSetupError
from node_setup.node import Node

UNITS = "/etc/systemd/system"


def is_active(node: Node, unit: str) -> bool:
    return node.query(["systemctl", "is-active", "--quiet", unit]).code == 0


def is_enabled(node: Node, unit: str) -> bool:
    return node.query(["systemctl", "is-enabled", "--quiet", unit]).code == 0


def show(node: Node, unit: str, name: str) -> str:
    return node.query(["systemctl", "show", "--property", name, "--value", unit]).output.strip()


def has_unit(node: Node, unit: str) -> bool:
    return show(node, unit, "LoadState") == "loaded"


def write_unit(node: Node, path: str, text: str) -> None:
    """A unit file or drop-in below ``/etc/systemd/system``, which systemd has read when this returns."""
    node.write(f"{UNITS}/{path}", text)
    node.once(f"unit {path}", text, lambda: node.run(["systemctl", "daemon-reload"]))


def enable(node: Node, unit: str) -> None:
    if not is_enabled(node, unit):
        node.run(["systemctl", "enable", "--quiet", unit])


def start(node: Node, unit: str, seconds: float = 120) -> None:
    if not is_active(node, unit):
        node.run(["systemctl", "start", unit], seconds=seconds)


def stop(node: Node, unit: str) -> None:
    if is_active(node, unit):
        node.run(["systemctl", "stop", unit], seconds=300)


def restart_if_active(node: Node, unit: str) -> None:
    if is_active(node, unit):
        node.run(["systemctl", "restart", unit])


def await_active(node: Node, unit: str) -> None:
    """Raises :class:`NodeSetupError` with the state that systemd gives when the unit does not become active in time."""
    try:
        node.wait_until(lambda: is_active(node, unit), f"{unit} is not active", node.patience.slurm)
    except NodeSetupError as error:
        state = show(node, unit, "ActiveState") or "unknown to systemd"
        raise NodeSetupError(f"{error}; it is {state}: see journalctl -u {unit}") from error
