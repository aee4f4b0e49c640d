"""The nodes of a cluster as pages of text and as attributes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import answers
from .causes import LOG_GROUPS
from .errors import OperationError

CONTROLLER, LOGIN = "Controller", "Login"

# Bytes of a parameter of the standard tier.
PAGE_BYTES = 4096

# A page number; 10,000 pages are 800,000 nodes.
_PAGE = "{:04d}"

_KNOWN = (("InstanceGroupName",), ("InstanceId",), ("InstanceStatus", "Status"))

_ADDRESS = re.compile(r"ip-(\d{1,3})-(\d{1,3})-(\d{1,3})-(\d{1,3})(?:\.|$)")


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeGroup:
    """A group of the cluster.

    :param count: the wanted number of nodes; it makes CloudFormation refresh the inventory.
    """

    name: str
    node_type: str = ""
    count: int = 0


@dataclass(slots=True)
class Node:
    """A node with an instance."""

    group: str
    id: str
    running: bool
    address: str

    @classmethod
    def read(cls, summary: Mapping[str, Any], known: Mapping[str, str]) -> Node:
        """A node of ListClusterNodes; its address is in its host name, unless the network names hosts by their instances.

        :raises OperationError: for a node without its group, its id or its status.
        """
        if not all(answers.text(summary, *path) for path in _KNOWN):
            raise OperationError("ListClusterNodes: a node lacks its group, its id or its status; deploy again, or ask AWS Support")
        id, host = answers.text(summary, "InstanceId"), answers.text(summary, "PrivateDnsHostname")
        named = _ADDRESS.match(host)
        return cls(
            group=answers.text(summary, "InstanceGroupName"),
            id=id,
            running=answers.text(summary, "InstanceStatus", "Status") == "Running",
            address=".".join(named.groups()) if named else known.get(id, ""),
        )


@dataclass
class Inventory:
    """The nodes of a cluster; `types` is the node type by group."""

    arn: str = ""
    name: str = ""
    log_group: str = ""
    types: Mapping[str, str] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)

    def target(self, group: str, instance: str) -> str:
        """The target of Session Manager for a node."""
        return f"sagemaker-cluster:{self.arn.rpartition('/')[2]}_{group}-{instance}"

    def attributes(self, *, message: str, logins: int) -> dict[str, str]:
        """The attributes: every name is there, with an empty text for what is unknown.

        :param logins: the most login nodes that are listed.
        """
        controllers, entrances = self._of(CONTROLLER), self._of(LOGIN)
        first = controllers[0] if controllers else None
        return {
            "ClusterName": self.name,
            "LogGroup": self.log_group,
            "NodeCount": str(len(self.nodes)),
            "RunningCount": str(sum(node.running for node in self.nodes)),
            "ControllerId": first.id if first else "",
            "ControllerAddress": first.address if first else "",
            "ControllerTarget": self.target(first.group, first.id) if first else "",
            "LoginIds": ",".join(node.id for node in entrances[:logins]),
            "LoginAddresses": ",".join(node.address for node in entrances[:logins]),
            "LoginTargets": ",".join(self.target(node.group, node.id) for node in entrances[:logins]),
            "Message": message,
        }

    def _of(self, node_type: str) -> list[Node]:
        """The nodes of a type, those that run first."""
        found = [node for node in self.nodes if self.types.get(node.group) == node_type]
        return sorted(found, key=lambda node: (not node.running, node.group, node.id))


def log_group(name: str, arn: str) -> str:
    """The cluster's log group; empty without the cluster's name."""
    return f"{LOG_GROUPS}/{name}/{arn.rpartition('/')[2]}" if name else ""


def summary_name(prefix: str) -> str:
    """The name of the parameter of the cluster."""
    return f"{prefix}/cluster"


def pages_of(inventory: Inventory, prefix: str, mark: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The parameters by name: one of the cluster, and each group's pages, in the order of the instance ids."""
    groups: dict[str, list[Node]] = {name: [] for name in inventory.types}
    for node in sorted(inventory.nodes, key=lambda node: node.id):
        groups.setdefault(node.group, []).append(node)
    written: dict[str, dict[str, Any]] = {}
    counts = {}
    for group, nodes in sorted(groups.items()):
        head = {**mark, "group": group, "target": inventory.target(group, "{id}")}
        lots = list(_lots(nodes, PAGE_BYTES - len(json.dumps({**head, "nodes": {}}))))
        written |= {f"{prefix}/nodes/{group}/{_PAGE.format(number)}": {**head, "nodes": lot} for number, lot in enumerate(lots)}
        counts[group] = {"nodes": len(nodes), "running": sum(node.running for node in nodes), "pages": len(lots)}
    return {summary_name(prefix): _summary(inventory, mark, counts), **written}


def _summary(inventory: Inventory, mark: Mapping[str, str], counts: Mapping[str, Any]) -> dict[str, Any]:
    """The parameter of the cluster; without its groups if these are too many for one parameter."""
    known = {**mark, "arn": inventory.arn, "name": inventory.name, "log_group": inventory.log_group}
    whole = {**known, "groups": dict(counts)}
    return whole if len(json.dumps(whole)) <= PAGE_BYTES else known


def _lots(nodes: list[Node], room: int) -> Iterator[dict[str, str]]:
    """The addresses by instance id, in lots whose JSON takes at most `room` bytes."""
    lot: dict[str, str] = {}
    used = 0
    for node in nodes:
        size = len(json.dumps({node.id: node.address}))
        if lot and used + size > room:
            yield lot
            lot, used = {}, 0
        lot[node.id] = node.address
        used += size
    if lot:
        yield lot
