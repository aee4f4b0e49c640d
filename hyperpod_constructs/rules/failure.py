"""Failures of the rules themselves, as findings: silence would look like a template without mistakes.

Such a finding is fatal: nobody can acknowledge it. A failed rule is named by its own id; each stage has an id of its own.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hyperpod_constructs.rules.finding import Finding, Level
from hyperpod_constructs.templates.errors import TemplateError

_LONGEST = 500
_PACKAGE = Path(__file__).resolve().parent.parent
_CALLERS = (_PACKAGE / "rules" / "checking.py", Path(__file__).resolve())
"""The callers of rules: they are on the way of every error, and explain none."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A step on the way to the findings, with the fix if it fails."""

    rule: str
    title: str
    fix: str


_REPORT_IT = (
    "this is a mistake of the library: report it with the text above; to deploy without it, "
    "switch the rules off (-c hyperpod:rules=false) and check the templates by hand"
)
LOADING = Stage("HP-RULES-001", "the templates of this synthesis cannot be read, so no rule was asked", _REPORT_IT)
CATALOGUE = Stage("HP-RULES-002", "a module of the catalogue cannot be imported, so its rules were not asked", _REPORT_IT)
CHECKING = Stage("HP-RULES-003", "the findings cannot be collected, so the rules are not heard", _REPORT_IT)
PREVIOUS = Stage(
    "HP-RULES-004",
    "the previous template cannot be compared, so a change that loses data would not be seen",
    "give hyperpod:previous-template the path of the deployed template or assembly, or leave the key out",
)
REPORTING = Stage("HP-RULES-005", "a finding cannot be put into the report", _REPORT_IT)


class UsageError(ValueError):
    """A mistake of the user: its text is a sentence for a person."""


def rule_failed(rule: str, error: BaseException) -> Finding:
    """The failure of a rule as a finding."""
    return _finding(rule, f"this rule failed, so its mistake may be in the templates: {explained(error)}", _REPORT_IT)


def stage_failed(stage: Stage, error: BaseException) -> Finding:
    """The failure of a stage as a finding."""
    return _finding(stage.rule, f"{stage.title}: {explained(error)}", stage.fix)


@contextmanager
def guarded(what: Stage | str, found: list[Finding]) -> Iterator[None]:
    """Add a finding if this fails in any way, `SystemExit` too: a rule must not end the program in silence.

    :param what: a stage, or the id of a rule.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        found.append(rule_failed(what, error) if isinstance(what, str) else stage_failed(what, error))


def explained(error: BaseException) -> str:
    """An error in one line: a user's mistake in its own words, any other with its type and the place to look at."""
    if isinstance(error, (TemplateError, UsageError)):
        return _text(error)
    return f"{type(error).__name__}: {_text(error)}{_place(error)}"


def _text(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        return "its text cannot be shown"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _place(error: BaseException) -> str:
    """The innermost line of this library behind the call of a rule, else the innermost line of any file."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE) and Path(frame.filename) not in _CALLERS]
    last = (own or [*frames])[-1:]
    return "".join(f" (at {_shown(Path(frame.filename))}:{frame.lineno}, in {frame.name})" for frame in last)


def _shown(file: Path) -> Path:
    return file.relative_to(_PACKAGE.parent) if file.is_relative_to(_PACKAGE) else file


def _finding(rule: str, message: str, fix: str) -> Finding:
    return Finding(rule=rule, level=Level.ERROR, message=message, fix=fix, fatal=True)
