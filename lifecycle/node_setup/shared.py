"""Where a cluster keeps what outlives its nodes: a folder of its own below the shared directory, which only root may enter."""

from __future__ import annotations

from node_setup.config import Mount
from node_setup.node import Node


def cluster_folder(node: Node) -> str:
    return f"{node.software.shared_directory}/.hyperpod/{node.role.cluster}"


def make_cluster_folder(node: Node) -> None:
    node.folder(f"{node.software.shared_directory}/.hyperpod")
    node.folder(cluster_folder(node))


def make_private_folder(node: Node, name: str) -> str:
    """A folder for root alone, such as that of host keys. Whoever is root on any node of the cluster can read it."""
    make_cluster_folder(node)
    path = f"{cluster_folder(node)}/{name}"
    node.folder(path, 0o700)
    return path


def is_there(node: Node) -> bool:
    """Whether the shared directory is on a mount of this node's group; else a local folder would pass for it."""
    return mount(node) is not None


def mount(node: Node) -> Mount | None:
    """The mount of this node's group that the shared directory is on."""
    directory = f"{node.software.shared_directory}/"
    return next((found for found in node.mounts if directory.startswith(f"{found.path}/")), None)
