"""Images of containers that batch scripts name, and that no program of the nodes puts into the folder of the others.

Source: https://github.com/NVIDIA/pyxis
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from hyperpod_constructs.analysis.batch_scripts import read_batch
from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.node_programs import NodeFile, programs_of
from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.scripts import Script, scripts_for
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command, Variable, assigned_by
from hyperpod_constructs.analysis.slurm_texts import file_of, spelled_file
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, of_slurm
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.analysis.written_texts import HOLE, text_of
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import resource_of
from hyperpod_constructs.templates.values import UNKNOWN, as_str

_OPTION, _END = "--container-image", ".sqsh"
_READING = ("", "-e", "-f", "-r", "-s", "[", "[[", "chmod", "chown", "echo", "ls", "rm", "test")
"""Commands, and operators of tests, that make no file."""
_PARAMETER = "AWS::SSM::Parameter"


def _mistakes(group: Group) -> Iterator[Mistake]:
    scripts = list(scripts_for(group))
    jobs = [one for one in scripts if read_batch(one.text) is not None]
    made = {path for one in scripts if one not in jobs for path in _made(one)} if jobs else set()
    for job in jobs:
        for path, line in _asked(job):
            folder, _, name = path.rpartition("/")
            beside = sorted(one for one in made if one.rpartition("/")[0] == folder)
            if beside and not any(_fits(path, one) for one in beside) and not _is_named(group, name, file_of(group, job)):
                says = f"runs {path} in line {line}, and programs of the nodes put {listed(beside)} there"
                yield Mistake(file_of(group, job), says, listed(beside))


def _asked(job: Script) -> Iterator[tuple[str, int]]:
    """The images of a job that are files, with the lines of their steps."""
    run = job.run
    for command in run.called if run is not None else ():
        words = [text_of(word, run) for word in command.words] if run is not None else []
        for word, behind in pairwise((*words, "")):
            name, equals, value = word.partition("=")
            path = (value if equals else behind) if name == _OPTION else ""
            if path.startswith("/") and path.endswith(_END) and HOLE not in path:
                yield path, command.line


def _made(script: Script) -> Iterator[str]:
    """The images that a script puts somewhere, with a question mark for each part that is not known."""
    run, known = script.run, _from_parameters(script)
    for command in run.called if run is not None else ():
        if command.name not in _READING and run is not None:
            some = [text_of(word, run) for word in command.arguments]
            yield from (_filled(one, known) for one in some if one.startswith(("/", HOLE)) and one.endswith(_END))


def _filled(path: str, known: str | None) -> str:
    return path.replace(HOLE, known) if known is not None and path.count(HOLE) == 1 else path


def _from_parameters(script: Script) -> str | None:
    """The value of a parameter of the templates that is all which a script does not know of its images."""
    run = script.run
    reading = [one for one in run.called if _is_reading(one, run)] if run is not None else []
    unknown = _unknown(run) if run is not None else set()
    if run is None or len(unknown) != 1 or len(reading) != 1:
        return None
    taken = re.compile(rf"\b{next(iter(unknown))}=[\"']?\$\(aws ssm get-parameter")
    values = [run.value(word) for word in reading[0].arguments] if taken.search(script.text) else []
    parameter = next((found for value in values if (found := resource_of(value, _PARAMETER)) is not None), None)
    return as_str(parameter.get("Value")) if parameter is not None else None


def _is_reading(command: Command, run: Run) -> bool:
    return [text_of(word, run) for word in command.words[:3]] == ["aws", "ssm", "get-parameter"]


def _unknown(run: Run) -> set[str]:
    """The variables that are not known in words with the names of images."""
    words = [word for one in run.called for word in (*one.words, *(value for _, value in assigned_by(one)))]
    named = [word for word in words if any(isinstance(piece, str) and _END in piece for piece in word)]
    return {piece.name for word in named for piece in word if isinstance(piece, Variable) and run.value((piece,)) is UNKNOWN}


def _fits(path: str, made: str) -> bool:
    """Whether a path may be one of which parts are not known."""
    return re.fullmatch(".*".join(map(re.escape, made.split(HOLE))), path) is not None if made.count(HOLE) < 4 else True


def _is_named(group: Group, name: str, job: NodeFile) -> bool:
    """Whether another file names an image."""
    return any(name in (spelled_file(one) or name) for one in programs_of(group).files.values() if one is not job)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_slurm(_mistakes)
