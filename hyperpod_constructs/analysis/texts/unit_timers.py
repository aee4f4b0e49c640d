"""Timers of systemd: whether they start their unit at all, and again.

Source: https://www.freedesktop.org/software/systemd/man/latest/systemd.timer.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.texts.node_texts import NodeText, texts_on_nodes
from hyperpod_constructs.analysis.texts.reading import HOLE
from hyperpod_constructs.analysis.texts.systemctl import names_started
from hyperpod_constructs.analysis.texts.unit_reader import Unit, UnitPlace, program_of, read_unit, unit_place
from hyperpod_constructs.facts.systemd import CALENDAR, MONOTONIC, REPEATED

_TIMER = "Timer"
_OFTEN = re.compile(
    r"\b(?:each|every)\s+(?:\w+\s+)?(?:second|minute|hour|day|night|week|month)s?\b|\b(?:hourly|daily|nightly|weekly|monthly|"
    r"periodic(?:ally)?|regularly)\b",
    re.IGNORECASE,
)
"""Words about what happens again and again."""


def mistakes_in_timer(group: Group, unit: Unit, place: UnitPlace) -> Iterator[tuple[str, str]]:
    """What is wrong with a timer, in words, and what is right."""
    if place.kind != "timer" or place.part:
        return
    given = {one.name for one in unit.options if one.section == _TIMER and one.value}
    texts = texts_on_nodes(group)
    if given.isdisjoint((*MONOTONIC, *REPEATED, *CALENDAR)):
        yield "has no time, without which systemd refuses a timer", "OnCalendar, or OnBootSec with OnUnitActiveSec"
    elif given.isdisjoint((*REPEATED, *CALENDAR)):
        said = _said(texts, unit, place)
        if said:
            yield f"starts its service once after the boot and never again, and says {said!r}", "OnUnitActiveSec, or OnCalendar"
    elif given.isdisjoint((*MONOTONIC, *CALENDAR)) and _service(unit, place) not in names_started(group):
        says = "starts its service only some time after that service ran, and nothing starts it the first time"
        yield says, "OnBootSec or OnActiveSec besides"


def _said(texts: tuple[NodeText, ...], unit: Unit, place: UnitPlace) -> str:
    """The words by which a timer, its service or the program of that say that it runs again and again; empty without such words."""
    services = [one for one in texts if unit_place(one.place) == UnitPlace(_service(unit, place))]
    commands = [one for text in services for one in read_unit(text.text).all("Service", "ExecStart")]
    programs = [one.text for one in texts for command in commands if one.place == program_of(command)[0]]
    descriptions = [read_unit(one.text).last("Unit", "Description") for one in services]
    comments = [line for text in programs for line in text.splitlines()[:10] if line.startswith("#")]
    for line in (unit.last("Unit", "Description"), *descriptions, *comments):
        found = _OFTEN.search(line[:200])
        if found is not None and HOLE not in line:
            return found[0]
    return ""


def _service(unit: Unit, place: UnitPlace) -> str:
    """The name of the unit that a timer starts."""
    return unit.last(_TIMER, "Unit") or f"{place.unit.removesuffix('.timer')}.service"
