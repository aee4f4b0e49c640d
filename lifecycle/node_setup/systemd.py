"""Units of systemd: each is read first and changed only if it differs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from node_setup.errors import NodeSetupError
from node_setup.node import Node

UNITS = "/etc/systemd/system"


def mount_unit(path: str) -> str:
    """The systemd unit of a mount: `opt-data\\x2dset.mount` for `/opt/data-set`."""
    escaped = re.sub(r"^\.|[^A-Za-z0-9:_./]", lambda found: f"\\x{ord(found[0]):02x}", path.strip("/"))
    return escaped.replace("/", "-") + ".mount"


def is_active(node: Node, unit: str) -> bool:
    return node.query(["systemctl", "is-active", "--quiet", unit]).code == 0


def is_enabled(node: Node, unit: str) -> bool:
    return node.query(["systemctl", "is-enabled", "--quiet", unit]).code == 0


def show(node: Node, unit: str, name: str) -> str:
    return node.query(["systemctl", "show", "--property", name, "--value", unit]).output.strip()


def has_unit(node: Node, unit: str) -> bool:
    return show(node, unit, "LoadState") == "loaded"


def write_units(node: Node, texts: Mapping[str, str], *enabled: str) -> None:
    """Write unit files and drop-ins below `/etc/systemd/system`, have systemd read them, and enable the units in `enabled`."""
    for path, text in texts.items():
        node.write(f"{UNITS}/{path}", text)
    node.once("units " + " ".join(texts), "\n".join(texts.values()), lambda: _read_again(node, enabled))
    enable(node, *enabled)


def enable(node: Node, *units: str) -> bool:
    """Enable units, and return whether one of them was not enabled; systemd then reads all units again."""
    missing = [unit for unit in units if not is_enabled(node, unit)]
    if missing:
        node.run(["systemctl", "enable", "--quiet", *missing])
    return bool(missing)


def _read_again(node: Node, enabled: Sequence[str]) -> None:
    if not enable(node, *enabled):
        node.run(["systemctl", "daemon-reload"])


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
    """Wait until a unit is active.

    :raises NodeSetupError: with systemd's state, if the unit is not active in time.
    """
    try:
        node.wait_until(lambda: is_active(node, unit), f"{unit} is not active", node.patience.slurm)
    except NodeSetupError as error:
        state = show(node, unit, "ActiveState") or "unknown to systemd"
        raise NodeSetupError(f"{error}; it is {state}: see journalctl -u {unit}") from error
