"""Batch scripts among the files of a cluster's nodes, with the partitions and the groups that run them.

Sources: https://slurm.schedmd.com/sbatch.html and https://pytorch.org/docs/stable/elastic/run.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.batch_scripts import Batch, read_batch
from hyperpod_constructs.analysis.clusters import Cluster, Group, Orchestration, clusters
from hyperpod_constructs.analysis.embedded import is_mark
from hyperpod_constructs.analysis.node_programs import programs_of
from hyperpod_constructs.analysis.scripts import Script, scripts_for
from hyperpod_constructs.analysis.shell_words import Command
from hyperpod_constructs.analysis.texts.reading import from_json, spelled
from hyperpod_constructs.analysis.texts.slip import entries, mapping
from hyperpod_constructs.facts.clusters import LEGACY_FILE, SERVICE_PARTITION
from hyperpod_constructs.templates.values import as_items, as_str

_OWN_PARTITIONS = re.compile(r"PartitionName\b|scontrol\s+(?:create|update)\s+partition", re.IGNORECASE)
"""Files that make partitions by themselves."""
_LAUNCHER, _PROCESSES = "torchrun", re.compile(r"--nproc[-_]per[-_]node(?:=(\d+))?")


class Job(NamedTuple):
    """A batch script of a cluster.

    :param groups: the groups whose nodes run it; `None` if they are not known.
    """

    script: Script
    batch: Batch
    partitions: Mapping[str, Sequence[Group]] | None
    groups: Sequence[Group] | None

    def value(self, name: str) -> str:
        """The value of an option; empty if it is not given, or not known."""
        found = self.batch.value(name) or ""
        return "" if any(map(is_mark, found)) else found


class Mistake(NamedTuple):
    """What is wrong with a job, in words, and what is right."""

    says: str
    allowed: str


def jobs_of(cluster: Cluster, group: Group) -> Iterator[tuple[str, Job]]:
    """The batch scripts for the nodes of a group, with their names."""
    names = {(one.resource, one.path): one.name for one in programs_of(group).files.values()}
    for script in scripts_for(group):
        batch = read_batch(script.text)
        if batch is not None:
            partitions = _partitions(cluster, group)
            yield names[script.resource, script.path], Job(script, batch, partitions, _groups(batch, partitions))


def _partitions(cluster: Cluster, group: Group) -> Mapping[str, Sequence[Group]] | None:
    """The partitions of a cluster with their groups; `None` if they are not known."""
    files = programs_of(group).files
    if len(clusters(cluster.resource.template.model)) != 1 or not cluster.knows_groups:
        return None
    if any(_OWN_PARTITIONS.search(spelled(one.text) or "") for one in files.values()):
        return None
    own = _of_groups(cluster) if cluster.orchestration is Orchestration.SLURM else None
    file = files.get(LEGACY_FILE) if cluster.orchestration is Orchestration.LEGACY_SLURM else None
    found = own if file is None else _of_file(cluster, from_json(file.text))
    return {SERVICE_PARTITION: [one for some in found.values() for one in some], **found} if found else None


def _of_groups(cluster: Cluster) -> Mapping[str, list[Group]] | None:
    lists = [(as_items(one.get("SlurmConfig", "PartitionNames")), one) for one in cluster.groups]
    pairs = [(as_str(name), group) for names, group in lists for name in names or ()]
    unknown = any(names is None for names, _ in lists) or any(name is None for name, _ in pairs)
    return None if unknown else grouped((name, group) for name, group in pairs if name is not None)


def _of_file(cluster: Cluster, data: object) -> Mapping[str, list[Group]] | None:
    """The partitions of `provisioning_parameters.json`; `None` if one has a group that is not known."""
    workers = data.get("worker_groups") if isinstance(data, Mapping) else None
    groups = {one.name: one for one in cluster.groups if one.name is not None}
    pairs = [(mapping(one).get("partition_name"), mapping(one).get("instance_group_name")) for _, one in entries(workers)]
    known = [(name, groups[group]) for name, group in pairs if isinstance(name, str) and isinstance(group, str) and group in groups]
    return grouped(known) if len(known) == len(pairs) else None


def _groups(batch: Batch, partitions: Mapping[str, Sequence[Group]] | None) -> Sequence[Group] | None:
    """The groups of the partitions that a job names, or all; several partitions are alternatives."""
    if partitions is None or batch.heterogeneous:
        return None
    names = (batch.value("partition") or SERVICE_PARTITION).split(",")
    return partitions.get(names[0]) if len(names) == 1 else None


def processes_of(command: Command, script: Script) -> int:
    """The processes that a command has `torchrun` start on a node; nothing if that is not known."""
    words = [as_str(script.run.value(word)) or "" for word in command.words] if script.run is not None else []
    found = [(place, match) for place, word in enumerate(words) if (match := _PROCESSES.fullmatch(word)) is not None]
    if not any(word.rpartition("/")[2] == _LAUNCHER for word in words) or len(found) != 1:
        return 0
    place, match = found[0]
    value = match[1] or "".join(words[place + 1 : place + 2])
    return int(value) if value.isdecimal() and len(value) < 6 else 0


def most_of(groups: Sequence[Group] | None, kind: str) -> int | None:
    """The most accelerators of a node in some groups; `None` if they are not known, or of another kind."""
    types = [one.types for one in groups or ()]
    every = [one for some in types for one in some or ()]
    kinds = {one.accelerator.kind for one in every if one.accelerator is not None}
    if not every or None in types or any(one.vcpus is None for one in every) or not kinds <= {kind}:
        return None
    return max(one.accelerator.count if one.accelerator is not None else 0 for one in every)
