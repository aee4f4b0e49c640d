"""Batch scripts of Slurm that are uploaded for nodes: `sbatch` takes their options, and the cluster has what they ask for.

Sources: https://slurm.schedmd.com/sbatch.html, https://pytorch.org/docs/stable/elastic/run.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-auto-resume.html
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.batch_scripts import Batch, read_batch
from hyperpod_constructs.analysis.clusters import CLUSTER, Cluster, Group, Orchestration, clusters
from hyperpod_constructs.analysis.embedded import is_mark
from hyperpod_constructs.analysis.node_programs import LIFE_CYCLE, programs_of
from hyperpod_constructs.analysis.schema.violation import Path, listed, meant
from hyperpod_constructs.analysis.scripts import Script, scripts_for
from hyperpod_constructs.analysis.shell_words import Command
from hyperpod_constructs.analysis.texts.node_scripts import mount_paths
from hyperpod_constructs.analysis.texts.reading import from_json, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.clusters import LEGACY_FILE, SERVICE_PARTITION
from hyperpod_constructs.facts.slurm_options import AUTO_RESUME, OF_SRUN, SBATCH
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_items, as_str

_OWN_PARTITIONS = re.compile(r"PartitionName\b|scontrol\s+(?:create|update)\s+partition", re.IGNORECASE)
"""Files that make partitions by themselves."""
_NODES = re.compile(r"(\d+)(?:-\d+)?")
_GPUS = re.compile(r"(?:[A-Za-z]\w*:)?(\d+)")
_GRES = re.compile(r"(?:^|,)(?:gres[:/])?gpu(?::[A-Za-z]\w*)?:(\d+)(?=,|$)")
_LAUNCHER, _PROCESSES = "torchrun", re.compile(r"--nproc[-_]per[-_]node(?:=(\d+))?")
_CHECKPOINTS = re.compile(r"--?[\w-]*(?:checkpoint|ckpt)[\w-]*")
_OF_NODE = ("/opt/dlami/nvme", "/opt/sagemaker", "/tmp", "/var/tmp")
"""Folders on volumes that a node has for itself."""


class _Job(NamedTuple):
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


class _Mistake(NamedTuple):
    """What is wrong with a job, in words, and what is right."""

    says: str
    allowed: str


def jobs(resource: Resource) -> Slips:
    """The batch scripts for a cluster, each once."""
    said: set[tuple[Resource, Path]] = set()
    for cluster in (one for one in clusters(resource.template.model) if one.resource is resource):
        for group in cluster.groups:
            for name, job in _jobs(cluster, group):
                place, found = (job.script.resource, job.script.path), next(_mistakes(job), None)
                if found is not None and place not in said:
                    said.add(place)
                    beside = ((resource, (*group.path, LIFE_CYCLE)),)
                    message = f"the batch script {name} for {resource.logical_id} {found.says}"
                    yield Slip(message, found.allowed, place[1], dead=True, beside=beside, at=place[0])


def _jobs(cluster: Cluster, group: Group) -> Iterator[tuple[str, _Job]]:
    names = {(one.resource, one.path): one.name for one in programs_of(group).files.values()}
    for script in scripts_for(group):
        batch = read_batch(script.text)
        if batch is not None:
            partitions = _partitions(cluster, group)
            yield names[script.resource, script.path], _Job(script, batch, partitions, _groups(batch, partitions))


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


def _mistakes(job: _Job) -> Iterator[_Mistake]:
    for judge in _JUDGES:
        yield from judge(job)


def _options(job: _Job) -> Iterator[_Mistake]:
    """Options that `sbatch` does not have; another one may be that of a plugin."""
    for one in (one for one in job.batch.options if not one.late and one.name not in SBATCH):
        near = typo_of(one.name, SBATCH)
        if one.name in OF_SRUN:
            why, allowed = "which only srun has", f"srun --{one.name}"
        elif near is not None:
            why, allowed = f"which it does not have; the nearest is --{near}", f"--{near}"
        elif len(one.name) == 1:
            why, allowed = "which it does not have", "an option of sbatch"
        else:
            continue
        yield _Mistake(f"gives sbatch {'-' * min(len(one.name), 2)}{one.name} in line {one.line}, {why}", allowed)


def _late(job: _Job) -> Iterator[_Mistake]:
    for one in (one for one in job.batch.options if one.late):
        says = f"has --{one.name} in line {one.line} behind its first command, where sbatch passes over it"
        yield _Mistake(says, "all #SBATCH before the first command")


def _partition(job: _Job) -> Iterator[_Mistake]:
    names = job.value("partition")
    for name in names.split(",") if names and job.partitions is not None and not job.batch.heterogeneous else ():
        if job.partitions is not None and name not in job.partitions:
            says = f"asks for partition {name}, which the cluster does not have{meant(name, job.partitions)}"
            yield _Mistake(says, listed(job.partitions))


def _nodes(job: _Job) -> Iterator[_Mistake]:
    """More nodes than the partition has: the job waits for ever."""
    wanted = _NODES.fullmatch(job.value("nodes"))
    counts = [one.count for one in job.groups or ()]
    has = sum(one for one in counts if one is not None)
    if wanted is not None and counts and None not in counts and int(wanted[1]) > has:
        yield _Mistake(f"asks for {int(wanted[1])} nodes, and its partition has {has}: it never starts", f"at most {has}")


def _accelerators(job: _Job) -> Iterator[_Mistake]:
    """More accelerators of a node than its type has."""
    most, asked = _most(job.groups, "gpu"), _asked(job)
    if most is not None and asked > most:
        says = f"asks for {asked} GPUs of each node, and a node of its partition has {most}: it never starts"
        yield _Mistake(says, f"at most {most}")


def _asked(job: _Job) -> int:
    found = (_GPUS.fullmatch(job.value("gpus-per-node")), _GRES.search(job.value("gres")))
    return max((int(one[1]) for one in found if one is not None), default=0)


def _processes(job: _Job) -> Iterator[_Mistake]:
    """More processes of `torchrun` than there are GPUs; other accelerators have several cores."""
    most = _most(job.groups, "gpu")
    for command in job.script.run.called if job.script.run is not None and most else ():
        count = _started(command, job.script)
        if most is not None and count > most:
            says = f"has torchrun start {count} processes on each node in line {command.line}, and a node has {most} GPUs"
            yield _Mistake(says, f"at most {most}")


def _started(command: Command, script: Script) -> int:
    """The processes that a command has `torchrun` start on a node; nothing if that is not known."""
    words = [as_str(script.run.value(word)) or "" for word in command.words] if script.run is not None else []
    found = [(place, match) for place, word in enumerate(words) if (match := _PROCESSES.fullmatch(word)) is not None]
    if not any(word.rpartition("/")[2] == _LAUNCHER for word in words) or len(found) != 1:
        return 0
    place, match = found[0]
    value = match[1] or "".join(words[place + 1 : place + 2])
    return int(value) if value.isdecimal() and len(value) < 6 else 0


def _most(groups: Sequence[Group] | None, kind: str) -> int | None:
    """The most accelerators of a node in some groups; `None` if they are not known, or of another kind."""
    types = [one.types for one in groups or ()]
    every = [one for some in types for one in some or ()]
    kinds = {one.accelerator.kind for one in every if one.accelerator is not None}
    if not every or None in types or any(one.vcpus is None for one in every) or not kinds <= {kind}:
        return None
    return max(one.accelerator.count if one.accelerator is not None else 0 for one in every)


def _checkpoints(job: _Job) -> Iterator[_Mistake]:
    """Checkpoints of a step that goes on with another node, on a volume of the node alone."""
    for command in job.script.run.called if job.script.run is not None else ():
        words = [as_str(job.script.run.value(word)) or "" for word in command.words] if job.script.run is not None else []
        places = [place for place in _places(words) if place.startswith("/")]
        resumes = any(word.startswith(f"--{AUTO_RESUME}") for word in words)
        if resumes and len(places) == 1 and _is_of_node(job, places[0]) and job.script.text.count(places[0]) == 1:
            says = f"resumes from {places[0]} in line {command.line}, which is gone with a node that is replaced"
            yield _Mistake(says, "a folder on a shared file system")


def _places(words: Sequence[str]) -> Iterator[str]:
    """The values of options for checkpoints."""
    for word, behind in itertools.pairwise((*words, "")):
        name, equals, value = word.partition("=")
        if _CHECKPOINTS.fullmatch(name):
            yield value if equals else behind


def _is_of_node(job: _Job, place: str) -> bool:
    mounts = [path for group in job.groups or () for path in mount_paths(group)]
    shared = [path for path in mounts if path not in _OF_NODE]
    is_shared = None in shared or any(path is not None and f"{place}/".startswith(f"{path}/") for path in shared)
    return bool(job.groups) and not is_shared and any(f"{place}/".startswith(f"{folder}/") for folder in _OF_NODE)


_JUDGES: tuple[Callable[[_Job], Iterator[_Mistake]], ...] = (
    *(_options, _late, _partition, _nodes, _accelerators, _processes, _checkpoints),
)
JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {CLUSTER: jobs}
