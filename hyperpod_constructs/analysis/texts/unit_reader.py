"""Units of systemd in texts: their sections, options and commands.

>>> [(one.section, one.name, one.value) for one in read_unit("[Service]\\nExecStart=/bin/a \\\\\\n  -b\\n# no\\n").options]
[('Service', 'ExecStart', '/bin/a    -b')]

Source: https://www.freedesktop.org/software/systemd/man/latest/systemd.syntax.html (as of 2026-12-01)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.texts.reading import HOLE
from hyperpod_constructs.facts.systemd import SECTIONS

FOLDERS = ("/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system", "/run/systemd/system")
_PLACE = re.compile(rf"({'|'.join(FOLDERS)})/(?:([^/]+)\.d/)?([^/]+)")
_SECTION = re.compile(r"\[([^\]]*)\]")
_PREFIXES = "@-:+!|"
"""Characters before the path of a command that change how it starts."""


class Option(NamedTuple):
    """A line with a value.

    :param section: empty before the first section.
    """

    section: str
    name: str
    value: str

    @property
    def is_open(self) -> bool:
        """Whether a part of the value is not known."""
        return HOLE in self.value


class Unit(NamedTuple):
    """The text of a unit, or of a part that adds to one.

    :param sections: the names of its sections.
    :param whole: whether all of its lines are known.
    :param strays: lines that are neither sections nor options.
    """

    options: tuple[Option, ...]
    sections: tuple[str, ...]
    whole: bool
    strays: tuple[str, ...] = ()

    def without(self, name: str) -> Unit:
        """The same without an option."""
        return self._replace(options=tuple(one for one in self.options if one.name != name))

    def all(self, section: str, name: str) -> tuple[str, ...]:
        """The values of an option; an empty one takes those before it away."""
        found: list[str] = []
        for one in self.options:
            if (one.section, one.name) == (section, name):
                found = [*found, one.value] if one.value else []
        return tuple(found)

    def last(self, section: str, name: str) -> str:
        """The value of an option that counts; empty if there is none."""
        return (self.all(section, name) or ("",))[-1]


class UnitPlace(NamedTuple):
    """What a path among the folders of units says.

    :param unit: the name of the unit.
    :param part: the name of the file that adds to it; empty for the unit itself.
    """

    unit: str
    part: str = ""

    @property
    def kind(self) -> str:
        """The end of the name of the unit, such as `service`."""
        return self.unit.rpartition(".")[2]


def unit_place(path: str) -> UnitPlace | None:
    """The unit of a path; `None` for one that is elsewhere."""
    found = _PLACE.fullmatch(path)
    if found is None:
        return None
    return UnitPlace(found[2], found[3]) if found[2] else UnitPlace(found[3])


def read_unit(text: str) -> Unit:
    """The unit in a text."""
    options, sections, strays, section = list[Option](), list[str](), list[str](), ""
    whole = bool(text)
    for line in _lines(text):
        found = _SECTION.fullmatch(line)
        name, equals, value = line.partition("=")
        if HOLE in (line if found else name) or (not equals and line == HOLE):
            whole = False
        elif found is not None:
            section = found[1]
            sections.append(section)
        elif equals:
            options.append(Option(section, name.strip(), value.strip()))
        else:
            strays.append(line)
    return Unit(tuple(options), tuple(sections), whole, tuple(strays))


def _lines(text: str) -> Iterator[str]:
    """The lines without comments, and with those behind a backslash."""
    begun = ""
    for line in text.splitlines():
        if line.lstrip().startswith(("#", ";")):
            continue
        if line.endswith("\\"):
            begun += f"{line[:-1]} "
        else:
            whole, begun = f"{begun}{line}".strip(), ""
            if whole:
                yield whole
    if begun.strip():
        yield begun.strip()


def program_of(command: str) -> tuple[str, tuple[str, ...]]:
    """The program of a command without what changes how it starts, and the words behind it."""
    first, *words = [*command.split(), ""]
    return first.lstrip(_PREFIXES), tuple(words[:-1] if words else ())


def kind_is_known(name: str) -> bool:
    """Whether a name ends as a unit."""
    return name.rpartition(".")[2] in SECTIONS
