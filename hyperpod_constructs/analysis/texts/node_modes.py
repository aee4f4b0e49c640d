"""Modes of what scripts of nodes make: files that programs refuse when others may read them, and folders in which users write.

Sources: https://slurm.schedmd.com/slurmdbd.conf.html, https://slurm.schedmd.com/sbatch.html#OPT_output and
https://github.com/NVIDIA/enroot/blob/master/doc/configuration.md
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.batch_scripts import read_batch
from hyperpod_constructs.analysis.clusters import Group, clusters
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.file_modes import ROOT, Kept, kept_by
from hyperpod_constructs.analysis.node_mounts import mounts_by_scripts
from hyperpod_constructs.analysis.node_programs import LIFE_CYCLE, programs_of
from hyperpod_constructs.analysis.schema.violation import Path
from hyperpod_constructs.analysis.scripts import Script, scripts_for
from hyperpod_constructs.analysis.texts import slurm_files
from hyperpod_constructs.analysis.texts.node_scripts import mount_paths
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.written_texts import HOLE, texts_written
from hyperpod_constructs.facts.private_files import ENROOT_FOLDERS, PRIVATE_FILES, PrivateFile
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource

_CLUSTER = "AWS::SageMaker::Cluster"
_KEYS = re.compile(r"(?!/root/|\$\{HOME\}/|/etc/skel/).+/\.ssh(?:/authorized_keys)?")
_OUTPUTS = ("output", "error")
_DATABASE = "slurmdbd.conf"


def modes(cluster: Resource) -> Slips:
    """The modes that the scripts for the groups of a cluster give, each mistake once."""
    said: set[tuple[Resource, Path]] = set()
    for group in (group for one in clusters(cluster.template.model) if one.resource is cluster for group in one.groups):
        for script, says, allowed in _mistakes(group):
            place = script.resource, script.path
            if place not in said:
                said.add(place)
                message = f"the script of instance group {group.label!r} of {cluster.logical_id} {says}"
                beside = ((cluster, (*group.path, LIFE_CYCLE)),)
                yield Slip(message, allowed, script.path, dead=True, beside=beside, at=script.resource)


def _mistakes(group: Group) -> Iterator[tuple[Script, str, str]]:
    """What is wrong, in words, with the script that does it, and what is right."""
    made = [(script, kept_by(script.run, script.text)) for script in scripts_for(group) if script.run is not None]
    for script, found in made:
        for path, kept in found.items():
            is_said = path.endswith(f"/{_DATABASE}") and any(slurm_files.of_script(script))
            mistakes = () if is_said else (*_of_mode(path, kept), *_of_keys(path, kept))
            yield from ((script, says, allowed) for says, allowed in mistakes)
    mounted = {*mount_paths(group), *(one.place for one in mounts_by_scripts(group))}
    for folder, why in dict(_written_by_users(group)).items() if None not in mounted else ():
        makers = [(script, found[folder]) for script, found in made if folder in found]
        if len(makers) == 1 and folder not in mounted and not makers[0][1].is_for_all:
            script, kept = makers[0]
            yield script, f"makes {folder} in line {kept.line} for root alone, with the mode {kept.mode:04o}: {why}", "1777"


def _of_mode(path: str, kept: Kept) -> Iterator[tuple[str, str]]:
    """A mode with which a program does not take its file."""
    private = next((one for one in PRIVATE_FILES if one.path.fullmatch(path)), None)
    if private is not None and kept.mode is not None and kept.mode & private.forbidden:
        may = _may(kept.mode, private)
        yield f"leaves {path} with the mode {kept.mode:04o}, so that others may {may} it: {private.does}", private.allowed


def _may(mode: int, private: PrivateFile) -> str:
    return "write" if not private.forbidden & 0o044 else "read" if mode & 0o044 else "use"


def _of_keys(path: str, kept: Kept) -> Iterator[tuple[str, str]]:
    """The keys of a user that stay with root, and that nobody else may read."""
    found = _KEYS.fullmatch(path)
    if found is not None and kept.owner == ROOT and kept.mode is not None and not kept.mode & 0o005:
        says = f"leaves {path} with root and the mode {kept.mode:04o}: sshd reads the keys of a user as this user, and may not"
        yield says, f"chown of {path}"


def _written_by_users(group: Group) -> Iterator[tuple[str, str]]:
    """The folders in which users make files, each with the reason."""
    for file in programs_of(group).files.values():
        batch = read_batch(marked(file.text)[0] or "")
        for path in filter(None, map(batch.value, _OUTPUTS) if batch is not None else ()):
            folder = path.partition("%")[0].rpartition("/")[0]
            if folder.startswith("/"):
                yield folder, f"jobs of users, such as {file.name}, cannot open their output there"
    for script in scripts_for(group):
        for text in texts_written(script.run) if script.run is not None else ():
            for name, path in ENROOT_FOLDERS.findall(text.text) if text.name.endswith(".conf") else ():
                own = re.split(rf"[$`{re.escape(HOLE)}]", path, maxsplit=1)[0]
                folder = own.rpartition("/")[0] if own != path else own.rstrip("/")
                yield folder, f"enroot makes {name} there as the user who starts a container"


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_CLUSTER: modes}
