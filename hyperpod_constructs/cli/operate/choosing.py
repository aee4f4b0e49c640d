"""Nodes that a command names: by id or host name; the one that it reaches also by group, else the Slurm controller."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from itertools import islice

from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import PAGE, RUNNING, Cluster, Node, describe_node, list_nodes
from hyperpod_constructs.facts.kubernetes_nodes import instance_of

_ID = re.compile(r"i-[a-f0-9]{8}(?:[a-f0-9]{9})?")
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
        return first_running(wanted, list_nodes(place, cluster, wanted))
    (found,) = named_nodes(place, cluster, [name])
    if found.status != RUNNING:
        raise CliError(f"node {found.id} is {found.status}, not Running: wait until it is, or see why with hyperpod nodes")
    return found


def named_nodes(place: Place, cluster: Cluster, names: Sequence[str]) -> list[Node]:
    """The nodes of these names, each once, in their order.

    Ids are looked up one by one where that takes no more calls than a listing. A host name needs the listing, which ends with the
    last node that is wanted.

    :param names: ids, host names such as ip-10-1-2-3, and names in Kubernetes such as hyperpod-i-0123456789abcdef0.
    :raises CliError: for a name that no node has, with the nearest.
    """
    labels = {name: _label(name) for name in names}
    wanted, known = set(labels.values()), dict[str, Node]()
    if len(wanted) <= cluster.pages and all(map(is_id, wanted)):
        found = ((label, describe_node(place, cluster, label)) for label in wanted)
        known = {label: node for label, node in found if node is not None}
        present: Iterable[Node] = islice(list_nodes(place, cluster), PAGE)
    else:
        present = list[Node]()
        for node in list_nodes(place, cluster):
            present.append(node)
            known |= {label: node for label in (node.id, host_label(node)) if label in wanted}
            if len(known) == len(wanted):
                break
    for name, label in labels.items():
        if label not in known:
            raise CliError(f"{cluster.name} has no node {name!r}; {_nearest(label, present)}")
    return list({known[label].id: known[label] for label in labels.values()}.values())


def is_id(name: str) -> bool:
    """Whether this is the id of a node, gone or not."""
    return _ID.fullmatch(name) is not None


def node_id(place: Place, cluster: Cluster, name: str | None) -> str | None:
    """The id of a node. An id is taken as it is, because nodes that are gone have events and logs too.

    :raises CliError: for a host name that no node has.
    """
    if name is None:
        return None
    label = _label(name)
    return label if is_id(label) else named_nodes(place, cluster, [name])[0].id


def _label(name: str) -> str:
    """The id that a name in Kubernetes has within it, else the first label of a host name."""
    label = name.partition(".")[0].lower()
    return instance_of(label) or label


def _nearest(label: str, present: Iterable[Node]) -> str:
    names = [name for node in present for name in (node.id, host_label(node)) if name]
    near = difflib.get_close_matches(label, names, n=3)
    return f"the nearest are {', '.join(near)}" if near else "see them with: hyperpod nodes --wide"


def first_running(group: str, members: Iterable[Node]) -> Node:
    """The first Running node of a group.

    :raises CliError: if none is.
    """
    others = set()
    for node in members:
        if node.status == RUNNING:
            return node
        others.add(node.status)
    states = ", ".join(sorted(others)) or "no nodes"
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
