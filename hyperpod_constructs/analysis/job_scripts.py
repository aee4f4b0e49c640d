"""Scripts that Slurm runs as root before and after jobs, and the folders of jobs in them.

Sources: https://slurm.schedmd.com/prolog_epilog.html and https://slurm.schedmd.com/slurm.conf.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.node_programs import programs_of
from hyperpod_constructs.analysis.scripts import Script, scripts_for
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command, Variable, Word, assigned_by
from hyperpod_constructs.analysis.slurm_texts import file_of, slurm_texts
from hyperpod_constructs.facts.slurm_configuration import SLURM
from hyperpod_constructs.templates.values import as_str

JOB = "${SLURM_JOB_ID}"
"""Stands for the number of the job in a path."""
_JOB_NAMES = ("SLURM_JOB_ID", "SLURM_JOBID")
_KINDS = ("prolog", "epilog")
_DEEPEST, _LONGEST = 4, 500
_DIRECTORY = re.compile(r"--directory|-[a-zA-Z]*d[a-zA-Z]*")
_RECURSIVE = re.compile(r"--recursive|-[a-zA-Z]*[rR][a-zA-Z]*")
_WITH_VALUE = ("-m", "-o", "-g", "-S", "--mode", "--owner", "--group")


class JobScript(NamedTuple):
    """A script for all jobs.

    :param kind: `prolog` or `epilog`.
    """

    kind: str
    script: Script
    run: Run

    def words(self, command: Command) -> list[str]:
        """The words of a command; a variable that is not known stands by its name."""
        given = dict(pair for one in self.run.called for pair in assigned_by(one))
        return [spelled_word(word, self.run, given) for word in command.words]


def job_scripts(group: Group) -> Iterator[JobScript]:
    """The scripts that `slurm.conf` names, or that have the names of those."""
    names = {
        (line.name, line.value.rpartition("/")[2])
        for text in slurm_texts(group)
        for line in text.lines
        if text.kind == SLURM and line.name in _KINDS
    }
    for script in scripts_for(group) if any(kind in one for one in programs_of(group).files for kind in _KINDS) else ():
        file = file_of(group, script).name.rpartition("/")[2]
        kind = next((kind for kind in _KINDS if (kind, file) in names or (not names and file.partition(".")[0] == kind)), "")
        if kind and script.run is not None:
            yield JobScript(kind, script, script.run)


def spelled_word(word: Word, run: Run, given: Mapping[str, Word], depth: int = 0) -> str:
    """The characters of a word, in which a variable that is not known stands by its name."""
    said = ""
    for piece in word:
        if isinstance(piece, Variable):
            known = as_str(run.values.get(piece.name, None)) if piece.name in run.values else None
            other = given.get(piece.name) if depth < _DEEPEST else None
            own = JOB if piece.name in _JOB_NAMES else f"${{{piece.name}}}"
            inside = spelled_word(other, run, given, depth + 1) if known is None and other is not None else own
            said += known if known is not None else inside
        else:
            said += "?" if piece is None else piece
    return said[:_LONGEST]


def made_folders(job: JobScript) -> Iterator[tuple[str, Command]]:
    """The folders that a script makes, with their commands."""
    for command in job.run.called:
        words = job.words(command)
        is_install = command.name == "install" and any(
            one in ("-d", "--directory") or re.fullmatch(r"-[a-zA-Z]*d[a-zA-Z]*", one) for one in words
        )
        if command.name == "mkdir" or is_install:
            yield from ((one.rstrip("/"), command) for one in _places(words[1:]))


def removed_places(job: JobScript) -> Iterator[tuple[str, Command]]:
    """What a script removes with all that is in it."""
    for command in (one for one in job.run.called if one.name == "rm"):
        words = job.words(command)
        if any(_RECURSIVE.fullmatch(one) for one in words):
            yield from ((one.rstrip("/*"), command) for one in _places(words[1:]))


def _places(words: list[str]) -> Iterator[str]:
    """The words that are paths."""
    waiting = iter(words)
    for word in waiting:
        if word in _WITH_VALUE:
            next(waiting, "")
        elif word.startswith("/"):
            yield word
