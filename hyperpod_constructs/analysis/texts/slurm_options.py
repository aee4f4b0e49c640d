"""Options of Slurm's configuration files, by their tables: names, values, values that exclude each other, and folders.

Sources: https://slurm.schedmd.com/slurm.conf.html, https://slurm.schedmd.com/cgroup.conf.html and
https://slurm.schedmd.com/tres.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.mount_commands import mounts_of
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.scripts import scripts_for
from hyperpod_constructs.analysis.slurm_texts import Line, SlurmText, is_known, slurm_texts
from hyperpod_constructs.analysis.texts.node_scripts import mount_paths
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, of_slurm
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts import slurm_configuration as facts
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.values import as_str

_NUMBER, _AGE = re.compile(r"-?\d{1,12}[kmgt]?b?"), re.compile(r"\d{1,9}([A-Za-z]*)")
_LUSTRE = "/fsx"
"""Where HyperPod mounts a file system by itself."""
_OF_ALL = ("efs", "lustre", "nfs", "nfs4")
"""Types of file systems that all nodes have."""
_OF_NODE = ("/opt/dlami/nvme", "/opt/sagemaker")


def _mistakes(group: Group) -> Iterator[Mistake]:
    """The first mistake of each text."""
    for text in slurm_texts(group):
        found = next((one for judge in _JUDGES for one in judge(text)), None) or next(_shared(group, text), None)
        if found is not None:
            yield found


def _at(text: SlurmText, line: Line, says: str, allowed: str) -> Mistake:
    return Mistake(text.file, says, allowed, line.number if text.own else 0)


def _names(text: SlurmText) -> Iterator[Mistake]:
    """An option that is nearly one of the file: Slurm's daemons do not start with it."""
    known = facts.OPTIONS.get(text.kind, ())
    small = {one.lower() for one in known}
    for line in text.lines:
        for name, _ in line.pairs[:1]:
            near = typo_of(name, known) if name.lower() not in small and text.kind != facts.PLUGSTACK else None
            if near is not None:
                yield _at(text, line, f"has {name}, which {text.kind} does not have; the nearest is {near}", near)


def values_of(line: Line) -> tuple[str, ...]:
    """The values of an option behind commas, in small letters; none if a part of them is not known."""
    return tuple(one.strip().lower() for one in line.value.split(",")) if line.value and is_known(line.value) else ()


def _values(text: SlurmText) -> Iterator[Mistake]:
    choices = facts.CHOICES.get(text.kind, {})
    for line in (one for one in text.lines if one.name in choices):
        for value in values_of(line):
            if value not in choices[line.name]:
                says = f"gives {line.pairs[0][0]} the value {value}, which Slurm does not have{meant(value, choices[line.name])}"
                yield _at(text, line, says, listed(choices[line.name]))


def _near(text: SlurmText) -> Iterator[Mistake]:
    """A value that is nearly one of those that there are; Slurm passes over it, or does not start."""
    for line in (one for one in text.lines if one.name in facts.NEAR and text.kind == facts.SLURM):
        for value in values_of(line):
            name = value.partition("=")[0]
            near = typo_of(name, facts.NEAR[line.name])
            if near is not None:
                says = f"gives {line.pairs[0][0]} {name}, which Slurm does not have; the nearest is {near}"
                yield _at(text, line, says, near)


def _numbers(text: SlurmText) -> Iterator[Mistake]:
    """A value that is no number, or no age."""
    for line in (one for one in text.lines if is_known(one.value) and one.value):
        value, age = line.value.lower(), _AGE.fullmatch(line.value)
        is_number = _NUMBER.fullmatch(value) is not None or value in facts.NO_NUMBERS
        if line.name in facts.NUMBERS.get(text.kind, ()) and not is_number:
            says = f"gives {line.pairs[0][0]} the value {line.value}, which is no number"
            yield _at(text, line, says, "a number")
        is_age = age is not None and any(one.startswith(age[1].lower()) for one in facts.AGES)
        if line.name.startswith(facts.PURGES) and text.kind == facts.SLURMDBD and not is_age:
            says = f"gives {line.pairs[0][0]} the age {line.value}, which slurmdbd does not read"
            yield _at(text, line, says, f"a number and {listed(facts.AGES)}")


def _excluded(text: SlurmText) -> Iterator[Mistake]:
    """Values that Slurm does not take together."""
    for one in facts.EXCLUDED if text.kind == facts.SLURM else ():
        first, other = text.last(one.option), text.last(one.other)
        if first is None or other is None or one.value not in values_of(first):
            continue
        for value in (value for value in values_of(other) if value in one.values):
            names = [line.pairs[0][0] for line in (first, other)]
            yield _at(
                text,
                other,
                f"has {names[1]} {value}, which cannot stand beside {names[0]} {one.value}",
                f"{names[1]} without {value}",
            )


def _rivals(text: SlurmText) -> Iterator[Mistake]:
    for some in facts.RIVALS if text.kind == facts.SLURM else ():
        found = [line for name in some if (line := text.last(name)) is not None and line.value != "0"]
        if len(found) > 1:
            says = " and ".join(line.pairs[0][0] for line in found)
            yield _at(text, found[1], f"has {says}, which exclude each other", "one of them")


def _resources(text: SlurmText) -> Iterator[Mistake]:
    """Names of resources to count or to weigh: those of generic ones have their kind before them."""
    for name in ("accountingstoragetres", "priorityweighttres"):
        line = text.last(name) if text.kind == facts.SLURM else None
        for value in values_of(line) if line is not None else ():
            resource = value.partition("=")[0]
            kind, slash, _ = resource.partition("/")
            bare = kind.partition(":")[0]
            known = kind in facts.TRES_KINDS if slash else kind in facts.TRES
            if line is not None and not known:
                right = f"gres/{resource}" if bare in facts.OF_GRES else listed(facts.TRES)
                yield _at(text, line, f"gives {line.pairs[0][0]} {resource}, which is no resource that Slurm counts", right)


def _in_memory(text: SlurmText) -> Iterator[Mistake]:
    for line in (one for one in text.lines if one.name in facts.KEPT and text.kind == facts.SLURM):
        folder = next((one for one in facts.IN_MEMORY if f"{line.value}/".startswith(f"{one}/")), None)
        if folder is not None:
            says = f"has {line.pairs[0][0]} {line.value} below {folder}, which a boot empties: all jobs are lost"
            yield _at(text, line, says, "a folder on a disk")


def _shared(group: Group, text: SlurmText) -> Iterator[Mistake]:
    """A folder that each node has for itself, on a file system that all of them have."""
    runs = [one.run for one in scripts_for(group) if one.run is not None]
    mounted = [as_str(one.place) for run in runs for one in mounts_of(run) if one.kind in _OF_ALL]
    places = {one for one in (_LUSTRE, *mount_paths(group), *mounted) if one is not None and one not in _OF_NODE}
    for line in (one for one in text.lines if one.name in facts.LOCAL and text.kind == facts.SLURM):
        is_own = any(one in line.value for one in facts.OWN_NAMES) or not is_known(line.value)
        if not is_own and any(f"{line.value}/".startswith(f"{one}/") for one in places):
            says = f"has {line.pairs[0][0]} {line.value} on a file system of all nodes, which write over each other there"
            yield _at(text, line, says, "a folder on the node's own disk, or %n in the path")


_JUDGES: tuple[Callable[[SlurmText], Iterator[Mistake]], ...] = (
    _names,
    _values,
    _near,
    _numbers,
    _excluded,
    _rivals,
    _resources,
    _in_memory,
)
JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_slurm(_mistakes)
