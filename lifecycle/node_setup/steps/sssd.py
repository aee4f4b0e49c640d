"""Logins from a directory service: the configuration brings the text of `sssd.conf`, the image brings SSSD."""

from __future__ import annotations

from node_setup import systemd
from node_setup.errors import NodeSetupError
from node_setup.node import Node

MANDATORY = True
PATH = "/etc/sssd/sssd.conf"
UNIT = "sssd.service"


def needed(node: Node) -> bool:
    return node.software.sssd is not None


def apply(node: Node) -> None:
    if not node.has("sssd"):
        raise NodeSetupError("software.sssd is set, but this image has no SSSD; use an image with SSSD")
    text = str(node.software.sssd)
    node.write(PATH, text if text.endswith("\n") else text + "\n", 0o600)
    systemd.enable(node, UNIT)
    node.once("sssd", text, lambda: node.run(["systemctl", "restart", UNIT]))
    systemd.start(node, UNIT)


def verify(node: Node) -> None:
    if not systemd.is_active(node, UNIT):
        raise NodeSetupError(f"{UNIT}: is not active; see journalctl -u {UNIT}")
    lines = [line.split() for line in (node.read("/etc/nsswitch.conf") or "").splitlines()]
    if not any(line[:1] == ["passwd:"] and "sss" in line for line in lines):
        raise NodeSetupError("/etc/nsswitch.conf: its line 'passwd:' does not name 'sss', so users of the directory are not found")
