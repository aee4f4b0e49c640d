"""Answers of several parts as one: true, false, or `None` where it is not known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Answer: TypeAlias = bool | None


def any_of(answers: Iterable[Answer]) -> Answer:
    """Whether one of some answers is yes."""
    found = set(answers)
    return True if True in found else None if None in found else False


def all_of(answers: Iterable[Answer]) -> Answer:
    """Whether all of some answers are yes."""
    found = set(answers)
    return False if False in found else None if None in found else True
