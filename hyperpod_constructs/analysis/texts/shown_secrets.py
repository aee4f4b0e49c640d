"""Secrets that scripts show: the trace of a shell writes each value that it takes into the log.

Sources: https://www.gnu.org/software/bash/manual/bash.html#The-Set-Builtin and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm.html
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command, plain
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language

_SECRET = ("secretsmanager", "get-secret-value")
_PARAMETERS = ("get-parameter", "get-parameters", "get-parameters-by-path")
_TRACED = re.compile(r"#!.*\s-[a-z]*x")
_TRACE, _ELSEWHERE = "xtrace", ("BASH_XTRACEFD",)


def of_script(script: Script) -> Slips:
    """The first secret that the trace of a script shows."""
    return list(_slips(script, script.run))[:1] if script.run is not None else ()


def _slips(script: Script, run: Run) -> Iterator[Slip]:
    if any(one in script.text for one in _ELSEWHERE):
        return
    traced = _TRACED.match(script.text) is not None
    for one, following in itertools.pairwise(run.commands):
        traced = _turned(one, traced=traced)
        if traced and _reads_secret(one) and _keeps(following, one):
            says = f"the script reads a secret in line {following.line} while set -x writes all that it does into its log"
            yield Slip(says, "set +x before the secret", dead=True)


def _turned(command: Command, *, traced: bool) -> bool:
    """Whether the shell traces behind a command."""
    texts = [plain(word) for word in command.arguments] if command.name == "set" else []
    for place, text in enumerate(texts):
        named = text in ("-o", "+o") or (text[:1] in ("-", "+") and text.endswith("o"))
        is_trace = (text[:1] in ("-", "+") and "x" in text) or (named and texts[place + 1 : place + 2] == [_TRACE])
        traced = text.startswith("-") if is_trace else traced
    return traced


def _reads_secret(command: Command) -> bool:
    """Whether a command of the CLI gives a secret."""
    texts = [plain(word) for word in command.arguments] if command.name == "aws" else []
    is_parameter = texts[:1] == ["ssm"] and texts[1:2] and texts[1] in _PARAMETERS and "--with-decryption" in texts
    return tuple(texts[:2]) == _SECRET or bool(is_parameter)


def _keeps(command: Command, reading: Command) -> bool:
    """Whether a command takes the output of the one in it for a variable."""
    is_kept = any(None in word for _, word in command.given) or command.name in ("declare", "export", "local", "readonly")
    return is_kept and not reading.piped and not reading.alone and not any(one.writes for one in reading.redirected)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(None, of_script)
