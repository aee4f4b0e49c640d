"""The words of commands of a shell, and the variables in them."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

NAME = re.compile(r"[A-Za-z_]\w*")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")


class Variable(NamedTuple):
    """A variable in a word.

    :param plain: whether the script takes its value as it is, without another one for a variable that nobody sets.
    """

    name: str
    plain: bool


Piece: TypeAlias = "str | Variable | None"
"""A part of a word; `None` for one that only the run knows."""
Word: TypeAlias = tuple[Piece, ...]


class Command(NamedTuple):
    """A command.

    :param words: its name and its arguments.
    :param given: the assignments before it.
    :param read: what it takes besides, such as the places of its output and the text behind `<<`.
    :param guarded: whether the script goes on where it fails, by `||`.
    :param line: the line in which it ends.
    :param alone: whether it runs wherever the script comes to it: it is in no block, and no other command decides about it.
    :param last: whether the script, or a function of it, ends with it.
    :param literal: whether it is a text behind `<<` that the shell leaves as it is.
    :param files: among what it takes besides, the files behind `<`.
    """

    words: tuple[Word, ...]
    given: tuple[tuple[str, Word], ...] = ()
    read: tuple[Word, ...] = ()
    guarded: bool = False
    line: int = 0
    alone: bool = False
    last: bool = False
    literal: bool = False
    files: tuple[Word, ...] = ()

    @property
    def name(self) -> str:
        """The name of its program without the folder; empty if it is not known."""
        return plain(self.words[0]).rpartition("/")[2] if self.words else ""

    @property
    def arguments(self) -> tuple[Word, ...]:
        """The words behind its name."""
        return self.words[1:]


def plain(word: Word) -> str:
    """The characters of a word; empty if some of them are not known."""
    return "".join(str(one) for one in word) if all(isinstance(one, str) for one in word) else ""


def assigned(word: Word) -> re.Match[str] | None:
    """The begin of a word that sets a variable."""
    return _ASSIGNED.match(plain(word[:1]))
