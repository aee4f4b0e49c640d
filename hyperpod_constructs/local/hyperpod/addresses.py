"""Which subnet a node goes to, and whether its addresses still fit.

EC2's count of available addresses leaves out those that AWS keeps. The service finds a full subnet while it provisions; here the
request is refused, so that nobody waits for that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from hyperpod_constructs.facts.addresses import node_addresses
from hyperpod_constructs.facts.instance_types import instance_type
from hyperpod_constructs.local.hyperpod.checks import Subnets
from hyperpod_constructs.local.hyperpod.rules import refusal
from hyperpod_constructs.local.hyperpod.state import Cluster, Placement, Spec, instance_types


def addresses_of(spec: Spec, eks: bool) -> int:
    """How many addresses one node of the group takes: the most of its types."""
    interface = spec.get("NetworkInterface", {}).get("InterfaceType")
    return max(node_addresses(instance_type(name), eks, interface) for name in instance_types(spec))


def taken(clusters: Iterable[Cluster]) -> Counter[str]:
    """Addresses by subnet that nodes take and EC2 does not see: those of further cards, and of nodes without an
    interface yet.
    """
    unseen: Counter[str] = Counter()
    for cluster in clusters:
        for node in cluster.nodes():
            if node.placement is not None:
                unseen[node.placement.subnet] += node.placement.addresses - (node.interface is not None)
    return unseen


def zones_of(specs: Iterable[Spec], subnets: Subnets, settings: Mapping[str, Any]) -> dict[str, set[str]]:
    """The ids of the zones that the subnets of each group are in; of a group without a VPC, none."""
    networks = {spec["InstanceGroupName"]: _network(spec, settings) or {"Subnets": []} for spec in specs}
    return {group: {subnets[name]["AvailabilityZoneId"] for name in network["Subnets"]} for group, network in networks.items()}


def _network(spec: Spec, settings: Mapping[str, Any]) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = spec.get("OverrideVpcConfig", settings.get("VpcConfig"))
    return found


class Placements:
    """Hands out places in the subnets that a request names, the first with room first."""

    def __init__(self, subnets: Subnets, unseen: Mapping[str, int], settings: Mapping[str, Any]) -> None:
        self._subnets = subnets
        self._free = {name: subnet["AvailableIpAddressCount"] - unseen.get(name, 0) for name, subnet in subnets.items()}
        self._settings = settings

    def take(self, spec: Spec, count: int) -> list[Placement | None]:
        """Placements for that many nodes of the group; None each without a VPC.

        :raises AwsError: if they do not fit.
        """
        network = _network(spec, self._settings)
        if network is None:
            return [None] * count
        each = addresses_of(spec, "Eks" in self._settings.get("Orchestrator", {}))
        found: list[Placement | None] = []
        for _ in range(count):
            subnet = next((name for name in network["Subnets"] if self._free[name] >= each), None)
            if subnet is None:
                raise self._full(spec, network["Subnets"], count, each)
            self._free[subnet] -= each
            facts = self._subnets[subnet]
            groups = tuple(network["SecurityGroupIds"])
            found.append(Placement(subnet, facts["AvailabilityZone"], facts["AvailabilityZoneId"], groups, each))
        return found

    def _full(self, spec: Spec, subnets: Iterable[str], count: int, each: int) -> Exception:
        listed = ", ".join(f"{name} ({self._subnets[name]['CidrBlock']}, {self._free[name]} left)" for name in subnets)
        return refusal(
            f"not enough free addresses for instance group {spec['InstanceGroupName']}: {count} more nodes need"
            f" {count * each}"
            f" addresses, {each} each; found {listed}. Use a larger subnet or fewer nodes"
        )
