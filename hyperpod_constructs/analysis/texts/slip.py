"""A mistake in a text, with its place, what is allowed there, and what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from hyperpod_constructs.analysis.schema.violation import Path
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Value


@dataclass(frozen=True, slots=True)
class Slip:
    """A mistake in a text.

    :param path: the place of the text, from the value that is judged.
    :param message: the text and its mistake, in one sentence.
    :param allowed: the allowed texts, in words.
    :param dead: it deploys, and then has no effect or fails when it runs.
    :param doubts: other places, of which one may be the mistake instead.
    :param beside: the same in other resources.
    :param at: the resource with the text, if that is not the one that is judged.
    """

    message: str
    allowed: str
    path: Path = ()
    found: Value = ABSENT
    dead: bool = False
    doubts: tuple[Path, ...] = ()
    beside: tuple[tuple[Resource, Path], ...] = ()
    at: Resource | None = None

    def below(self, *path: str | int) -> Slip:
        """The same mistake, seen from a value around it."""
        return replace(self, path=(*path, *self.path), doubts=tuple((*path, *one) for one in self.doubts))


Slips: TypeAlias = Iterable[Slip]
Judge: TypeAlias = Callable[[Value], Slips]
"""The judge of a text."""
WholeJudge: TypeAlias = Callable[[Resource], Slips]
"""The judge of a whole resource, for what lies in several of its properties or those of others."""


def rivals(one: str, other: str, found: Value = ABSENT, *path: str | int) -> Slip:
    """Two properties that exclude each other, at the second: nobody knows which one is too many."""
    doubts = ((*path, one), (*path, other))
    return Slip(f"{one} and {other} exclude each other", "one of the two", (*path, other), found, doubts=doubts)


def entries(value: Value) -> Iterator[tuple[int, Value]]:
    """The items of a list with their places; nothing for another value."""
    return iter(enumerate(value)) if isinstance(value, tuple) else iter(())


def mapping(value: Value) -> Mapping[str, Value]:
    """A mapping; empty for another value."""
    return value if isinstance(value, Mapping) else {}
