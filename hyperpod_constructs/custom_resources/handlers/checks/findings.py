"""Findings of a preflight: proven mistakes, and warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ..errors import describe

_LOOK_ERROR_CHARACTERS = 240


@dataclass(frozen=True, slots=True)
class Finding:
    """A text for the user; `proven` if the deployment cannot succeed as it is."""

    text: str
    proven: bool


def error(text: str) -> Finding:
    """A proven mistake."""
    return Finding(text, True)


def warning(text: str) -> Finding:
    """Something that may go wrong, or that could not be checked."""
    return Finding(text, False)


def guarded(what: str, check: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """The findings of a check. A check that fails is a warning: a preflight never blocks because of its own faults.

    :param what: the subject, in words for the warning.
    """
    found: list[Finding] = []
    try:
        found.extend(check())
    except Exception as failure:
        found.append(warning(f"{what} not checked: {describe(failure)[:_LOOK_ERROR_CHARACTERS]}"))
    return found


def as_warnings(findings: Iterable[Finding]) -> list[Finding]:
    """The same findings, none of them proven."""
    return [replace(finding, proven=False) for finding in findings]
