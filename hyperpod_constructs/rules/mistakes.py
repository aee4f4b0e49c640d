"""Mistakes that both a value object and a rule can see: the text of each lives here, once.

A value object raises the text when it is made; a rule yields it for a template. The words name no parameter of either side.
Importing this module starts no jsii.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_GROUPS = 100
"""Groups of a cluster (https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateCluster.html)."""

LEGACY_FILE = "provisioning_parameters.json"
"""The configuration of Slurm before it came through the API."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong, and what to do; as a string, both."""

    message: str
    fix: str

    def __str__(self) -> str:
        return f"{self.message}; {self.fix}"


def repeated_name(name: str) -> Mistake:
    """Two groups of one name."""
    return Mistake(f"two instance groups are named {name!r}", "names are unique in a cluster: rename one")


def group_beyond_limit(name: str | None) -> Mistake:
    """A group more than the service takes."""
    return Mistake(
        f"{'this' if name is None else repr(name)} is instance group {MOST_GROUPS + 1}; the service takes {MOST_GROUPS}",
        "merge groups of one kind of node, or make a second cluster",
    )


def minimum_above_count(minimum: int, count: int) -> Mistake:
    """More nodes demanded than wanted."""
    return Mistake(f"a minimum of {minimum} nodes is above the count of {count}", "raise the count or lower the minimum")


def repeated_types(names: Sequence[str]) -> Mistake | None:
    """An instance type that is listed twice, if one is."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if not twice:
        return None
    return Mistake(f"{', '.join(twice)} is listed more than once", "name each instance type once, the preferred first")


def too_many_of_kind(count: int, kind: str) -> Mistake:
    """More than one volume or file system of a kind on a group."""
    return Mistake(f"{count} {kind}s given", "the service takes one per group: leave the others out")


def shared_mount_path(paths: Sequence[str]) -> Mistake | None:
    """Two file systems at one path, if there are."""
    twice = next((path for position, path in enumerate(paths) if path in paths[:position]), None)
    return None if twice is None else Mistake(f"two file systems at {twice!r}", "give each its own mount path")


ROOT_VOLUME = Mistake(
    "the root volume takes a KMS key and no size (it has 100 GB)", "give it the key alone, and a size to a secondary volume"
)
SECONDARY_VOLUME = Mistake("a secondary volume needs a size, 1 to 16384 GB", "give it one, such as 500")


def controller_count(count: int) -> Mistake:
    """A controller group that has not exactly one node."""
    return Mistake(f"count {count} on the Controller group", "Slurm through the API has one controller: write a count of 1")


def no_controller(names: Sequence[str]) -> Mistake:
    """A Slurm cluster without a controller."""
    listed = ", ".join(map(repr, names)) or "none"
    return Mistake(f"the cluster has no Controller group (groups: {listed})", "the service takes exactly one: make one Controller")


def second_of_node_type(node_type: str, first: str, second: str) -> Mistake:
    """Two groups of controllers, or of login nodes."""
    return Mistake(
        f"instance groups {first!r} and {second!r} are both {node_type}", "the service takes one: make the other Compute"
    )


def misplaced_partition(node_type: str, partition: str | None) -> Mistake:
    """A partition on nodes that run no jobs; ``None`` if its name is not known."""
    return Mistake(
        f"{'a partition' if partition is None else f'partition {partition!r}'} on a {node_type} group",
        "only Compute groups have one: leave it out",
    )


def checks_without_accelerator(types: Sequence[str]) -> Mistake:
    """Deep health checks on types that have nothing to check."""
    return Mistake(
        f"deep health checks on {', '.join(types)}, which has no accelerator to check", "leave the checks of this group out"
    )


CONNECTIVITY_OF_ONE = Mistake("InstanceConnectivity needs two nodes or more, found count 1", "keep InstanceStress only")


def mount_without_network(group: str, path: str) -> Mistake:
    """A file system on nodes in the service's own VPC."""
    return Mistake(
        f"instance group {group!r} mounts {path}, but the cluster has no network of its own",
        "FSx is mounted only in a custom VPC: give the cluster one",
    )


def types_without_continuous(group: str, count: int) -> Mistake:
    """Several instance types where capacity is all or nothing."""
    return Mistake(
        f"instance group {group!r} lists {count} instance types, which needs continuous provisioning",
        "name one type, or provision continuously",
    )


def key_without_continuous(group: str) -> Mistake:
    """A key for volumes where capacity is all or nothing."""
    return Mistake(
        f"instance group {group!r} has a volume with a KMS key, which needs continuous provisioning",
        "leave the key out, or provision continuously",
    )


def strategy_with_continuous(strategy: str) -> Mistake:
    """A Slurm configuration strategy where there is only one."""
    return Mistake(
        f"Slurm's configuration strategy is {strategy}, which the service refuses with continuous provisioning (it always merges)",
        "leave the strategy out, or do without continuous provisioning",
    )


def legacy_file(place: str) -> Mistake:
    """The legacy configuration among scripts of a cluster that is configured through the API."""
    return Mistake(
        f"{place} holds {LEGACY_FILE}, which the service refuses beside Slurm configuration through its API",
        "delete it: groups, partitions and file systems come from the instance groups",
    )
