"""The owners and the modes that the commands of scripts give files and folders.

A command that runs under a condition counts as one that runs.

Sources: https://www.gnu.org/software/coreutils/manual/html_node/install-invocation.html,
https://www.gnu.org/software/coreutils/manual/html_node/mkdir-invocation.html and
https://www.gnu.org/software/coreutils/manual/html_node/Symbolic-Modes.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.placed_files import options_of, placed_by
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command, Piece, Variable, Word
from hyperpod_constructs.analysis.written_texts import HOLE, teed, text_of

ROOT = "root"
_OCTAL = re.compile(r"0*[0-7]{3,4}")
_CLAUSE = re.compile(r"([ugoa]*)([-+=])([rwxXst]*)")
_BITS: Mapping[str, int] = {"r": 0o4, "w": 0o2, "x": 0o1, "X": 0o1}
_SHIFTS: Mapping[str, int] = {"u": 6, "g": 3, "o": 0}
_CHANGING = ("chgrp", "chmod", "chown", "setfacl")
_OTHER_USER = re.compile(r"\bsudo\b[^|;&]*\s(?:-u|--user)\b|\brunuser\b")
_OPEN = re.compile(r"\$\{\w+\}|[?*]")
"""A variable whose value is not known, or another such part."""
_RECURSIVE = re.compile(r"--recursive|-[a-zA-Z]*R[a-zA-Z]*")


class Kept(NamedTuple):
    """A file or a folder as the last command leaves it.

    :param mode: its bits; `None` if they are not known.
    :param owner: the user; `None` if it is not known.
    :param line: the line of the command that makes it.
    """

    mode: int | None
    owner: str | None
    group: str | None
    line: int

    @property
    def is_for_all(self) -> bool:
        """Whether users may make files in it, or if that is not known."""
        is_of_group = self.mode is not None and bool(self.mode & 0o020) and self.group != ROOT
        return self.mode is None or self.owner != ROOT or is_of_group or bool(self.mode & 0o002)


def kept_by(run: Run, text: str) -> Mapping[str, Kept]:
    """What a script makes, by whole paths, in which variables that are not known stand as they are written.

    :param text: its lines.
    """
    return _Keeper(run, text.split("\n")).found


def _spelled(word: Word, run: Run) -> str:
    """A word with its known parts, and with the names of variables that are not known."""
    return "".join(_of_piece(one, run) for one in word)


def _of_piece(piece: Piece, run: Run) -> str:
    text = text_of((piece,), run)
    is_open = isinstance(piece, Variable) and not piece.changed and not piece.is_argument and text == HOLE
    return f"${{{piece.name}}}" if isinstance(piece, Variable) and is_open else text


class _Keeper:
    """Follows the commands of a script in their order."""

    def __init__(self, run: Run, lines: Sequence[str]) -> None:
        self._run, self._mask = run, 0o022 if "umask" not in {one.name for one in run.commands if not one.alone} else None
        self._lines = lines
        self.found: dict[str, Kept] = {}
        for command in run.called:
            self._take(command)

    def _take(self, command: Command) -> None:
        words = [_spelled(word, self._run) for word in command.words]
        name = command.name if not _OTHER_USER.search(self._lines[command.line - 1]) else ""
        if name == "umask" and len(words) == 2 and self._mask is not None:
            self._mask = int(words[1], 8) if re.fullmatch(r"[0-7]{1,4}", words[1]) else None
        elif name in ("install", "mkdir"):
            self._make(name, words[1:], command.line)
        elif name in _CHANGING:
            self._change(name, words[1:])
        elif name in ("cp", "mv"):
            self._copy(name, words)
        elif name == "touch":
            self._touch(words[1:], command.line)
        written = (*(one.place for one in command.redirected if one.writes), *(word for word, _ in teed(command)))
        self._touch([_spelled(word, self._run) for word in written], command.line)

    def _masked(self, mode: int) -> int | None:
        return None if self._mask is None else mode & ~self._mask

    def _touch(self, paths: Sequence[str], line: int) -> None:
        """Files that a command makes, unless they are there."""
        for path in paths:
            if path.startswith("/") and not path.startswith(("/dev/", "/proc/", "/sys/")) and HOLE not in path:
                self.found.setdefault(path, Kept(self._masked(0o666), ROOT, ROOT, line))

    def _make(self, name: str, words: Sequence[str], line: int) -> None:
        paths, options = options_of(words)
        if name == "install" and "d" not in options:
            paths = [one.place for one in placed_by(["install", *words])]
        default = self._masked(0o777) if name == "mkdir" else 0o755
        mode = mode_of(options["m"], 0o777) if "m" in options else default
        owner, group = options.get("o", ROOT), options.get("g", ROOT)
        for path in paths:
            self._lose(path)
            if HOLE not in path and not (name == "mkdir" and path in self.found):
                known = None if HOLE in owner else owner
                self.found[path.rstrip("/") or path] = Kept(mode, known, None if HOLE in group else group, line)

    def _copy(self, name: str, words: Sequence[str]) -> None:
        """A file takes the place of another one."""
        for one in placed_by(words):
            before = self.found.pop(one.source, None) if name == "mv" else None
            self.found.pop(one.place, None)
            self.found |= {} if before is None else {one.place: before}

    def _change(self, name: str, words: Sequence[str]) -> None:
        """Another mode or owner of some paths, and of all below if a command says so."""
        options = [word for word in words if word.startswith("-") and not _CLAUSE.fullmatch(word)]
        first, *paths = [*(word for word in words if word not in options), ""]
        below = any(_RECURSIVE.fullmatch(option) for option in options)
        for path in paths[:-1]:
            self._lose(path)
            place = path.rstrip("/")
            for one in [one for one in self.found if one == place or (below and one.startswith(f"{place}/"))]:
                self.found[one] = _changed(self.found[one], name, first if not options or below else HOLE)

    def _lose(self, path: str) -> None:
        """What is known of all other paths that a path which is not known may be."""
        begin, *others = _OPEN.split(path)
        end = others[-1] if others else ""
        for one in [one for one in self.found if others and one != path and one.startswith(begin) and one.endswith(end)]:
            self.found[one] = self.found[one]._replace(mode=None, owner=None, group=None)


def _changed(kept: Kept, name: str, first: str) -> Kept:
    if name == "chmod":
        return kept._replace(mode=mode_of(first, kept.mode))
    if name == "setfacl":
        return kept._replace(mode=None)
    user, colon, group = first.partition(":")
    user, group = ("", first) if name == "chgrp" else (user, group if colon else "")
    return kept._replace(owner=_name(user, kept.owner), group=_name(group, kept.group))


def _name(written: str, before: str | None) -> str | None:
    return before if written == "" else None if HOLE in written else "root" if written == "0" else written


def mode_of(text: str, before: int | None) -> int | None:
    """The bits that a text of `chmod` gives a file with others; `None` if they are not known."""
    if _OCTAL.fullmatch(text):
        return int(text, 8)
    mode = before
    for clause in text.split(","):
        found = _CLAUSE.fullmatch(clause)
        mode = None if found is None or mode is None else _with_clause(mode, *found.groups())
    return mode


def _with_clause(mode: int, who: str, operator: str, what: str) -> int:
    users = _SHIFTS if "a" in who or not who else who
    for shift in (_SHIFTS[one] for one in users):
        bits = sum({_BITS[one] for one in what if one in _BITS}) << shift
        mode = mode & ~(0o7 << shift) | bits if operator == "=" else mode | bits if operator == "+" else mode & ~bits
    sticky = 0o1000 if "t" in what else 0
    return mode & ~sticky if operator == "-" else mode | sticky
