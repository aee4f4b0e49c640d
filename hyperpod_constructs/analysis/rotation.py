"""Files for logrotate: their sections, the directives of these, and what logrotate refuses.

>>> [(one.patterns, [two.name for two in one.directives]) for one in read_rotation("/var/log/a.log {\\n  weekly\\n}\\n").sections]
[(('/var/log/a.log',), ['weekly'])]

Source: https://manpages.ubuntu.com/manpages/jammy/man8/logrotate.8.html (as of 2026-12-01)
"""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

from hyperpod_constructs.facts.logrotate import ALONE, SCRIPT_END, SCRIPTS, VALUED

_LONGEST = 1 << 15
_WORD = re.compile(r"([a-zA-Z]+)(?:[ \t]*=[ \t]*|[ \t]+|$)(.*)")
_SIZE, _COUNT, _MODE = re.compile(r"\d+[kKMG]?"), re.compile(r"\d+"), re.compile(r"0?[0-7]{3,4}")
_ALLOWED = {
    "COUNT": "a whole number",
    "SIZE": "bytes, or a number with k, M or G, as 500M",
    "OWNER": "a mode, a user and a group, as 0640 root adm",
    "WEEKDAY": "0 to 7",
}


class Directive(NamedTuple):
    """A directive.

    :param script: the lines behind it, up to `endscript`.
    """

    name: str
    value: str
    line: int
    script: tuple[str, ...] = ()


class Section(NamedTuple):
    """What is done with some files.

    :param patterns: the paths of the files.
    """

    patterns: tuple[str, ...]
    directives: tuple[Directive, ...]
    line: int

    def has(self, *names: str) -> bool:
        """Whether it has one of some directives."""
        return any(one.name in names for one in self.directives)


class Rotation(NamedTuple):
    """A file for logrotate.

    :param common: the directives before the first section.
    :param broken: what is open at its end, in words; empty if nothing is.
    """

    common: tuple[Directive, ...]
    sections: tuple[Section, ...]
    broken: str = ""


def read_rotation(text: str) -> Rotation:
    """The sections in a text."""
    reader = _Reader(text[:_LONGEST])
    reader.read()
    return Rotation(tuple(reader.common), tuple(reader.sections), reader.broken)


class _Reader:
    def __init__(self, text: str) -> None:
        self._lines = list(enumerate(text.splitlines(), 1))
        self.common: list[Directive] = []
        self.sections: list[Section] = []
        self.broken = ""
        self._patterns: list[str] = []
        self._inside: list[Directive] | None = None
        self._begin = 0

    def read(self) -> None:
        """Read all lines."""
        while self._lines:
            number, raw = self._lines.pop(0)
            line = raw.strip()
            if line and not line.startswith("#"):
                self._read(number, line)
        if self._inside is not None:
            self.broken = self.broken or f"the block in line {self._begin} has no end"

    def _read(self, number: int, line: str) -> None:
        if self._inside is not None and line[0] in '/"~':
            self.broken = self.broken or f"the block in line {self._begin} has no end"
            self._close()
        if self._inside is None and (line[0] in "/\"'~" or line == "{" or line.endswith("{")):
            before, brace, behind = line.partition("{")
            self._patterns += _words(before)
            if brace:
                self._inside, self._begin = [], number
                self._close_at(number, behind.strip())
        elif self._inside is not None and line.startswith("}"):
            self._close()
        else:
            self._directive(number, line)

    def _close_at(self, number: int, rest: str) -> None:
        """What stands in the line in which a block begins."""
        if rest.endswith("}"):
            if rest[:-1].strip():
                self._directive(number, rest[:-1].strip())
            self._close()
        elif rest:
            self._directive(number, rest)

    def _close(self) -> None:
        self.sections.append(Section(tuple(self._patterns), tuple(self._inside or ()), self._begin))
        self._patterns, self._inside = [], None

    def _directive(self, number: int, line: str) -> None:
        found = _WORD.fullmatch(line)
        name, value = (found[1], found[2].strip()) if found is not None else (line.split()[0], "")
        script = self._script(number) if name in SCRIPTS else ()
        (self.common if self._inside is None else self._inside).append(Directive(name, value, number, script))

    def _script(self, begin: int) -> tuple[str, ...]:
        found: list[str] = []
        while self._lines:
            _, line = self._lines.pop(0)
            if line.strip() == SCRIPT_END:
                return tuple(found)
            found.append(line.strip())
        self.broken = f"the script in line {begin} has no {SCRIPT_END}"
        return tuple(found)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def mistake_in(one: Directive) -> str | None:
    """What is allowed in the place of the value of a known directive; `None` for one that logrotate takes."""
    kind, words = VALUED.get(one.name, ""), one.value.split()
    if one.name in ALONE and one.value:
        return f"{one.name} alone"
    taken = {
        "COUNT": _COUNT.fullmatch(one.value) is not None or (one.name, one.value) == ("rotate", "-1"),
        "SIZE": _SIZE.fullmatch(one.value) is not None,
        "OWNER": len(words) <= 3 and (not words or not words[0][0].isdigit() or _MODE.fullmatch(words[0]) is not None),
        "WEEKDAY": one.value in ("", *"01234567"),
    }
    return None if taken.get(kind, True) else _ALLOWED[kind]


def is_known(name: str) -> bool:
    """Whether logrotate has a directive."""
    return name in ALONE or name in VALUED or name in SCRIPTS
