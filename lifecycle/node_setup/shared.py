"""The cluster's own folder below the shared directory, for files that outlive its nodes; only root may enter it."""

from __future__ import annotations

from node_setup.config import Mount
from node_setup.node import Node


def cluster_folder(node: Node) -> str:
    return f"{node.software.shared_directory}/.hyperpod/{node.role.cluster}"


def make_cluster_folder(node: Node) -> None:
    node.folder(f"{node.software.shared_directory}/.hyperpod")
    node.folder(cluster_folder(node))


def make_private_folder(node: Node, name: str) -> str:
    """A folder for root alone, such as the one of host keys. Root on any node of the cluster can read it."""
    make_cluster_folder(node)
    path = f"{cluster_folder(node)}/{name}"
    node.folder(path, 0o700)
    return path


def is_there(node: Node) -> bool:
    """Whether the shared directory is on a mount of this node's group, and not in a local folder."""
    return mount(node) is not None


def mount(node: Node) -> Mount | None:
    """The mount of this node's group with the shared directory."""
    directory = f"{node.software.shared_directory}/"
    return next((found for found in node.mounts if directory.startswith(f"{found.path}/")), None)
