"""Mounts of nodes and what lies below them: nobody writes there before, root may where it must, and jobs find what they name.

Sources: https://man7.org/linux/man-pages/man8/mount.8.html, https://slurm.schedmd.com/sbatch.html#OPT_output and
https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSClientConfiguration.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.batch_scripts import read_batch
from hyperpod_constructs.analysis.clusters import Group, clusters
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.file_modes import kept_by
from hyperpod_constructs.analysis.node_mounts import changes, in_order, mounts_by_scripts
from hyperpod_constructs.analysis.node_programs import LIFE_CYCLE, NodeFile, programs_of
from hyperpod_constructs.analysis.schema.violation import Path, listed
from hyperpod_constructs.analysis.scripts import scripts_for
from hyperpod_constructs.analysis.texts.node_scripts import mount_paths
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.file_system_mounts import FOLDERS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource

_CLUSTER = "AWS::SageMaker::Cluster"
_OUTPUTS = ("output", "error")


class _Mistake(NamedTuple):
    """What is wrong with a file, in words, and what is right."""

    file: NodeFile
    says: str
    allowed: str


def mounts(cluster: Resource) -> Slips:
    """What lies below the mounts of the groups of a cluster; of each file the first mistake."""
    said: set[tuple[Resource, Path]] = set()
    for group in (group for one in clusters(cluster.template.model) if one.resource is cluster for group in one.groups):
        for found in (*_too_early(group), *_nowhere(group)):
            place = found.file.resource, found.file.path
            if place not in said:
                said.add(place)
                message = f"{found.file.name} of instance group {group.label!r} {found.says}"
                beside = ((cluster, (*group.path, LIFE_CYCLE)),)
                yield Slip(message, found.allowed, found.file.path, dead=True, beside=beside, at=found.file.resource)


def _too_early(group: Group) -> Iterator[_Mistake]:
    """A program that writes below a place where another one mounts a file system only later."""
    files, there = programs_of(group).files, set(mount_paths(group))
    order = {one.name: (number, one.by) for number, one in enumerate(in_order(group))}
    for mount in (one for one in mounts_by_scripts(group) if one.place and one.place not in there):
        mounting = mount.script.path[-1]
        last, starter = order.get(str(mounting), (0, ""))
        below = [one.by for one in changes(group) if one.path.startswith(f"{mount.place}/") and one.by in order]
        earlier = sorted((order[one][0], one) for one in below if order[one][0] < last and order[one][1] == starter)
        if earlier and starter in files:
            says = f"starts {earlier[0][1]}, which writes below {mount.place}, before {mounting}, which mounts a file system there"
            yield _Mistake(files[starter], f"{says}: that hides what was written", f"{mounting} before {earlier[0][1]}")


def _nowhere(group: Group) -> Iterator[_Mistake]:
    """A batch script whose output is in a folder that nobody mounts or makes."""
    mounted = [*(one.place for one in mounts_by_scripts(group)), *mount_paths(group)]
    if not mounts_by_scripts(group) or None in mounted:
        return
    made = [path for script in scripts_for(group) if script.run is not None for path in kept_by(script.run, script.text)]
    files = {one.name: marked(one.text)[0] or "" for one in programs_of(group).files.values()}
    others = [text for text in files.values() if read_batch(text) is None]
    for file in programs_of(group).files.values():
        batch = read_batch(files[file.name])
        for path in filter(None, map(batch.value, _OUTPUTS) if batch is not None else ()):
            top = path.removeprefix("/").partition("/")[0]
            named = [one for one in others if re.search(rf"(?<![\w:]){re.escape(f'/{top}')}\b", one)]
            is_there = named or any(f"{one}/".startswith(f"/{top}/") for one in (*made, *mounted) if one is not None)
            if path.startswith("/") and "/" in path[1:] and top not in FOLDERS and not is_there and not {*top} & {*"%$"}:
                says = f"writes its output to {path}, and nobody mounts or makes /{top}"
                yield _Mistake(file, says, f"a folder below {listed(one for one in dict.fromkeys(mounted) if one is not None)}")


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_CLUSTER: mounts}
