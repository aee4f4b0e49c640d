"""A mistake in words: a value object raises it, and a rule finds it in a template."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, ParamSpec

Given = ParamSpec("Given")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A message and its fix; the string has both."""

    message: str
    fix: str

    def __str__(self) -> str:
        return f"{self.message}; {self.fix}"


@dataclass(frozen=True, slots=True)
class Sentence(Generic[Given]):
    """A mistake whose message depends on the case, with one fix for all cases."""

    fix: str
    message: Callable[Given, str]

    def __call__(self, *args: Given.args, **kwargs: Given.kwargs) -> Mistake:
        """The mistake in this case."""
        return Mistake(self.message(*args, **kwargs), self.fix)


def fixed_by(fix: str) -> Callable[[Callable[Given, str]], Sentence[Given]]:
    """Turn a function that writes a message into a `Sentence` with this fix."""

    def sentence(message: Callable[Given, str]) -> Sentence[Given]:
        return Sentence(fix, message)

    return sentence
