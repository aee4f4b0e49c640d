"""Commands that read the file into which they write: the shell empties it before they begin.

Source: https://www.gnu.org/software/bash/manual/bash.html#Redirections
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hyperpod_constructs.analysis.build_commands import build_of
from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command, Word
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.written_texts import teed
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_str

_READING = ("base64", "cat", "cut", "expand", "fold", "head", "nl", "paste", "rev", "sort", "tac", "tail", "uniq", "unexpand")
_FILTERING = ("awk", "egrep", "fgrep", "gawk", "grep", "jq", "sed", "yq")
"""Commands that read all files in their words, and others whose first word is what they do with them."""
_DEVICES = ("/dev/", "/proc/", "/sys/")
"""Files that nobody empties."""


def build(project: Resource) -> Slips:
    """The first such command of a build."""
    run = build_of(project)
    for slip in list(_slips(run) if run is not None else ())[:1]:
        yield slip.below("Source", "BuildSpec")


def of_script(script: Script) -> Slips:
    """The first such command of a script elsewhere."""
    return list(_slips(script.run))[:1] if script.run is not None else ()


def _slips(run: Run) -> Iterator[Slip]:
    for commands in _pipelines(run.commands):
        read = [one for command in commands for one in _read(command)]
        written = [one for command in commands for one in _emptied(command)]
        same = next((one for one in written for other in read if _is_file(one, run) and _are_same(one, other, run)), None)
        if same is not None:
            place = as_str(run.value(same)) or "a file"
            says = f"the script reads {place} in line {commands[-1].line} and writes into it: the shell empties it before"
            yield Slip(says, "another file, which then takes its place", dead=True)


def _pipelines(commands: Sequence[Command]) -> Iterator[list[Command]]:
    """The commands of which each reads the output of that before it."""
    found: list[Command] = []
    for one in commands:
        found.append(one)
        if not one.piped:
            yield found
            found = []
    if found:
        yield found


def _read(command: Command) -> Iterator[Word]:
    yield from (one.place for one in command.redirected if one.operator == "<")
    named = [one for one in command.arguments if not str((*one, "")[0]).startswith("-")]
    yield from named if command.name in _READING else named[1:] if command.name in _FILTERING else ()


def _emptied(command: Command) -> Iterator[Word]:
    yield from (one.place for one in command.redirected if one.empties)
    yield from (word for word, adds in teed(command) if not adds)


def _is_file(word: Word, run: Run) -> bool:
    known = as_str(run.value(word))
    return known is None or (known != "" and not known.startswith(_DEVICES))


def _are_same(one: Word, other: Word, run: Run) -> bool:
    known = as_str(run.value(one))
    return known == as_str(run.value(other)) if known is not None else one == other and None not in one


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(build, of_script)
