"""The words of commands of a shell, and the variables in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

NAME, POSITION = re.compile(r"[A-Za-z_]\w*"), re.compile(r"[1-9]\d*")
ALL_ARGUMENTS = ("@", "*")
"""The names of variables that stand for all arguments."""
SETTING = ("declare", "export", "local", "mapfile", "read", "readarray", "readonly", "typeset", "unset")
"""Commands that set variables which they name."""
PREFIXES: Mapping[str, tuple[tuple[str, ...], int]] = {
    "command": (("-V", "-v"), 0),
    "env": (("-C", "-S", "-u"), 0),
    "exec": (("-a",), 0),
    "ionice": (("-P", "-c", "-n", "-p", "-u"), 0),
    "nice": (("-n",), 0),
    "nohup": ((), 0),
    "setsid": ((), 0),
    "stdbuf": (("-e", "-i", "-o"), 0),
    "sudo": (("-C", "-D", "-g", "-h", "-p", "-R", "-T", "-U", "-u"), 0),
    "timeout": (("-k", "-s"), 1),
}
"""Programs that start the command behind them: their options with a value, and how many words stand between.

Sources: https://www.gnu.org/software/coreutils/manual/html_node/Modified-command-invocation.html,
https://manpages.debian.org/bookworm/util-linux/ionice.1.en.html and https://www.sudo.ws/docs/man/sudo.man/ (as of 2026-12-01)
"""
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
    :param steady: whether it does so wherever its function is called.
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
    steady: bool = False
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


def assigned_by(command: Command) -> tuple[tuple[str, Word], ...]:
    """The variables that a command sets for those behind it, with their words."""
    exported = [(found[1], word) for word in command.arguments if command.name in SETTING and (found := assigned(word)) is not None]
    given = (*command.given, *((name, (plain(word[:1])[len(name) + 1 :], *word[1:])) for name, word in exported))
    return given if not command.words or exported else ()


def drop_options(words: list[Word], prefix: str) -> None:
    """Take what belongs to a program away from the words of the command that it starts."""
    valued, between = PREFIXES[prefix]
    while words and plain(words[0]).startswith("-"):
        one = plain(words.pop(0))
        if one in valued and words:
            words.pop(0)
    del words[:between]


def unwrapped(words: Sequence[Word]) -> tuple[Word, ...]:
    """The words of a command without the programs before it that start it."""
    found = list(words)
    while found and plain(found[0]) in PREFIXES:
        drop_options(found, plain(found.pop(0)))
    return tuple(found)
