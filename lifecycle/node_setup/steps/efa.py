"""Lustre over EFA, if the image has Lustre's driver for it: every EFA device becomes an interface of Lustre's network.

It follows the public description of the client and has not run on a machine with EFA.
"""

from __future__ import annotations

from node_setup.errors import NodeSetupError
from node_setup.node import Node

MANDATORY = False
DRIVER = "kefalnd"
DEVICES = "/sys/class/infiniband"


def needed(node: Node) -> bool:
    is_asked = any(mount.type == "lustre" for mount in node.mounts) and bool(node.names(DEVICES))
    return is_asked and node.has("lnetctl") and node.query(["modinfo", DRIVER]).code == 0


def apply(node: Node) -> None:
    missing = [device for device in node.names(DEVICES) if device not in _interfaces(node)]
    if not missing:
        return
    node.run(["modprobe", DRIVER])
    for device in missing:
        node.run(["lnetctl", "net", "add", "--net", "efa", "--if", device, "--peer-credits", "32"])
    node.run(["lnetctl", "set", "discovery", "1"])
    node.run(["lnetctl", "udsp", "add", "--src", "efa", "--priority", "0"])


def verify(node: Node) -> None:
    if not _interfaces(node):
        raise NodeSetupError("lnetctl net show --net efa: shows no interface, so Lustre uses TCP")


def _interfaces(node: Node) -> list[str]:
    shown = node.query(["lnetctl", "net", "show", "--net", "efa"]).output
    return [line.split(":", 1)[1].strip() for line in shown.splitlines() if line.strip().startswith("0:")]
