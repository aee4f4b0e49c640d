"""The zones of groups and nodes. A list of nodes does not name them, so they come from the subnets of the groups."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, ip_address, ip_network
from typing import Any

from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import Group, Node

_ADDRESS = re.compile(r"ip-(\d{1,3})-(\d{1,3})-(\d{1,3})-(\d{1,3})(\..*)?")


@dataclass(frozen=True, slots=True)
class Zones:
    """Zones by their ids. `subnets` has those of each group, with their blocks of addresses; it is empty if nobody may ask."""

    subnets: Mapping[str, Sequence[tuple[IPv4Network | None, str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, place: Place, groups: Sequence[Group]) -> Zones:
        """The zones of these groups: one call, whose permission is ec2:DescribeSubnets.

        Groups in a network of the service have no subnets, and so no zones that are known.
        """
        from botocore.exceptions import ClientError

        ids = sorted({subnet for group in groups for subnet in group.subnets})
        if not ids:
            return cls()
        try:
            answer = place.client("ec2").describe_subnets(SubnetIds=ids)
        except ClientError:
            return cls()
        known = {subnet["SubnetId"]: _subnet(subnet) for subnet in answer["Subnets"]}
        return cls({group.name: [known[id] for id in group.subnets if id in known] for group in groups})

    def of_group(self, group: str) -> str | None:
        """All zones of a group."""
        return ", ".join(self._of(group)) or None

    def of_node(self, node: Node) -> str | None:
        """The zone of a node: as the service says it, or the only one of its group, or that of the address in its host name.

        Otherwise the zones that it may be in.
        """
        zones = self._of(node.group)
        if node.zone is not None or len(zones) < 2:
            return node.zone or next(iter(zones), None)
        address = _address(node.host_name)
        found = {zone for block, zone in self.subnets[node.group] if address is not None and block is not None and address in block}
        return " or ".join(sorted(found) if len(found) == 1 else zones)

    def _of(self, group: str) -> list[str]:
        return sorted({zone for _, zone in self.subnets.get(group, ())})


def _subnet(found: Mapping[str, Any]) -> tuple[IPv4Network | None, str]:
    block = ip_network(found["CidrBlock"]) if found.get("CidrBlock") else None
    return block if isinstance(block, IPv4Network) else None, found.get("AvailabilityZoneId") or found["AvailabilityZone"]


def _address(host_name: str | None) -> IPv4Address | None:
    """The address in a name such as ip-10-1-2-3.us-west-2.compute.internal."""
    found = _ADDRESS.fullmatch(host_name or "")
    try:
        address = None if found is None else ip_address(".".join(found.groups()[:4]))
    except ValueError:
        return None
    return address if isinstance(address, IPv4Address) else None
