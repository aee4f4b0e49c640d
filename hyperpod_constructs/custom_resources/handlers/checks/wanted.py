"""What a deployment wants: the properties of a preflight."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """An instance group of `count` nodes; each takes `addresses` and `interfaces` in the subnets.

    :param volume_gb: GB of the largest secondary volume of a node.
    :param training_plan: ARN of the plan; empty for capacity without one.
    :param subnets: the subnets of the nodes; none for a cluster in the service's own network, or if they are not known.
    :param in_vpc: whether the nodes are in a VPC of the user, although `subnets` are not known.
    """

    name: str
    count: int
    instance_types: tuple[str, ...]
    addresses: int = 1
    interfaces: int = 1
    volume_gb: int = 0
    training_plan: str = ""
    spot: bool = False
    subnets: tuple[str, ...] = ()
    in_vpc: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSystem:
    """A file system of the same stack; it takes `addresses` in its first subnet.

    :param subnet: its first subnet; empty if that is not known.
    :param quota: the name of its kind in Service Quotas, such as `Lustre Persistent_2`; empty for a kind without a known quota.
    """

    logical_id: str
    addresses: int
    subnet: str
    capacity_gib: int = 0
    quota: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """The cluster and what it stands on.

    :param region: the stack's region, for commands.
    :param cluster_logical_id: the cluster's logical id in the stack.
    :param cluster_name: the cluster's name; empty if CloudFormation makes one.
    :param roles: ARNs of the nodes' roles.
    :param bucket: name of the bucket with the lifecycle scripts; empty without one.
    """

    region: str
    cluster_logical_id: str
    groups: tuple[Group, ...]
    cluster_name: str = ""
    file_systems: tuple[FileSystem, ...] = ()
    roles: tuple[str, ...] = ()
    bucket: str = ""
