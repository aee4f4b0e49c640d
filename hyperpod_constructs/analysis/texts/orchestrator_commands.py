"""Commands in scripts of nodes for the other orchestrator: Slurm's on nodes of Kubernetes, the kubelet's on nodes of Slurm.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm.html (as of 2026-12-01)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.node_programs import programs_of
from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell_words import Command, plain
from hyperpod_constructs.facts.orchestrator_programs import KUBERNETES, PROGRAMS, SLURM, STARTING, UNITS, WORDS
from hyperpod_constructs.templates.values import parts_of

_MANAGING = ("service", "systemctl")
_FLEXIBLE = ("kubernetes", "orchestrator", "eks", "slurm")
"""Words in files that may decide which orchestrator a node has."""
_ASKING = ("command", "hash", "if", "install", "test", "type", "which")
"""Words of lines that ask whether a program is there, or bring it."""
_COMMENT, _WORD = re.compile(r"(?:^|\s)#.*"), re.compile(r"[a-z0-9]+")


def of_group(group: Group, script: Script) -> Iterator[tuple[str, str]]:
    """The first command for an orchestrator that the nodes of a group do not have, in words, and what is right."""
    on_eks = group.cluster.on_eks
    if on_eks is None or script.run is None:
        return
    other, own = (SLURM, KUBERNETES) if on_eks else (KUBERNETES, SLURM)
    surely = (one for one in script.run.called if one.alone and not one.guarded)
    found = next(((one, what) for one in surely if (what := _wanted(one, other)) is not None), None)
    if found is not None and not _may_be_there(group, script, found[0], other):
        yield f"calls {found[1]} of {other} in line {found[0].line}, which nodes of {own} do not have", f"programs of {own}"


def _wanted(command: Command, orchestrator: str) -> str | None:
    """The program or unit of an orchestrator that a command surely needs."""
    if command.name in PROGRAMS[orchestrator]:
        return command.name
    words = [plain(word) for word in command.arguments]
    verbs = [one for one in words if one in STARTING]
    units = [one.removesuffix(".service") for one in words]
    return next((one for one in units if one in UNITS[orchestrator]), None) if command.name in _MANAGING and verbs else None


def _may_be_there(group: Group, script: Script, found: Command, orchestrator: str) -> bool:
    """Whether scripts of the group may bring the programs, or ask which orchestrator a node has."""
    names = {*PROGRAMS[orchestrator], *UNITS[orchestrator]}
    for file in programs_of(group).files.values():
        text = "".join(part if isinstance(part, str) else "?" for part in parts_of(file.text)).lower()
        is_same = (file.resource, file.path) == (script.resource, script.path)
        for number, line in enumerate(text.splitlines(), 1):
            code = _COMMENT.sub("", line)
            words = {*_WORD.findall(code)}
            named, asks = not words.isdisjoint(names), not words.isdisjoint(_ASKING)
            if named and asks:
                return True
            if is_same and (number == found.line or (named and words.isdisjoint(_FLEXIBLE))):
                continue
            if any(word in code for word in WORDS[orchestrator]) or not words.isdisjoint(_FLEXIBLE):
                return True
    return False
