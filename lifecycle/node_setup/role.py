"""The node's role, found by its own address in the service's `resource_config.json`.

The copy on a node may be old, half written, or without the node; `Instances` of a group may be null. So the file is read again
until it names the node or the deadline has passed. Without an entry then, the node has no role.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from node_setup.config import Config
from node_setup.errors import NodeSetupError, read_json, read_text
from node_setup.waiting import Clock

PAUSE_SECONDS = 2.0


class Role(NamedTuple):
    """The role of a node; `group` is `None` if no instance in `resource_config.json` has one of the node's addresses."""

    group: str | None
    node_type: str | None
    partition: str | None
    instance_id: str | None
    address: str | None
    addresses: list[str]
    controllers: list[str]
    cluster: str

    def __str__(self) -> str:
        addresses = "addresses " + (", ".join(self.addresses) or "none")
        if self.group is None:
            return f"role: unknown, resource_config.json has no instance with an address of this node; {addresses}"
        partition = "" if self.partition is None else f", partition {self.partition}"
        return f"role: {self.node_type or 'node'} in group {self.group}{partition}, instance {self.instance_id}, {addresses}"


def own_addresses(path: Path) -> list[str]:
    """The node's IPv4 addresses except loopback, from the kernel's routing table (`/proc/net/fib_trie`)."""
    found = re.findall(r"\|-- ([0-9.]+)\n\s+/32 host LOCAL", read_text(path))
    return sorted({address for address in found if not address.startswith("127.")})


def await_role(path: Path, config: Config, addresses: list[str], deadline: float, clock: Clock) -> Role:
    """The role of the node with these addresses. The file is read again until it names the node or the deadline has passed.

    :raises NodeSetupError: if the file is then missing or malformed, or if the node's group is not in `config`.
    """
    while True:
        last = clock.monotonic() + PAUSE_SECONDS > deadline
        try:
            role = read_role(path, config, addresses)
        except NodeSetupError:
            if last:
                raise
        else:
            if role.group is not None or last:
                return role
        clock.sleep(PAUSE_SECONDS)


def read_role(path: Path, config: Config, addresses: list[str]) -> Role:
    document = read_json(path)
    try:
        instances = list(_instances(document))
        cluster = _cluster(document)
    except (AttributeError, KeyError, TypeError) as error:
        raise NodeSetupError(f"{path}: is malformed: {error!r}") from error
    controllers = [
        str(instance["CustomerIpAddress"])
        for group, instance in instances
        if group in config.groups and config.groups[group].node_type == "Controller" and instance.get("CustomerIpAddress")
    ]
    for group, instance in instances:
        if instance.get("CustomerIpAddress") not in addresses:
            continue
        known = config.groups.get(group)
        if known is None:
            raise NodeSetupError(f"group {group!r} of this node is not in config.json, which has {', '.join(config.groups)}")
        address = instance["CustomerIpAddress"]
        return Role(group, known.node_type, known.partition, instance.get("InstanceId"), address, addresses, controllers, cluster)
    return Role(None, None, None, None, None, addresses, controllers, cluster)


def _instances(document: Any) -> Iterable[tuple[str, dict[str, Any]]]:
    for group in document["InstanceGroups"] or []:
        for instance in group.get("Instances") or []:
            instance.get("CustomerIpAddress")
            yield group["Name"], instance


def _cluster(document: Any) -> str:
    """The id of the cluster, which a later cluster of the same name does not share; its name if there is no id."""
    cluster = document.get("ClusterConfig") or {}
    name = str(cluster.get("ClusterArn") or cluster.get("ClusterName") or "cluster").rpartition("/")[2]
    return re.sub(r"[^A-Za-z0-9._-]", "-", name).lstrip(".") or "cluster"
