"""The words of commands of a shell, and the variables in them."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

NAME, POSITION = re.compile(r"[A-Za-z_]\w*"), re.compile(r"[1-9]\d*")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")


class Variable(NamedTuple):
    """A variable in a word, or an argument by its number.

    :param plain: whether the script takes its value as it is, without another one for a variable that nobody sets.
    :param changed: whether an operator makes another text of its value.
    :param own: whether it is an argument of the function in which it stands.
    """

    name: str
    plain: bool
    changed: bool = False
    own: bool = False

    @property
    def is_argument(self) -> bool:
        """Whether it is an argument, which the caller gives."""
        return POSITION.fullmatch(self.name) is not None


Piece: TypeAlias = "str | Variable | None"
"""A part of a word; `None` for one that only the run knows."""
Word: TypeAlias = tuple[Piece, ...]


class Redirection(NamedTuple):
    """What a command reads or writes besides.

    :param operator: the characters before the place, such as `>>`.
    :param place: the word behind it, or the text behind `<<`.
    :param line: the line in which such a text begins.
    :param literal: whether it is one that the shell leaves as it is.
    :param of_output: whether it is about the output of the command, if it is written.
    """

    operator: str
    place: Word
    line: int = 0
    literal: bool = False
    of_output: bool = True

    @property
    def empties(self) -> bool:
        """Whether the shell empties a file before the command begins."""
        return self.operator in (">", ">|", "&>") or (self.operator == ">&" and not plain(self.place).isdigit())

    @property
    def writes(self) -> bool:
        """Whether the command writes into a file."""
        return self.empties or self.operator in (">>", "&>>")


class Command(NamedTuple):
    """A command.

    :param words: its name and its arguments.
    :param given: the assignments before it.
    :param guarded: whether the script goes on where it fails, by `||`.
    :param line: the line in which it ends.
    :param alone: whether it runs wherever the script comes to it: it is in no block, and no other command decides about it.
    :param last: whether the script, or a function of it, ends with it.
    :param redirected: what it takes besides, such as the places of its output and the text behind `<<`.
    :param piped: whether the next command reads its output.
    :param function: the function in which it stands; empty outside of all.
    """

    words: tuple[Word, ...]
    given: tuple[tuple[str, Word], ...] = ()
    guarded: bool = False
    line: int = 0
    alone: bool = False
    last: bool = False
    redirected: tuple[Redirection, ...] = ()
    piped: bool = False
    function: str = ""

    @property
    def name(self) -> str:
        """The name of its program without the folder; empty if it is not known."""
        return plain(self.words[0]).rpartition("/")[2] if self.words else ""

    @property
    def read(self) -> tuple[Word, ...]:
        """The words of what it takes besides."""
        return tuple(one.place for one in self.redirected)

    @property
    def files(self) -> tuple[Word, ...]:
        """The files behind `<`."""
        return tuple(one.place for one in self.redirected if one.operator == "<")

    @property
    def arguments(self) -> tuple[Word, ...]:
        """The words behind its name."""
        return self.words[1:]


class Arm(NamedTuple):
    """A part of `case`.

    :param patterns: the texts for which it is.
    :param commands: the places of its commands among those of the script.
    :param sure: the commands that run wherever the script comes to it.
    """

    patterns: tuple[Word, ...]
    commands: range
    sure: tuple[Command, ...]


class Case(NamedTuple):
    """A block of `case`.

    :param line: the line in which it begins.
    :param alone: whether it runs wherever the script comes to it.
    :param commands: the places of its commands among those of the script.
    """

    word: Word
    line: int
    alone: bool
    arms: tuple[Arm, ...]
    commands: range


def plain(word: Word) -> str:
    """The characters of a word; empty if some of them are not known."""
    if len(word) == 1:  # nearly all
        return word[0] if isinstance(word[0], str) else ""
    return "".join(str(one) for one in word) if all(isinstance(one, str) for one in word) else ""


def assigned(word: Word) -> re.Match[str] | None:
    """The begin of a word that sets a variable."""
    return _ASSIGNED.match(plain(word[:1]))
