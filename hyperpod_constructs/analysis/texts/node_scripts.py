"""Scripts of nodes that stand in the templates, as properties of what uploads them: a shell can read them, and they end well.

Where a group mounts file systems, its scripts look for these, at the paths that the group has. They run on each new node, and on
each that takes the place of another: they neither delete what all nodes share nor stop the node.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.clusters import Group, clusters, given
from hyperpod_constructs.analysis.mount_commands import FSTAB
from hyperpod_constructs.analysis.node_programs import LIFE_CYCLE, programs_of
from hyperpod_constructs.analysis.schema.violation import Path, listed, meant
from hyperpod_constructs.analysis.scripts import Script, scripts_for
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command, plain
from hyperpod_constructs.analysis.texts import (
    cases,
    cli_commands,
    fstab,
    hidden_failures,
    json_answers,
    mount_options,
    mounted_sources,
    named_by_scripts,
    orchestrator_commands,
    provisioning,
    redirections,
    secrets_in_scripts,
    shell_quotes,
    shell_variables,
    shown_secrets,
    slurm_files,
    written_documents,
)
from hyperpod_constructs.analysis.texts.shell import mistakes_in_script
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_str, at

_CLUSTER = "AWS::SageMaker::Cluster"
_PATHS: Mapping[str, str] = {"EbsVolumeConfig": "/opt/sagemaker", "FsxLustreConfig": "/fsx", "FsxOpenZfsConfig": "/home"}
_RECOVERY = "NodeRecovery"
_SHARED = ("FsxLustreConfig", "FsxOpenZfsConfig")
_OF_IMAGES = ("/", "/boot", "/dev", "/mnt", "/opt", "/proc", "/run", "/sys", "/tmp", "/var")
"""Mounts of the image of nodes, or below which programs mount."""
_MOUNTING = ("mount", "mount.lustre", "systemctl", "ansible-playbook", "bash", "sh", "source", ".", "python3")
"""Commands that may mount something, also by another script."""
_WHOLE = ("", "/", "/*", "/.", "/{*,.*}")
"""What stands behind a folder in a word for all that is in it."""
_HERE = ("*", ".", "./", "./*")
_STOPS: Mapping[str, tuple[str, ...]] = {
    "halt": (),
    "init": ("0", "6"),
    "poweroff": (),
    "reboot": (),
    "shutdown": ("now", "+0"),
    "systemctl": ("halt", "poweroff", "reboot"),
}
"""Commands that stop a machine, with the words of which one says that they do so at once."""
_OF_SCRIPTS = (
    *(shell_variables, cli_commands, named_by_scripts, secrets_in_scripts, slurm_files, written_documents),
    *(cases, redirections, mount_options, fstab, hidden_failures, shell_quotes, json_answers, shown_secrets),
)
"""The judges of scripts everywhere."""
_STRICT = re.compile(r"^\s*set\s+(?:-[a-z]*u|.*-o\s+nounset)|^#!.*\s-[a-z]*u", re.MULTILINE)
"""A shell that ends with the first variable without a value."""
_ARGUMENT, _QUOTED = re.compile(r"\$(?:([1-9])(?!\d)|\{([1-9])\})"), re.compile(r"'[^']*'|#.*")
_FUNCTION = re.compile(r"^[ \t]*(?:function[ \t]+)?[\w-]+[ \t]*\(\)[ \t]*\{.*?^\}", re.MULTILINE | re.DOTALL)
_OWN_ARGUMENTS = re.compile(r"^\s*(?:shift|set\s+--|getopts)\b|^\s*(?:function\s+[\w-]+|[\w-]+\s*\(\))", re.MULTILINE)
"""Commands after which a script has other arguments, and functions, which have their own."""
_FILTERS = ("-delete", "-depth", "-mindepth", "-maxdepth", "-mount", "-type", "-xdev")
"""What `find` takes in a command that deletes all that it finds."""


def scripts(cluster: Resource) -> Slips:
    """The scripts of the groups of a cluster, each once."""
    said: set[tuple[Resource, Path]] = set()
    yield from list(_resumed_in_vain(cluster))[:1]
    for one in clusters(cluster.template.model):
        for group in one.groups if one.resource is cluster else ():
            for script in scripts_for(group):
                found = list(_mistakes(group, script))[:1]
                for says, allowed in found if (script.resource, script.path) not in said else ():
                    said.add((script.resource, script.path))
                    message = f"the script of instance group {group.label!r} of {cluster.logical_id} {says}"
                    beside = ((cluster, (*group.path, LIFE_CYCLE)),)
                    yield Slip(message, allowed, script.path, dead=True, beside=beside, at=script.resource)


def _resumed_in_vain(cluster: Resource) -> Iterator[Slip]:
    """A cluster that replaces no faulty nodes, and jobs that wait for new ones."""
    if as_str(cluster.get(_RECOVERY)) != "None":
        return
    for group in (group for one in clusters(cluster.template.model) if one.resource is cluster for group in one.groups):
        for script in scripts_for(group):
            if any(_resumes(one) for one in (script.run.commands if script.run is not None else ())):
                message = f"{script.path[-1]} asks for auto-resume, and the service replaces no faulty nodes"
                yield Slip(message, "Automatic", (_RECOVERY,), "None", dead=True, beside=((script.resource, script.path),))


def _resumes(command: Command) -> bool:
    """Whether a command starts steps that go on where a faulty node is replaced."""
    return command.name == "srun" and any(plain(word).startswith("--auto-resume=1") for word in command.arguments)


def _mistakes(group: Group, script: Script) -> Iterator[tuple[str, str]]:
    """What is wrong with a script, in words, and what is right."""
    yield from mistakes_in_script(script.text)
    yield from _arguments(group, script)
    yield from orchestrator_commands.of_group(group, script)
    for slip in (one for judge in _OF_SCRIPTS for one in judge.of_script(script)):
        yield slip.message.removeprefix("the script "), slip.allowed
    yield from () if provisioning.misnames_file_systems(group) else _mounted(group, script)
    if script.run is not None:
        yield from _mounts(group, script.run)
        yield from _losses(group, script.run) if script.entry else ()


def _mounted(group: Group, script: Script) -> Iterator[tuple[str, str]]:
    """What a script mounts otherwise than the file system takes it, or at a place that neither the service nor a script makes."""
    yield from ((slip.message.removeprefix("the script "), slip.allowed) for slip in mounted_sources.of_script(script))
    others, there = [one.text for one in script.files.values() if one.text != script.text], [*mount_paths(group)]
    for run in script.runs if None not in there else ():
        yield from mounted_sources.places_not_made(run, others, there)


def _arguments(group: Group, script: Script) -> Iterator[tuple[str, str]]:
    """An argument that nobody gives a script, which ends with the first such one."""
    programs = programs_of(group)
    name = next((one.name for one in programs.files.values() if (one.resource, one.path) == (script.resource, script.path)), "")
    starts = [one.arguments for one in programs.starts(name)]
    text = _FUNCTION.sub("", script.text)
    if not starts or not _STRICT.search(text) or _OWN_ARGUMENTS.search(text):
        return
    given = max(len(one) for one in starts if one is not None)
    taken = max((int(match[1] or match[2]) for match in _ARGUMENT.finditer(_QUOTED.sub("", text))), default=0)
    if taken > given:
        by = programs.starts(name)[0].by
        yield f"takes ${taken}, and {by} starts it with {given} arguments", f"at most ${given}" if given else "no arguments"


def _mounts(group: Group, run: Run) -> Iterator[tuple[str, str]]:
    """A mount that a script asks for, and that no node of the group has."""
    mounts = [*mount_paths(group)]
    mounted_otherwise = any(one.name in _MOUNTING or _texts(one, run)[:1] == [name] for one in run.called for name in _MOUNTING)
    written = any(as_str(run.value(word)) == FSTAB for one in run.called for word in (*one.words, *one.read))
    if len(mounts) < 2 or None in mounts or mounted_otherwise or written:
        return
    known = [one for one in mounts if one is not None]
    for one in run.called:
        *_, place = ["", *_texts(one, run)]
        place = place.rstrip("/") or place
        if one.name == "mountpoint" and place.startswith("/") and place not in mounts and not _may_have(place):
            yield (
                f"asks in line {one.line} whether {place} is mounted, which its nodes do not have{meant(place, known)}",
                listed(known),
            )


def _losses(group: Group, run: Run) -> Iterator[tuple[str, str]]:
    """What a script surely does to the node or to what all nodes share."""
    shared, here = shared_paths(group), ""
    for one in (one for one in run.called if one.alone):
        texts = _texts(one, run)
        here = texts[1] if one.name == "cd" and len(texts) == 2 else here
        for place in sorted(shared):
            if _deletes(one.name, [f"{here}/{text.removeprefix('./')}" if text in _HERE else text for text in texts], place):
                yield (
                    f"deletes in line {one.line} all that is in {place}, which all nodes share",
                    "to delete what is the node's own",
                )
        if _stops(one.name, texts):
            yield f"stops its node in line {one.line} before it has ended", "a script that ends while its node runs"


def _texts(command: Command, run: Run) -> list[str]:
    """The words of a command, empty where they are not known."""
    return [as_str(run.value(word)) or plain(word) for word in command.words]


def _deletes(name: str, texts: list[str], place: str) -> bool:
    """Whether a command deletes all that is in a folder."""
    options = [text for text in texts[1:] if text.startswith("-")]
    named = any(text.startswith(place) and text[len(place) :] in _WHOLE for text in texts[1:])
    if name == "find":
        return named and "-delete" in options and all(option in _FILTERS for option in options)
    recursive = any(option == "--recursive" or (not option.startswith("--") and {*option} & {*"rR"}) for option in options)
    return name == "rm" and named and recursive


def _stops(name: str, texts: list[str]) -> bool:
    wanted = _STOPS.get(name)
    return wanted is not None and (not wanted or any(text in wanted for text in texts[1:]))


def shared_paths(group: Group) -> set[str]:
    """Where the service mounts file systems that all nodes of a group share, as far as that is known."""
    return {path for kind in _SHARED for path in _paths_of(group, kind) if path is not None}


def mount_paths(group: Group) -> Iterator[str | None]:
    """Where the nodes of a group have file systems; `None` for a place that is not known."""
    yield _PATHS["EbsVolumeConfig"]
    for kind in _PATHS:
        yield from _paths_of(group, kind)


def _paths_of(group: Group, kind: str) -> Iterator[str | None]:
    for _, volume in group.storage(kind):
        path = at(volume, "MountPath")
        yield _PATHS[kind] if given(path) is False else as_str(path)


def _may_have(place: str) -> bool:
    return any(place == one or (one != "/" and place.startswith(f"{one}/")) for one in _OF_IMAGES)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_CLUSTER: scripts}
