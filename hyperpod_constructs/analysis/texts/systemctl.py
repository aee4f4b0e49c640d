"""Commands of `systemctl` in scripts of nodes: what they do with which units.

Source: https://www.freedesktop.org/software/systemd/man/latest/systemctl.html (as of 2026-12-01)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.node_programs import NodeFile, programs_of
from hyperpod_constructs.analysis.scripts import scripts_for
from hyperpod_constructs.analysis.texts.unit_reader import kind_is_known
from hyperpod_constructs.templates.values import Value, as_str

STARTING = ("start", "restart", "reload-or-restart", "try-restart", "isolate")
ENABLING = ("enable", "reenable", "preset", "add-wants", "add-requires")
_PROGRAM = "systemctl"
_VALUED = ("-H", "-M", "-n", "-o", "-p", "-s", "-t", "--host", "--job-mode", "--lines", "--output", "--root", "--type", "--what")
"""Options with a value in the next word."""


class Control(NamedTuple):
    """A command of `systemctl`.

    :param units: the full names of the units; `None` for one that is not known.
    :param now: whether it starts what it enables.
    :param by: the file with the command.
    """

    verb: str
    units: tuple[str | None, ...]
    now: bool
    by: NodeFile

    @property
    def starts(self) -> bool:
        """Whether it starts its units."""
        return self.verb in STARTING or (self.verb in ENABLING and self.now)

    @property
    def enables(self) -> bool:
        """Whether it has its units start at boot."""
        return self.verb in ENABLING


def controls(group: Group) -> tuple[Control, ...]:
    """The commands of `systemctl` in the programs of a group; computed once."""
    key = (controls, group.resource, group.path)
    return group.resource.template.model.cached(key, lambda: tuple(_controls(group)))


def names_started(group: Group) -> frozenset[str]:
    """The names of units that programs start."""
    return frozenset(name for one in controls(group) if one.starts for name in one.units if name is not None)


def _controls(group: Group) -> Iterator[Control]:
    programs = programs_of(group)
    own = {(one.resource, one.path): one for one in programs.files.values()}
    read = set[str]()
    for script in scripts_for(group):
        file, run = own[script.resource, script.path], script.run
        if run is not None:
            read.add(file.name)
            for command in run.commands:
                yield from _control([run.value(word) for word in command.words], file)
    for one in programs.ran:
        yield from _control(one.words, programs.files[one.by]) if one.by not in read else ()


def _control(words: Sequence[Value], by: NodeFile) -> Iterator[Control]:
    texts = [as_str(word) for word in words]
    begin = next((place for place, one in enumerate(texts, 1) if one is not None and one.rpartition("/")[2] == _PROGRAM), None)
    names, now, waiting = list[str | None](), False, texts[begin:] if begin is not None else []
    while waiting:
        word = waiting.pop(0)
        now = now or word == "--now"
        if word in _VALUED and waiting:
            waiting.pop(0)
        elif word is None or not word.startswith("-"):
            names.append(word)
    if names and names[0] is not None:
        yield Control(names[0], tuple(full_name(one) for one in names[1:]), now, by)


def full_name(name: str | None) -> str | None:
    """The name of a unit with its end; `None` for a pattern, or a name that is not known."""
    if name is None or not name or "*" in name or "$" in name:
        return None
    last = name.rpartition("/")[2]
    return last if kind_is_known(last) else f"{last}.service"
