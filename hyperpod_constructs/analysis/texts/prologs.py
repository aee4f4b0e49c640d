"""Prologs and epilogs of Slurm: what they make is the job's user's, what they remove is the job's, and they end well.

Sources: https://slurm.schedmd.com/prolog_epilog.html and
https://www.gnu.org/software/bash/manual/bash.html#Lists
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from hyperpod_constructs.analysis.batch_scripts import read_batch
from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.job_scripts import JOB, JobScript, job_scripts, made_folders, removed_places
from hyperpod_constructs.analysis.mount_commands import mounts_of
from hyperpod_constructs.analysis.node_programs import programs_of
from hyperpod_constructs.analysis.scripts import scripts_for
from hyperpod_constructs.analysis.shell import variables_read
from hyperpod_constructs.analysis.slurm_texts import file_of, spelled_file
from hyperpod_constructs.analysis.texts.node_scripts import mount_paths
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, of_slurm
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.facts.slurm_options import OF_TASKS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.values import as_str

_GIVING = re.compile(r"\b(?:chown|setfacl|chgrp|runuser|su|sudo)\b")
_OWNER = re.compile(r"-[a-zA-Z]*[og]|--(?:owner|group)(?:=.*)?")
_OPEN = re.compile(r"0?[0-7]?[0-7]{2}[2367]|(?:a|o|ugo)?\+[rstx]*w[rstx]*")
"""Modes with which anybody may write."""
_EXCLUSIVE = re.compile(r"(?:OverSubscribe|Shared)=EXCLUSIVE|ExclusiveUser=YES", re.IGNORECASE)
_TEST = re.compile(r"(?:!\s+)?(?:\[\[?\s|\(\(|(?:test|grep|pgrep)\s|command\s+-v\s)")
_ACTION = re.compile(r"(?:chmod|chown|cp|docker|echo|exit|find|kill|killall|logger|mkdir|mv|pkill|rm|rmdir|touch|umount)\b")
_MAKING = r"(?:mkdir|install)\b[^\n]*"
_OF_ALL = ("/dev/shm", "/home", "/fsx", "/tmp", "/var/tmp")
_SIDES = re.compile(r"&&|\|\||[;&]\s*$")


def _mistakes(group: Group) -> Iterator[Mistake]:
    jobs = list(job_scripts(group))
    for judge in _JUDGES if jobs else ():
        yield from judge(group, jobs)


def _of(jobs: Sequence[JobScript], kind: str) -> list[JobScript]:
    return [one for one in jobs if one.kind == kind]


def _owned(group: Group, jobs: Sequence[JobScript]) -> Iterator[Mistake]:
    """A folder for a job that stays with root, and that nobody else may write to."""
    for job in _of(jobs, "prolog"):
        is_given = _GIVING.search(_code(job)) is not None
        opened = any(_OPEN.fullmatch(word) for one in job.run.called if one.name == "chmod" for word in job.words(one))
        for place, command in () if is_given or opened else made_folders(job):
            words = job.words(command)
            own = any(_OWNER.fullmatch(word) for word in words) or any(_OPEN.fullmatch(word) for word in words)
            if JOB in place and not own and _is_used(group, place):
                says = f"makes {place} in line {command.line} as root, and the job of a user cannot write to it"
                yield Mistake(file_of(group, job.script), says, 'install -d -m 0700 -o "$SLURM_JOB_UID"')


def _is_used(group: Group, place: str) -> bool:
    """Whether a batch script names a folder of jobs."""
    named = re.compile(re.escape(place.partition(JOB)[0]) + r"\$\{?SLURM_JOB_?ID")
    return any(named.search(text) for text in _batches(group))


def _batches(group: Group) -> Iterator[str]:
    for file in programs_of(group).files.values():
        text = spelled_file(file)
        if text and read_batch(text) is not None:
            yield text


def _removed(group: Group, jobs: Sequence[JobScript]) -> Iterator[Mistake]:
    """The folders of all jobs, of which others still run on the node."""
    folders = [place for job in jobs for place, _ in made_folders(job) if JOB in place]
    alone = any(_EXCLUSIVE.search(spelled_file(one) or "OverSubscribe=EXCLUSIVE") for one in programs_of(group).files.values())
    for job in () if alone else jobs:
        for place, command in removed_places(job):
            below = next((one for one in folders if JOB not in place and one.startswith(f"{place}/")), None)
            if below is not None:
                says = f"removes {place} in line {command.line}, with the folders of other jobs that run on the node"
                yield Mistake(file_of(group, job.script), says, below)


def _shared(group: Group, jobs: Sequence[JobScript]) -> Iterator[Mistake]:
    """Folders that jobs and users of the node have together."""
    runs = [one.run for one in scripts_for(group) if one.run is not None]
    mounted = {as_str(one.place) for run in runs for one in mounts_of(run)} | set(mount_paths(group))
    for job in jobs:
        for place, command in removed_places(job):
            if place in _OF_ALL or (place in mounted and place):
                says = f"removes all that is in {place} in line {command.line}, also what is not the job's"
                yield Mistake(file_of(group, job.script), says, "what the job made")


def _variables(group: Group, jobs: Sequence[JobScript]) -> Iterator[Mistake]:
    """Variables of users and of tasks, which slurmd does not set for its own scripts."""
    for job in (one for one in jobs if "*" not in one.run.set):
        read = (one.name for one in variables_read(job.run.commands) if one.plain and one.name not in job.run.set)
        name = next((one for one in read if one in OF_TASKS), None)
        if name is not None:
            says = f"takes {name}, which {job.kind}s do not have"
            yield Mistake(file_of(group, job.script), says, "SLURM_JOB_UID, SLURM_JOB_USER and others of the job")


def _elsewhere(group: Group, jobs: Sequence[JobScript]) -> Iterator[Mistake]:
    """A folder for the job that the epilog does not remove, beside one that nobody makes."""
    made = [(job, place, command) for job in _of(jobs, "prolog") for place, command in made_folders(job) if JOB in place]
    gone = [place for job in _of(jobs, "epilog") for place, _ in removed_places(job)]
    of_jobs = [place for place in gone if JOB in place and not _is_made_elsewhere(group, place)]
    for job, place, command in made if len(made) == len(of_jobs) == 1 else ():
        if not any(f"{place}/".startswith(f"{one}/") for one in gone) and not f"{of_jobs[0]}/".startswith(f"{place}/"):
            says = f"makes {place} in line {command.line}, and the epilog removes {of_jobs[0]}, which nobody makes"
            yield Mistake(file_of(group, job.script), says, of_jobs[0])


def _is_made_elsewhere(group: Group, place: str) -> bool:
    """Whether another file than a prolog may make a folder."""
    making = re.compile(_MAKING + re.escape(place.partition(JOB)[0]))
    return any(making.search(spelled_file(one) or place) for one in programs_of(group).files.values())


def _ended(group: Group, jobs: Sequence[JobScript]) -> Iterator[Mistake]:
    """A script whose status is that of a test: Slurm drains the node where it is not zero."""
    for job in jobs:
        lines = [line.strip() for line in _code(job).replace("\\\n", " ").split("\n") if line.strip()]
        last = lines[-1] if lines else ""
        parts = _SIDES.findall(last)
        test, _, action = last.partition("&&")
        if _TEST.match(last) and parts == ["&&"] and _ACTION.match(action.strip()):
            says = f"ends with the status of {test.strip()!r}: where that is false, Slurm drains the node"
            yield Mistake(file_of(group, job.script), says, "exit 0 as the last line")


def _code(job: JobScript) -> str:
    """The script without lines that are comments."""
    return "\n".join(line for line in job.script.text.split("\n") if not line.lstrip().startswith("#"))


_JUDGES: tuple[Callable[[Group, Sequence[JobScript]], Iterator[Mistake]], ...] = (
    *(_owned, _removed, _shared, _variables, _elsewhere, _ended),
)
JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_slurm(_mistakes)
