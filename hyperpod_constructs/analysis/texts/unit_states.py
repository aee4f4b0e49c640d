"""Units of systemd that programs of nodes write: somebody starts them, now and at each boot, by their names.

A unit that nobody of the template writes comes from the image or a package, and is believed.

Sources: https://www.freedesktop.org/software/systemd/man/latest/systemctl.html and
https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.node_programs import NodeFile, programs_of
from hyperpod_constructs.analysis.texts.node_texts import texts_on_nodes
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, on_nodes
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.analysis.texts.systemctl import Control, controls
from hyperpod_constructs.analysis.texts.unit_reader import Unit, kind_is_known, read_unit, unit_place
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.orchestrator_programs import UNITS
from hyperpod_constructs.facts.texts import Language

_ASKING = ("disable", "enable", "reenable", "reload", "reload-or-restart", "restart", "start", "stop", "try-restart")
_BY_OTHERS = ("timer", "path", "socket")
"""Kinds of units that start the service of the same name."""
_PULLING = ("Also", "BindsTo", "OnFailure", "OnSuccess", "PropagatesReloadTo", "Requires", "Sockets", "Unit", "Upholds", "Wants")
_INSTALLING = ("Alias", "RequiredBy", "UpheldBy", "WantedBy")
_LATER = re.compile(r"\b(?:reboot|shutdown|init 6|kexec)\b")
_LINES = 4000
_OF_ORCHESTRATORS = tuple(f"{name}.service" for names in UNITS.values() for name in names)


class _Own(NamedTuple):
    """A unit that a program writes.

    :param file: the file with its text.
    """

    name: str
    unit: Unit
    file: NodeFile

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def is_installed(self) -> bool:
        """Whether it says what starts it at boot."""
        return any(
            one.section == "Install" and one.name in ("WantedBy", "RequiredBy", "UpheldBy", "Alias") for one in self.unit.options
        )


def _mistakes(group: Group) -> Iterator[Mistake]:
    said, own = controls(group), _own_units(group)
    yield from (mistake for one in said for mistake in _misnamed(one, own))
    lines = _lines(group) if own else []
    for unit in own.values():
        if unit.unit.whole and "@" not in unit.name and not _is_pulled(unit, own):
            yield from list(_never(unit, said, lines))[:1]


def _own_units(group: Group) -> Mapping[str, _Own]:
    """The units that programs write as a whole, by their names."""
    texts = [one for one in texts_on_nodes(group) if (place := unit_place(one.place)) is not None and not place.part]
    return {one.name: _Own(one.name, read_unit(one.text), one.at) for one in texts if not one.adds and kind_is_known(one.name)}


def _lines(group: Group) -> list[str]:
    """The lines of all that is uploaded, in which a unit may be named otherwise than by a command that is read."""
    texts = [marked(one.text)[0] or "" for one in programs_of(group).files.values()]
    return [line for text in texts for line in text.splitlines()][:_LINES]


def _misnamed(one: Control, own: Mapping[str, _Own]) -> Iterator[Mistake]:
    """A unit that is nearly one of those which programs write, or which Slurm or Kubernetes have, and that nobody writes."""
    known = dict.fromkeys((*own, *_OF_ORCHESTRATORS))
    for name in one.units if one.verb in _ASKING else ():
        if name is None or name in known or "@" in name:
            continue
        same = [other for other in own if other.rpartition(".")[0] == name.rpartition(".")[0]]
        near = typo_of(name, known) or (same[0] if name.endswith(_BY_OTHERS) and same else None)
        if near is not None:
            yield Mistake(one.by, f"has systemctl {one.verb} {name}, which nobody writes; the nearest is {near}", near)


def _is_pulled(unit: _Own, own: Mapping[str, _Own]) -> bool:
    """Whether another unit starts this one."""
    if unit.name.endswith(".service") and any(f"{unit.stem}.{kind}" in own for kind in _BY_OTHERS):
        return True
    options = [option for other in own.values() if other is not unit for option in other.unit.options]
    return any(option.name in _PULLING and unit.name in option.value.split() for option in options)


def _never(unit: _Own, said: tuple[Control, ...], lines: list[str]) -> Iterator[Mistake]:
    """What nobody does with a unit, where its commands are known."""
    started = [one for one in said if one.starts and unit.name in one.units]
    enabled = [one for one in said if one.enables and unit.name in one.units]
    may_start = started or _may(said, lines, unit, starting=True)
    may_enable = enabled or _may(said, lines, unit, starting=False)
    kind = unit.name.rpartition(".")[2]
    if enabled and not unit.is_installed and kind in ("service", *_BY_OTHERS):
        says = f"has systemctl enable {unit.name}, whose text has no [Install] with WantedBy: it does not start at boot"
        yield Mistake(enabled[0].by, says, "WantedBy=multi-user.target in [Install]", others=(unit.file,))
    elif started and not may_enable and (unit.is_installed or _runs_on(unit)):
        says = f"starts {unit.name} and does not enable it: it is lost at the next boot, as these programs run once"
        yield Mistake(started[0].by, says, f"systemctl enable {unit.name}", others=(unit.file,))
    elif enabled and not may_start and kind in ("service", *_BY_OTHERS):
        says = f"enables {unit.name} and does not start it: it waits for the next boot"
        yield Mistake(enabled[0].by, says, f"systemctl enable --now {unit.name}", others=(unit.file,))
    elif unit.is_installed and not may_enable and not may_start:
        says = f"writes {unit.name}, which nobody enables or starts"
        yield Mistake(unit.file, says, f"systemctl enable --now {unit.name}")


def _runs_on(unit: _Own) -> bool:
    """Whether a unit without a place among those of a boot is there to run on."""
    return not unit.name.endswith(".service") or unit.unit.last("Service", "Type") != "oneshot"


def _may(said: tuple[Control, ...], lines: list[str], unit: _Own, *, starting: bool) -> bool:
    """Whether something else than a command that is read may start or enable a unit."""
    unknown = any(None in one.units and (one.starts if starting else one.enables) for one in said)
    words = ("start", "--now", "isolate") if starting else ("enable", "preset", "wants", "requires", "Wants", "Requires")
    named = re.compile(rf"(?<![\w-]){re.escape(unit.stem)}(?![\w-])")
    if starting and any(_LATER.search(line) for line in lines):
        return True
    return unknown or any(any(word in line for word in words) and named.search(line) is not None for line in lines)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = on_nodes(_mistakes)
