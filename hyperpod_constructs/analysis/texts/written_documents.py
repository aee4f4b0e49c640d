"""Texts that scripts write into files: a quoted one keeps the names of variables, and a unit of systemd has words that it takes.

Sources: https://www.gnu.org/software/bash/manual/bash.html#Here-Documents and
https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html#Environment=
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command, plain
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.written_texts import text_of, texts_written, whole_files
from hyperpod_constructs.facts.texts import Language

_FILLING, _EDITOR = ("envsubst", "eval", "perl", "python", "python3"), "sed"
"""Commands that may put values into any text that is written already, and one that does so in the files that it names."""
_OPENING = re.compile(r"open|Path|fileinput|subprocess|system|exec|eval")
_NAMED = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_COMMAND, _FUNCTION = (
    re.compile(r"\$\(\s*([\w-]+)[^()\n]*\)"),
    re.compile(r"^[ \t]*(?:function[ \t]+)?([\w-]+)[ \t]*\(\)", re.MULTILINE),
)
_SLURM = re.compile(r".*/(?:accounting|slurm|slurmdbd)\.conf")
"""Files in which nobody runs commands."""
_SHELL = re.compile(r"#!|.*\.(?:bash|profile|sh)$|.*/(?:bin|sbin|profile\.d)/|.*\bbashrc$")
"""Files that a shell reads itself, by their path or their begin."""
_UNIT = re.compile(r"^\[(?:Mount|Service|Socket|Timer|Unit)\]", re.MULTILINE)
_ENVIRONMENT = re.compile(r"^Environment=(.*)$", re.MULTILINE)


def of_script(script: Script) -> Slips:
    """The first mistake in the texts that a script writes."""
    return list(_slips(script, script.run))[:1] if script.run is not None else ()


def _slips(script: Script, run: Run) -> Iterator[Slip]:
    own = set(_FUNCTION.findall(script.text))
    texts = list(texts_written(run))
    for one in texts:
        if one.literal and not _is_filled(one.place, run) and not any(map(_SHELL.match, (one.place, one.text))):
            yield from _kept(one.text, run, one.line)
            yield from _not_run(one.text, own, one.line, of_slurm=_SLURM.fullmatch(one.place) is not None)
    for one in whole_files(texts):
        if _UNIT.search(one.text):
            yield from _environment(one.text, one.line)


def _is_filled(place: str, run: Run) -> bool:
    """Whether another command may change a text where it was written."""
    edited = (text_of(word, run) for one in run.commands if one.name == _EDITOR for word in one.arguments)
    return any(one.name in _FILLING and not _only_reads(one) for one in run.commands) or place in edited


def _only_reads(command: Command) -> bool:
    """Whether a command runs code of Python that stands in it and opens no file."""
    option, code = (plain(word) for word in (*command.arguments, (), ())[:2])
    return option == "-c" and bool(code) and _OPENING.search(code) is None


def _kept(written: str, run: Run, line: int) -> Iterator[Slip]:
    """Names in a text of variables that the script sets, if it sets all that are there: nobody else means others by them."""
    names = [found[1] or found[2] for found in _NAMED.finditer(written)]
    if names and run.set.issuperset(names):
        says = f"writes ${names[0]} as it stands into a file: the text from line {line} on is quoted by the word behind <<"
        yield _slip(says, "a word without quotes behind <<")


def _not_run(written: str, own: set[str], line: int, *, of_slurm: bool) -> Iterator[Slip]:
    """A command in a text for Slurm, which runs none, or a function of the script, which nobody else has."""
    found = next((one for one in _COMMAND.finditer(written) if of_slurm or one[1] in own), None)
    if found is not None:
        says = f"writes {found[0]} as it stands into a file: the text from line {line} on is quoted by the word behind <<"
        yield _slip(says, "a word without quotes behind <<")


def _environment(written: str, line: int) -> Iterator[Slip]:
    for found in _ENVIRONMENT.finditer(written):
        try:
            words = shlex.split(found[1])
        except ValueError:
            words = []
        lacking = next((word for word in words if "=" not in word), None)
        if lacking is not None:
            says = f"writes a unit in line {line} whose {found[0].strip()!r} has a word without a name, behind a space"
            yield _slip(says, 'Environment="NAME=words"')
            return


def _slip(says: str, allowed: str) -> Slip:
    return Slip(f"the script {says}", allowed, dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(None, of_script)
