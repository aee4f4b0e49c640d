"""Users that programs of nodes make: with the same number everywhere where they share files, and once.

Sources: https://man7.org/linux/man-pages/man8/useradd.8.html and https://slurm.schedmd.com/quickstart_admin.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hyperpod_constructs.analysis.account_commands import USERS, AccountCommand, by_python, by_shell
from hyperpod_constructs.analysis.clusters import Group, clusters
from hyperpod_constructs.analysis.code_runs.parsing import parsed_code
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.mount_commands import mounts_of
from hyperpod_constructs.analysis.node_programs import LIFE_CYCLE, NodeFile, programs_of
from hyperpod_constructs.analysis.schema.violation import Path
from hyperpod_constructs.analysis.scripts import scripts_for
from hyperpod_constructs.analysis.texts.node_scripts import shared_paths
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.written_texts import HOLE
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_str

_CLUSTER = "AWS::SageMaker::Cluster"
_HOMES = "/home"
_SHARED = ("lustre", "nfs", "nfs4", "efs")


def accounts(cluster: Resource) -> Slips:
    """The users that programs for the groups of a cluster make; of each program the first mistake."""
    said: set[tuple[Resource, Path]] = set()
    for group in (group for one in clusters(cluster.template.model) if one.resource is cluster for group in one.groups):
        for file, commands in _programs(group):
            place = file.resource, file.path
            for says, allowed in [*_mistakes(group, commands)][: place not in said]:
                said.add(place)
                message = f"{file.name} for nodes of instance group {group.label!r} {says}"
                beside = ((cluster, (*group.path, LIFE_CYCLE)),)
                yield Slip(message, allowed, file.path, dead=True, beside=beside, at=file.resource)


def _programs(group: Group) -> Iterator[tuple[NodeFile, Sequence[AccountCommand]]]:
    """The programs of a group with commands for users."""
    scripts = {(one.resource, one.path): one for one in scripts_for(group)}
    for file in programs_of(group).files.values():
        text, script = marked(file.text)[0] or "", scripts.get((file.resource, file.path))
        tree = parsed_code(text) if file.name.endswith(".py") and "add" in text else None
        if tree is not None:
            yield file, [*by_python(tree)]
        elif script is not None and script.run is not None:
            yield file, [*by_shell(script.run, text)]


def _mistakes(group: Group, commands: Sequence[AccountCommand]) -> Iterator[tuple[str, str]]:
    people = [one for one in commands if one.words[0] in USERS and not one.is_of_system]
    lacking = next((one for one in people if not one.has_number and _is_shared(group, one.home)), None)
    if lacking is not None:
        says = f"makes a user in line {lacking.line} without a number, which is the next free one of each node"
        yield f"{says}: files in the shared homes then belong to somebody else", "useradd --uid"
    again = next((one for one in commands if not one.asked), None)
    if again is not None and any(one.asked for one in commands):
        says = f"runs {again.words[0]} in line {again.line} with each run, which fails for one who is there"
        yield says, f"{again.words[0]} where getent finds none"


def _is_shared(group: Group, home: str | None) -> bool:
    """Whether nodes share the homes of users, as far as that is known; a home that is not known counts where scripts mount some."""
    home = _HOMES if home is None else home
    places = {*shared_paths(group), *_mounted(group)}
    if HOLE in (home if "/" not in home.lstrip("/") else home.lstrip("/").partition("/")[0]):
        return any(one not in shared_paths(group) for one in places)
    return any(one is not None and (home == one or home.startswith(f"{one}/")) for one in places)


def _mounted(group: Group) -> Iterator[str | None]:
    """Where scripts mount file systems of a network."""
    for script in scripts_for(group):
        for run in script.runs:
            yield from ((as_str(one.place) or "").rstrip("/") or None for one in mounts_of(run) if one.kind in _SHARED)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_CLUSTER: accounts}
