"""Blocks of `case` in scripts, for the words with which others start these: a word for which there is no part, or a failure.

Source: https://www.gnu.org/software/bash/manual/bash.html#index-case
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Arm, Case, Command, Word, plain
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.globs import matches
from hyperpod_constructs.templates.values import as_str

_ANY = "*"
_UNREAD = ("!", "+", "@")
"""What stands before brackets in patterns, which may fit anything."""
_ASKS_HELP = ("-h", "--help", "help")
_QUIET = (".", ":", "cd", "echo", "exec", "exit", "export", "printf", "readonly", "set", "shopt", "source", "trap", "true", "umask")
"""Commands that do nothing for the machine on which a script runs."""


def of_script(script: Script) -> Slips:
    """The first block that does nothing, or fails, for a word with which others start a script."""
    return list(_slips(script.runs))[:1] if script.starts else ()


def _slips(runs: tuple[Run, ...]) -> Iterator[Slip]:
    for place, case in enumerate(runs[0].cases if runs else ()):
        given = [as_str(run.value(case.word)) for run in runs]
        for run, word in zip(runs, given, strict=True):
            if word is not None and case.alone:
                yield from _of_word(run.cases[place], run, word, given)


def _of_word(case: Case, run: Run, word: str, given: list[str | None]) -> Iterator[Slip]:
    """What a block says of a word.

    :param given: the words of all who start the script; `None` for one that is not known.
    """
    fitting = next((one for one in case.arms if any(_may_fit(pattern, word, run) for pattern in one.patterns)), None)
    patterns = [text for one in case.arms for pattern in one.patterns if (text := _text(pattern, run))]
    named = [one for one in patterns if one != _ANY]
    if fitting is not None and all(plain(one) == _ANY for one in fitting.patterns) and _fails(fitting, run):
        yield _slip(f"is started with {word}, and fails for all but {listed(named)} in the block from line {case.line} on", named)
    unused = [one for one in named if one not in (*given, *_ASKS_HELP) and not {*one} & {*"*?["}]
    if fitting is None and unused and None not in given and _does_nothing_else(case, run):
        says = f"does nothing when it is started with {word}: the block from line {case.line} on has no part for it"
        yield _slip(f"{says}, and nobody starts it with {unused[0]}", named)


def _slip(says: str, named: list[str]) -> Slip:
    return Slip(f"the script {says}", listed(named), dead=True)


def _text(pattern: Word, run: Run) -> str:
    return as_str(run.value(pattern)) or ""


def _may_fit(pattern: Word, word: str, run: Run) -> bool:
    text = as_str(run.value(pattern))
    return text is None or text in _UNREAD or "[" in text or matches((text,), (word,)) is not False


def _fails(arm: Arm, run: Run) -> bool:
    """Whether a part surely ends its script as a failure."""
    ending = next((one for one in arm.sure if one.name == "exit"), None)
    code = "" if ending is None or not ending.arguments else as_str(run.value(ending.arguments[0])) or ""
    return code.isdigit() and int(code) != 0


def _does_nothing_else(case: Case, run: Run) -> bool:
    """Whether a script does all that it does in the parts of a block."""
    outside = [one for place, one in enumerate(run.commands) if place not in case.commands]
    return all(_is_quiet(one) for one in outside if not one.function)


def _is_quiet(command: Command) -> bool:
    return not command.words or command.name in _QUIET


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(None, of_script)
