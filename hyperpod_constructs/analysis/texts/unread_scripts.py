"""Builds and scripts that a shell does not read to their end, as a quote, a block or a text behind `<<` is open, or that fail.

Sources: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html and
https://www.gnu.org/software/bash/manual/bash.html#Here-Documents
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.build_commands import texts_of as commands_of_build
from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.shell import mistakes_in_script, open_end
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource


def build(project: Resource) -> Slips:
    """The first command of a build that no shell reads."""
    found = [says for text in commands_of_build(project) for says in open_end(text)]
    for says, allowed in found[:1]:
        yield Slip(f"a command of the build {says}", allowed, ("Source", "BuildSpec"), dead=True)


def of_script(script: Script) -> Slips:
    """A script elsewhere."""
    return (Slip(f"the script {says}", allowed, dead=True) for says, allowed in mistakes_in_script(script.text))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(build, of_script)
