"""Partitions over several groups of workers.

The included file gives them no nodes: slurmctld does not start with a node that slurm.conf lacks, and the service's agent adds and
removes nodes there. So each of them begins with a set of no nodes, and gets the nodes of its groups' own partitions from slurmctld.
"""

from __future__ import annotations

import re

from node_setup import slurm_conf
from node_setup.errors import NodeSetupError
from node_setup.node import Node
from node_setup.scheduling import Partition

EMPTY = "hyperpod_none"


def wanted_lines(node: Node) -> list[str]:
    """The lines of the included file; a partition that slurm.conf has already stays as it is there."""
    partitions = ours(node)
    if not partitions:
        return []
    return [f"NodeSet={EMPTY} Feature={EMPTY}", *map(_line, partitions)]


def ours(node: Node) -> list[Partition]:
    """The partitions that no line of others defines: slurmctld does not start with two of one name."""
    known = slurm_conf.partitions_of_others(node) if node.config.scheduling.partitions else []
    return [partition for partition in node.config.scheduling.partitions if partition.name not in known]


def update(node: Node) -> None:
    """Give each partition the nodes that its groups have now."""
    for partition in ours(node):
        wanted = {name for source in _sources(node, partition) for name in _nodes(node, source)}
        if wanted and wanted != set(_nodes(node, partition.name)):
            node.run(["scontrol", "update", f"PartitionName={partition.name}", f"Nodes={','.join(sorted(wanted))}"])


def _sources(node: Node, partition: Partition) -> list[str]:
    """The service's partitions of the groups."""
    groups = node.config.groups
    chosen = [name for name in (partition.groups or groups) if name in groups and groups[name].node_type == "Compute"]
    return sorted({groups[name].partition or name for name in chosen})


def _nodes(node: Node, partition: str) -> list[str]:
    """The nodes of a partition; none if slurmctld does not know it yet, because no node of its group is there."""
    answer = node.query(["scontrol", "--oneliner", "show", "partition", partition])
    found = re.search(r" Nodes=(\S+)", answer.output)
    if answer.code != 0 or found is None or found[1] == "(null)":
        return []
    names = node.query(["scontrol", "show", "hostnames", found[1]])
    if names.code != 0:
        raise NodeSetupError(f"scontrol show hostnames {found[1]}: ended with {names.code}")
    return names.output.split()


def _line(partition: Partition) -> str:
    settings = "".join(f" {key}={value}" for key, value in partition.settings.items())
    return f"PartitionName={partition.name} Nodes={EMPTY}{settings}"
