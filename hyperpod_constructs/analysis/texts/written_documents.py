"""Texts that scripts write into files: a quoted one keeps the names of variables, and a unit of systemd has words that it takes.

Sources: https://www.gnu.org/software/bash/manual/bash.html#Here-Documents and
https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html#Environment=
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command, Word
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.values import parts_of

_WRITING = ("cat", "tee")
_FILLING, _EDITOR = ("envsubst", "eval", "perl", "python", "python3"), "sed"
"""Commands that may put values into any text that is written already, and one that does so in the files that it names."""
_NAMED = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_SHELL = re.compile(r"#!|.*\.(?:bash|profile|sh)$|.*/(?:bin|sbin|profile\.d)/|.*\bbashrc$")
"""Files that a shell reads itself, by their path or their begin."""
_UNIT = re.compile(r"^\[(?:Mount|Service|Socket|Timer|Unit)\]", re.MULTILINE)
_ENVIRONMENT = re.compile(r"^Environment=(.*)$", re.MULTILINE)
_UNKNOWN = "?"


def of_script(script: Script) -> Slips:
    """The first mistake in the texts that a script writes."""
    return list(_slips(script.run))[:1] if script.run is not None else ()


def _slips(run: Run) -> Iterator[Slip]:
    for writing, text in _documents(run):
        written = _known(text.read[0], run)
        places = [_known(word, run) for word in (*writing.read, *writing.arguments)]
        if text.literal and not _is_filled(places, run) and not any(map(_SHELL.match, (*places, written))):
            yield from _kept(written, run, text.line)
        if _UNIT.search(written):
            yield from _environment(written, text.line)


def _documents(run: Run) -> Iterator[tuple[Command, Command]]:
    """The commands that write a text into a file, each with the text."""
    for writing, text in itertools.pairwise(run.commands):
        if writing.name in _WRITING and not text.words and text.read:
            yield writing, text


def _known(word: Word, run: Run) -> str:
    return "".join(part if isinstance(part, str) else _UNKNOWN for part in parts_of(run.value(word)))


def _is_filled(places: Sequence[str], run: Run) -> bool:
    """Whether another command may change a text where it was written."""
    edited = (_known(word, run) for one in run.commands if one.name == _EDITOR for word in one.arguments)
    return any(one.name in _FILLING for one in run.commands) or any(one in places for one in edited)


def _kept(written: str, run: Run, line: int) -> Iterator[Slip]:
    """Names in a text of variables that the script sets, if it sets all that are there: nobody else means others by them."""
    names = [found[1] or found[2] for found in _NAMED.finditer(written)]
    if names and run.set.issuperset(names):
        says = f"writes ${names[0]} as it stands into a file: the text from line {line} on is quoted by the word behind <<"
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
