"""The node's role: its own address looked up in the service's ``resource_config.json``.

The copy on a node may lag behind the cluster, so a node that does not find itself is no error: its role is unknown.
``Instances`` of a group may be null.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from node_setup.config import Config
from node_setup.errors import NodeSetupError, read_json, read_text


class Role(NamedTuple):
    """``group`` is ``None`` when no instance in ``resource_config.json`` has one of the node's addresses."""

    group: str | None
    node_type: str | None
    partition: str | None
    instance_id: str | None
    addresses: list[str]

    def __str__(self) -> str:
        addresses = "addresses " + (", ".join(self.addresses) or "none")
        if self.group is None:
            return f"role: unknown, resource_config.json has no instance with an address of this node; {addresses}"
        partition = "" if self.partition is None else f", partition {self.partition}"
        return f"role: {self.node_type} in group {self.group}{partition}, instance {self.instance_id}, {addresses}"


def own_addresses(path: Path) -> list[str]:
    """The node's IPv4 addresses except loopback, from the kernel's routing table (``/proc/net/fib_trie``)."""
    found = re.findall(r"\|-- ([0-9.]+)\n\s+/32 host LOCAL", read_text(path))
    return sorted({address for address in found if not address.startswith("127.")})


def read_role(path: Path, config: Config, addresses: list[str]) -> Role:
    """The role of the node with these addresses.

    Raises :class:`NodeSetupError` when the file is missing or not of the service's form, or when the node's group is
    not in ``config``.
    """
    for group, instance in _instances(path):
        if instance.get("CustomerIpAddress") not in addresses:
            continue
        known = config.groups.get(group)
        if known is None:
            raise NodeSetupError(f"group {group!r} of this node is not in config.json, which has {', '.join(config.groups)}")
        return Role(group, known.node_type, known.partition, instance.get("InstanceId"), addresses)
    return Role(None, None, None, None, addresses)


def _instances(path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
    document = read_json(path)
    try:
        return [
            (group["Name"], instance) for group in document["InstanceGroups"] or [] for instance in group.get("Instances") or []
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise NodeSetupError(f"{path}: has not the form of resource_config.json: {error!r}") from error
