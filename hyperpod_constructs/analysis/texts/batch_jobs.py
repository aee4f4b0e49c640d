"""Batch scripts of Slurm that are uploaded for nodes: `sbatch` takes their options, and the cluster has what they ask for.

Sources: https://slurm.schedmd.com/sbatch.html, https://pytorch.org/docs/stable/elastic/run.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-auto-resume.html
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from hyperpod_constructs.analysis.clusters import CLUSTER, clusters
from hyperpod_constructs.analysis.node_programs import LIFE_CYCLE
from hyperpod_constructs.analysis.schema.violation import Path, listed, meant
from hyperpod_constructs.analysis.texts.batch_steps import STEPS
from hyperpod_constructs.analysis.texts.cluster_jobs import Job, Mistake, jobs_of, most_of, processes_of
from hyperpod_constructs.analysis.texts.node_scripts import mount_paths
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.slurm_options import AUTO_RESUME, OF_SRUN, SBATCH
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_str

_NODES = re.compile(r"(\d+)(?:-\d+)?")
_GPUS = re.compile(r"(?:[A-Za-z]\w*:)?(\d+)")
_GRES = re.compile(r"(?:^|,)(?:gres[:/])?gpu(?::[A-Za-z]\w*)?:(\d+)(?=,|$)")
_CHECKPOINTS = re.compile(r"--?[\w-]*(?:checkpoint|ckpt)[\w-]*")
_OF_NODE = ("/opt/dlami/nvme", "/opt/sagemaker", "/tmp", "/var/tmp")
"""Folders on volumes that a node has for itself."""


def jobs(resource: Resource) -> Slips:
    """The batch scripts for a cluster, each once."""
    said: set[tuple[Resource, Path]] = set()
    for cluster in (one for one in clusters(resource.template.model) if one.resource is resource):
        for group in cluster.groups:
            for name, job in jobs_of(cluster, group):
                place, found = (job.script.resource, job.script.path), next(_mistakes(job), None)
                if found is not None and place not in said:
                    said.add(place)
                    beside = ((resource, (*group.path, LIFE_CYCLE)),)
                    message = f"the batch script {name} for {resource.logical_id} {found.says}"
                    yield Slip(message, found.allowed, place[1], dead=True, beside=beside, at=place[0])


def _mistakes(job: Job) -> Iterator[Mistake]:
    for judge in _JUDGES:
        yield from judge(job)


def _options(job: Job) -> Iterator[Mistake]:
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
        yield Mistake(f"gives sbatch {'-' * min(len(one.name), 2)}{one.name} in line {one.line}, {why}", allowed)


def _late(job: Job) -> Iterator[Mistake]:
    for one in (one for one in job.batch.options if one.late):
        says = f"has --{one.name} in line {one.line} behind its first command, where sbatch passes over it"
        yield Mistake(says, "all #SBATCH before the first command")


def _partition(job: Job) -> Iterator[Mistake]:
    names = job.value("partition")
    for name in names.split(",") if names and job.partitions is not None and not job.batch.heterogeneous else ():
        if job.partitions is not None and name not in job.partitions:
            says = f"asks for partition {name}, which the cluster does not have{meant(name, job.partitions)}"
            yield Mistake(says, listed(job.partitions))


def _nodes(job: Job) -> Iterator[Mistake]:
    """More nodes than the partition has: the job waits for ever."""
    wanted = _NODES.fullmatch(job.value("nodes"))
    counts = [one.count for one in job.groups or ()]
    has = sum(one for one in counts if one is not None)
    if wanted is not None and counts and None not in counts and int(wanted[1]) > has:
        yield Mistake(f"asks for {int(wanted[1])} nodes, and its partition has {has}: it never starts", f"at most {has}")


def _accelerators(job: Job) -> Iterator[Mistake]:
    """More accelerators of a node than its type has."""
    most, asked = most_of(job.groups, "gpu"), _asked(job)
    if most is not None and asked > most:
        says = f"asks for {asked} GPUs of each node, and a node of its partition has {most}: it never starts"
        yield Mistake(says, f"at most {most}")


def _asked(job: Job) -> int:
    found = (_GPUS.fullmatch(job.value("gpus-per-node")), _GRES.search(job.value("gres")))
    return max((int(one[1]) for one in found if one is not None), default=0)


def _processes(job: Job) -> Iterator[Mistake]:
    """More processes of `torchrun` than there are GPUs; other accelerators have several cores."""
    most = most_of(job.groups, "gpu")
    for command in job.script.run.called if job.script.run is not None and most else ():
        count = processes_of(command, job.script)
        if most is not None and count > most:
            says = f"has torchrun start {count} processes on each node in line {command.line}, and a node has {most} GPUs"
            yield Mistake(says, f"at most {most}")


def _checkpoints(job: Job) -> Iterator[Mistake]:
    """Checkpoints of a step that goes on with another node, on a volume of the node alone."""
    for command in job.script.run.called if job.script.run is not None else ():
        words = [as_str(job.script.run.value(word)) or "" for word in command.words] if job.script.run is not None else []
        places = [place for place in _places(words) if place.startswith("/")]
        resumes = any(word.startswith(f"--{AUTO_RESUME}") for word in words)
        if resumes and len(places) == 1 and _is_of_node(job, places[0]) and job.script.text.count(places[0]) == 1:
            says = f"resumes from {places[0]} in line {command.line}, which is gone with a node that is replaced"
            yield Mistake(says, "a folder on a shared file system")


def _places(words: Sequence[str]) -> Iterator[str]:
    """The values of options for checkpoints."""
    for word, behind in itertools.pairwise((*words, "")):
        name, equals, value = word.partition("=")
        if _CHECKPOINTS.fullmatch(name):
            yield value if equals else behind


def _is_of_node(job: Job, place: str) -> bool:
    mounts = [path for group in job.groups or () for path in mount_paths(group)]
    shared = [path for path in mounts if path not in _OF_NODE]
    is_shared = None in shared or any(path is not None and f"{place}/".startswith(f"{path}/") for path in shared)
    return bool(job.groups) and not is_shared and any(f"{place}/".startswith(f"{folder}/") for folder in _OF_NODE)


_JUDGES: tuple[Callable[[Job], Iterator[Mistake]], ...] = (
    *(_options, _late, _partition, _nodes, _accelerators, _processes, _checkpoints, *STEPS),
)
JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {CLUSTER: jobs}
