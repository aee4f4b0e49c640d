"""Addresses in a subnet: AWS reserves some, nodes and file systems take others (as of 2026-11-21).

Every figure is the smallest certain one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from hyperpod_constructs.facts import lustre
from hyperpod_constructs.facts.instance_types import InstanceType

RESERVED_ADDRESSES = 5
"""Addresses that AWS reserves in every subnet.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
"""

EFA_ONLY = "efa-only"
"""The type of an interface that carries EFA and has no address.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
"""

FILE_SYSTEM_ROOM = 64
"""Addresses that a subnet sized by its nodes keeps for file systems: those of 140 TiB of Lustre on SSD, with its metadata."""

_POD_ADDRESSES = 50
# IPv4 addresses per interface of smaller sizes.
# Source: https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-type-specifications.html
_FEWER = {
    "medium": 6,
    "large": 10,
    "xlarge": 15,
    "2xlarge": 15,
    "3xlarge": 15,
    "4xlarge": 30,
    "8xlarge": 30,
    "9xlarge": 30,
    "12xlarge": 30,
}
_GIB_PER_SERVER = 2400
_MBPS_PER_SERVER = 4000
_IOPS_PER_SERVER = 12_000


def node_addresses(kind: InstanceType, on_eks: bool, interface: str | None = None) -> int:
    """Addresses of a node: with Slurm one per network card; on EKS 50 for pods and one for each further card.

    :param kind: the node's type; an unknown number of cards counts as one card.
    :param interface: `InterfaceType` of the group; with `efa-only` the further cards have no address.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
    """
    cards = 1 if interface == EFA_ONLY else kind.network_cards or 1
    if not on_eks:
        return cards
    size = kind.name.rpartition(".")[2]
    return _FEWER.get(size, _POD_ADDRESSES) + cards - 1


def least_node_addresses(kinds: Iterable[InstanceType], on_eks: bool, interface: str | None = None) -> int:
    """The addresses that a node of one of these types is sure to take; 1 for a type that nobody knows.

    :param kinds: the types that a group may use; none if one of them is unknown.
    :param interface: `InterfaceType` of the group, see `node_addresses`.
    """
    return min((node_addresses(kind, on_eks, interface) for kind in kinds), default=1)


def smallest_prefix(count: int) -> int:
    """The length of the prefix of the smallest block whose subnet has this many addresses for interfaces."""
    return 32 - (count + RESERVED_ADDRESSES - 1).bit_length()


def least_node_interfaces(kinds: Iterable[InstanceType]) -> int:
    """The network interfaces that a node of one of these types is sure to have, with those that carry EFA alone."""
    return min((kind.network_cards or 1 for kind in kinds), default=1)


def lustre_addresses(
    *, capacity_gib: int, throughput: int = 0, efa: bool = False, tiering_mbps: int | None = None, metadata_iops: int = 1
) -> int:
    """Addresses of a PERSISTENT_2 file system in its subnet: one per server for data, and one per server for metadata.

    :param throughput: MB/s per TiB; 0 if unknown.
    :param tiering_mbps: the throughput of an Intelligent-Tiering file system, in MB/s; `None` for one with a capacity.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/getting-started.html
    """
    metadata = math.ceil(metadata_iops / _IOPS_PER_SERVER)
    if tiering_mbps is not None:
        return math.ceil(tiering_mbps / _MBPS_PER_SERVER) + metadata
    steps = lustre.STEP_WITH_EFA
    per_server = steps.get(throughput, max(steps.values())) if efa else _GIB_PER_SERVER
    return math.ceil(capacity_gib / per_server) + metadata
