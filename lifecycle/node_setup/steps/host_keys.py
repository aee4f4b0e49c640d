"""The ssh host keys belong to the node's name: a replacement takes over the keys, so that no client warns.

They lie on the shared file system, readable for root only: root on one node can pose as another node.
"""

from __future__ import annotations

from node_setup import shared, systemd
from node_setup.errors import NodeSetupError
from node_setup.node import Node

MANDATORY = False
FOLDER = "/etc/ssh"
SERVICES = ("ssh.service", "sshd.service")


def needed(node: Node) -> bool:
    return shared.is_there(node) and node.exists(f"{FOLDER}/sshd_config")


def apply(node: Node) -> None:
    kept = f"{shared.make_private_folder(node, 'host_keys')}/{node.name}"
    node.folder(kept, 0o700)
    if not _keys(node, FOLDER) and not _keys(node, kept):
        node.run(["ssh-keygen", "-A"])
    for name in _keys(node, FOLDER):
        node.create(f"{kept}/{name}", node.read(f"{FOLDER}/{name}") or "", 0o600)
    for name in _keys(node, kept):
        _install(node, kept, name)
    digest = "\n".join(node.read(f"{FOLDER}/{name}.pub") or "" for name in _keys(node, FOLDER))
    node.once("host keys", digest, lambda: _reload(node))


def verify(node: Node) -> None:
    if not _keys(node, FOLDER):
        raise NodeSetupError(f"{FOLDER}: has no host keys")


def _keys(node: Node, folder: str) -> list[str]:
    return [name for name in node.names(folder) if name.startswith("ssh_host_") and name.endswith("_key")]


def _install(node: Node, kept: str, name: str) -> None:
    path = f"{FOLDER}/{name}"
    node.write(path, node.read(f"{kept}/{name}") or "", 0o600)
    public = node.query(["ssh-keygen", "-y", "-f", str(node.path(path))])
    if public.code != 0:
        raise NodeSetupError(f"{kept}/{name}: is not a host key that ssh-keygen can read; remove it, and the node keeps its own")
    node.write(f"{path}.pub", public.output.strip() + "\n")


def _reload(node: Node) -> None:
    for service in SERVICES:
        if systemd.has_unit(node, service):
            systemd.restart_if_active(node, service)
            return
