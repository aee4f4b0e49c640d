"""The node that a command reaches: named by its id, its host name or its group, else the Slurm controller."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import RUNNING, Cluster, Node, read_nodes

_USER = re.compile(r"[a-z_][a-z0-9_.-]{0,31}")


def check_user(name: str) -> None:
    """Check a name of a user on a node.

    :raises CliError: if it could mean anything else to a shell.
    """
    if not _USER.fullmatch(name):
        raise CliError(f"--user {name!r} is no name of a user: write lower-case letters, digits, _, . and -, such as ubuntu")


def controller_group(cluster: Cluster) -> str | None:
    """The group of the Slurm controller; `None` if the service names none (Kubernetes, own scripts)."""
    return next((group.name for group in cluster.groups if group.node_type == "Controller"), None)


def running_node(place: Place, cluster: Cluster, *, name: str | None = None, group: str | None = None) -> Node:
    """The node to reach. It is looked up at each call, because a replaced node has another id.

    :param name: id, host name such as ip-10-1-2-3, or name of a group.
    :param group: the first Running node of this group; the controller's unless a name is given.
    :raises CliError: if there is no such node, or if it is not Running.
    """
    if name is not None and group is not None:
        raise CliError(f"name the node {name} or a group with --group, not both")
    if name is None or name in {known.name for known in cluster.groups}:
        wanted = group or name or _controller_of(cluster)
        return first_running(wanted, read_nodes(place, cluster, wanted))
    present = [node for node in read_nodes(place, cluster) if node.id]
    found = next((node for node in present if name.lower() in (node.id, host_label(node))), None)
    if found is None:
        names = [*(node.id for node in present), *(label for node in present if (label := host_label(node)))]
        near = difflib.get_close_matches(name.lower(), names, n=3)
        hint = f"the nearest are {', '.join(near)}" if near else "see them with: hyperpod nodes --wide"
        raise CliError(f"{cluster.name} has no node {name!r}; {hint}")
    if found.status != RUNNING:
        raise CliError(f"node {found.id} is {found.status}, not Running: wait until it is, or see why with hyperpod nodes")
    return found


def first_running(group: str, members: Sequence[Node]) -> Node:
    """The first Running node of a group.

    :raises CliError: if none is.
    """
    for node in members:
        if node.status == RUNNING:
            return node
    states = ", ".join(sorted({node.status for node in members})) or "no nodes"
    raise CliError(f"no node of instance group {group!r} is Running (found: {states}): wait until one is, or name another")


def host_label(node: Node) -> str | None:
    """The first label of the host name, which on Slurm is the node's name."""
    return None if node.host_name is None else node.host_name.partition(".")[0].lower()


def _controller_of(cluster: Cluster) -> str:
    found = controller_group(cluster)
    if found is None:
        names = ", ".join(group.name for group in cluster.groups)
        raise CliError(f"the service names no controller group in {cluster.name}: name a node, or a group with --group ({names})")
    return found
