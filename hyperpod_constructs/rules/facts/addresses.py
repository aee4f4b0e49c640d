"""How many addresses of a subnet things take; every figure is the least that is sure."""

from __future__ import annotations

import math

from hyperpod_constructs.instance_type import ClusterInstanceType
from hyperpod_constructs.rules.lustre import STEP_WITH_EFA
from hyperpod_constructs.rules.template.model import Resource
from hyperpod_constructs.rules.template.values import ABSENT, as_bool, as_int, as_str

RESERVED_ADDRESSES = 5
"""Addresses that AWS keeps of every subnet (https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html)."""

_POD_ADDRESSES = 50
# IPv4 addresses per interface of smaller sizes (https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-type-specifications.html).
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


def node_addresses(kind: ClusterInstanceType, on_eks: bool) -> int:
    """Addresses of a node: with Slurm one per network card; on EKS 50 for pods and one for each further card.

    A type whose cards are not known counts as one card
    (https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html).
    """
    cards = kind.network_cards or 1
    if not on_eks:
        return cards
    size = kind.name.rpartition(".")[2]
    return _FEWER.get(size, _POD_ADDRESSES) + cards - 1


def file_system_addresses(file_system: Resource) -> int:
    """Addresses of a file system in each of its subnets: of Lustre one per server for data, and one per server for metadata.

    https://docs.aws.amazon.com/fsx/latest/LustreGuide/getting-started.html
    """
    if as_str(file_system.get("FileSystemType")) != "LUSTRE":
        return 1
    iops = as_int(file_system.get("LustreConfiguration", "MetadataConfiguration", "Iops")) or 1
    return _data_servers(file_system) + math.ceil(iops / _IOPS_PER_SERVER)


def _data_servers(file_system: Resource) -> int:
    if as_str(file_system.get("LustreConfiguration", "DeploymentType")) != "PERSISTENT_2":
        return 1
    tiering = as_int(file_system.get("LustreConfiguration", "ThroughputCapacity"))
    if tiering is not None:
        return math.ceil(tiering / _MBPS_PER_SERVER)
    capacity = as_int(file_system.get("StorageCapacity")) or 1
    throughput = as_int(file_system.get("LustreConfiguration", "PerUnitStorageThroughput")) or 0
    efa = file_system.get("LustreConfiguration", "EfaEnabled")
    per_server = (
        STEP_WITH_EFA.get(throughput, max(STEP_WITH_EFA.values()))
        if efa is not ABSENT and as_bool(efa) is not False
        else _GIB_PER_SERVER
    )
    return math.ceil(capacity / per_server)
