"""Texts behind `<<` in builds and in scripts of machines that no line ends: the commands behind them are a part of the text.

Source: https://www.gnu.org/software/bash/manual/bash.html#Here-Documents
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from hyperpod_constructs.analysis.build_commands import texts_of as commands_of_build
from hyperpod_constructs.analysis.schema.violation import nearest, quoted
from hyperpod_constructs.analysis.shell import open_document
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts, texts_of
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource

_WORD = re.compile(r"[A-Za-z_]\w*")


def build(project: Resource) -> Slips:
    """The commands of a build."""
    return (slip.below("Source", "BuildSpec") for slip in list(_slips(commands_of_build(project)))[:1])


def machine(resource: Resource) -> Slips:
    """The scripts of a machine."""
    return (slip.below(*path) for path, text in texts_of(resource) for slip in _slips([text]))


def _slips(texts: Iterable[str]) -> Slips:
    """A text without an end, where a line was surely meant to be it."""
    for text in texts:
        word = open_document(text)
        lines = [line for line in text.splitlines() if word and "<<" not in line and nearest(line.strip(), (word,)) is not None]
        if word is not None and _WORD.fullmatch(word) and lines:
            message = f"the text behind <<{word} has no end: the line {quoted(lines[-1])} is not {word}"
            yield Slip(message, f"a line with {word} alone, without spaces before it", dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(build, machine)
