"""Failures of scripts that nobody sees: without `errexit`, in functions without `errtrace`, and behind the last attempt of several.

Sources: https://www.gnu.org/software/bash/manual/bash.html#The-Set-Builtin and
https://www.gnu.org/software/bash/manual/bash.html#index-trap
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell import SHELLS, Run
from hyperpod_constructs.analysis.shell_words import Command, plain
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language

_FIRST_LINE = re.compile(r"#!.*\s-[a-z]*e")
_FLAGS = re.compile(r"[-+][A-Za-z]+")
_HARMLESS = (
    *(".", ":", "[", "[[", "break", "continue", "date", "declare", "echo", "eval", "exit", "export", "false", "for", "hostname"),
    *(
        "local",
        "logger",
        "printf",
        "read",
        "readonly",
        "return",
        "set",
        "shift",
        "sleep",
        "source",
        "test",
        "trap",
        "true",
        "unset",
    ),
)
"""Commands whose failure is no step that failed."""
_PYTHONS, _FILES = ("python", "python3"), re.compile(r"[\w./-]+\.(?:sh|bash|py)")
_DECIDING = re.compile(r"^\s*(?:if|elif|while|until|!)\s|&&|\|\|")
"""A line in which a command decides about another one."""
_ASKS = re.compile(r"^(?!\s*trap\b).*(?:\$\{?\?|PIPESTATUS|\bwait\b)|^\s*trap\b.*\bexit\b", re.MULTILINE)
"""Ways of a script to see that a command failed."""
_FUNCTION = re.compile(r"^([ \t]*)(?:function[ \t]+)?([\w-]+)[ \t]*(?:\(\))?[ \t]*\{[ \t]*\n", re.MULTILINE)
_LOOP, _LOOP_END = re.compile(r"(?:^|[;\s])(?:for|until|while)\s"), re.compile(r"(?:^|[;\s])done\b")
_WELL, _BADLY = re.compile(r"\breturn(?:\s+0)?\s*(?:;|$|\})"), re.compile(r"\b(?:return\s+[1-9$\"]|exit|false|die|fail)\b")
_ON_PURPOSE = re.compile(r"anyway|without|continu|go(?:es|ing)? on|ignor|optional|best|later|skip", re.IGNORECASE)
"""Words of a script that goes on without what it tried."""
_MOST_LINES = 60


def of_script(script: Script) -> Slips:
    """The first way in which failures of a script are hidden."""
    run = script.run
    return list(_slips(script, run))[:1] if run is not None else ()


def _slips(script: Script, run: Run) -> Iterator[Slip]:
    if script.entry and not _is_set(script, run, "e", "errexit"):
        yield from _passed_over(script, run)
    if _is_set(script, run, "e", "errexit") and not _is_set(script, run, "E", "errtrace"):
        yield from _without_trap(script, run)
    yield from _after_attempts(script.text)


def _is_set(script: Script, run: Run, letter: str, name: str) -> bool:
    """Whether a script sets an option of its shell anywhere."""
    if letter == "e" and _FIRST_LINE.match(script.text):
        return True
    for one in (one for one in run.commands if one.name == "set"):
        texts = [plain(word) for word in one.arguments]
        flags = [text for text in texts if _FLAGS.fullmatch(text) and text.startswith("-")]
        if name in texts or any(letter in text for text in flags) or "" in texts:
            return True
    return False


def _passed_over(script: Script, run: Run) -> Iterator[Slip]:
    """Steps whose failure a script passes over, to end as if all were well."""
    outside = [one for one in run.commands if not one.function]
    steps = [one for one in run.called if one.alone and not one.guarded and _is_step(one)]
    last = outside[-1] if outside else None
    ends_well = last is not None and last.name in ("echo", "exit", "printf", "true") and last not in steps
    if len(steps) > 1 and ends_well and not _ASKS.search(script.text):
        says = f"goes on when the step in line {steps[0].line} fails, and ends well: nothing sets errexit or asks for the failure"
        yield _slip(says, "set -e")


def _is_step(command: Command) -> bool:
    """Whether a command starts another file."""
    starts = command.name in (*SHELLS, *_PYTHONS) and any(_FILES.fullmatch(plain(word)) for word in command.arguments)
    return starts or bool(command.words and _FILES.fullmatch(plain(command.words[0])))


def _without_trap(script: Script, run: Run) -> Iterator[Slip]:
    """A function in which a command may fail, after which the shell ends without the trap for that."""
    traps = [one for one in run.commands if one.name == "trap" and any(plain(word) == "ERR" for word in one.arguments)]
    if not traps or any(one.function for one in traps) or plain(traps[0].arguments[0]) in ("", "-"):
        return
    lines = script.text.split("\n")
    failing = {one.function for one in run.commands if _may_fail(one) and not _DECIDING.search(lines[one.line - 1])} - {""}
    for one in (one for one in run.commands if one.alone and not one.guarded and one.line > traps[0].line):
        if one.name in failing:
            says = f"sets a trap for ERR in line {traps[0].line}, which functions do not inherit"
            yield _slip(f"{says}: a failure in {one.name} ends it without", "set -E")
            return


def _may_fail(command: Command) -> bool:
    """Whether the failure of a command ends its script."""
    return bool(command.words) and not command.guarded and not command.piped and command.name not in _HARMLESS


def _after_attempts(text: str) -> Iterator[Slip]:
    """A function that returns 0 from a loop of attempts, and behind it as well."""
    for found in _FUNCTION.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        lines = text[found.end() :].split("\n", _MOST_LINES)[:_MOST_LINES]
        end = next((place for place, one in enumerate(lines) if one.rstrip() == f"{found[1]}}}"), None)
        if end is not None and _gives_up_well(lines[:end]):
            yield _slip(
                f"has the function {found[2]} from line {line} on, which returns 0 when its last attempt has failed", "return 1"
            )
            return


def _gives_up_well(lines: Sequence[str]) -> bool:
    """Whether the lines of a function return 0 from a loop with a pause, and behind it."""
    depth, inside, behind = 0, list[str](), list[str]()
    for line in lines:
        code = line.split(" #")[0]
        depth += len(_LOOP.findall(code))
        (inside if depth else behind if inside else []).append(code)
        depth = max(depth - len(_LOOP_END.findall(code)), 0)
    text = "\n".join(behind)
    tried = any(_WELL.search(one) for one in inside) and any(re.search(r"\bsleep\b", one) for one in inside)
    last = next((one.strip() for one in reversed(behind) if one.strip()), "")
    return tried and last == "return 0" and not _BADLY.search(text) and not _ON_PURPOSE.search("\n".join(lines))


def _slip(says: str, allowed: str) -> Slip:
    return Slip(f"the script {says}", allowed, dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(None, of_script)
