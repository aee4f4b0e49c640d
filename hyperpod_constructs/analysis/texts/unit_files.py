"""Units of systemd that programs of nodes write: their names, sections, options and values, as systemd takes them.

Sources: https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html and
https://www.freedesktop.org/software/systemd/man/latest/systemd.syntax.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.schema.violation import listed, nearest
from hyperpod_constructs.analysis.texts.node_texts import NodeText, texts_on_nodes
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, on_nodes
from hyperpod_constructs.analysis.texts.reading import HOLE
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.analysis.texts.unit_reader import Option, Unit, UnitPlace, read_unit, unit_place
from hyperpod_constructs.analysis.texts.unit_services import mistakes_in_service, mistakes_of_limits
from hyperpod_constructs.analysis.texts.unit_timers import mistakes_in_timer
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.analysis.unit_values import mistake_in
from hyperpod_constructs.facts.systemd import SECTIONS, TARGETS, options
from hyperpod_constructs.facts.texts import Language

_OWN, _PART = "X-", ".conf"
_LINKS = (".wants", ".requires", ".upholds")
_DEPENDING = ("After", "Before", "BindsTo", "PartOf", "RequiredBy", "Requires", "Requisite", "WantedBy", "Wants")
_NEAR = 0.85
_JUDGED = "Environment"
"""An option that the judge of texts which scripts write judges there."""


def _mistakes(group: Group) -> Iterator[Mistake]:
    for text in texts_on_nodes(group):
        place = unit_place(text.place)
        if place is not None and place.kind not in {one[1:] for one in _LINKS}:
            yield from list(_in_file(group, text, place))[:1]


def _in_file(group: Group, text: NodeText, place: UnitPlace) -> Iterator[Mistake]:
    unit = read_unit(text.text)
    named = list(_names(place, unit))
    yield from (Mistake(text.by, f"writes {text.place}: {says}", allowed) for says, allowed in named)
    judged = unit if text.at != text.by else unit.without(_JUDGED)
    found = [*_sections(unit, place), *_options(judged)]
    found += [] if found or not unit.whole or text.adds else [*mistakes_in_service(group, unit, place)]
    found += [] if found or not unit.whole or text.adds else [*mistakes_in_timer(group, unit, place)]
    found += [] if found else [*mistakes_of_limits(group, unit, place)]
    yield from (Mistake(text.at, f"{says} (in {text.place})", allowed) for says, allowed in found if not named)


def _names(place: UnitPlace, unit: Unit) -> Iterator[tuple[str, str]]:
    """A name that systemd passes over; one such as `slurmd.service.unused` is meant so."""
    if not unit.sections:
        return
    if place.part and not place.part.endswith(_PART) and f"{_PART}." not in place.part:
        yield "systemd reads only files that end in .conf from a folder that adds to a unit", f"{place.part}{_PART}"
    elif not place.part and place.kind not in SECTIONS and (place.kind == place.unit or typo_of(place.kind, SECTIONS)):
        yield "systemd knows a unit by the end of its name", listed(f".{one}" for one in SECTIONS)


def _sections(unit: Unit, place: UnitPlace) -> Iterator[tuple[str, str]]:
    known = SECTIONS.get(place.kind, ())
    for name in unit.sections if known else ():
        if name not in known and not name.startswith(_OWN):
            yield f"has a section [{name}], which systemd passes over in a {place.kind}", listed(f"[{one}]" for one in known)
    for line in unit.strays:
        if HOLE not in line:
            yield f"has the line {line[:60]!r}, which is neither a section nor an option", "NAME=value"


def _options(unit: Unit) -> Iterator[tuple[str, str]]:
    for one in unit.options:
        if one.section in options():
            yield from _option(one, options()[one.section])
        elif not one.section:
            yield f"has {one.name} before any section, which systemd passes over", "the section above it"


def _option(one: Option, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    allowed = mistake_in(known[one.name], one.name, one.value) if one.name in known and not one.is_open else None
    if allowed is not None:
        yield f"has {one.name}={one.value[:60]}, which systemd refuses", allowed
    elif one.name in known:
        yield from _targets(one)
    elif not one.name.startswith(_OWN):
        yield from _unknown(one, known)


def _unknown(one: Option, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """An option that the section does not have, as it is another section's, or nearly one of its own."""
    sections = [f"[{section}]" for section, its in options().items() if one.name in its]
    near = nearest(one.name, known, _NEAR)
    if sections or near is not None:
        meant = f"in {listed(sections)}" if sections else near or ""
        yield f"has {one.name} in [{one.section}], which systemd passes over there", meant


def _targets(one: Option) -> Iterator[tuple[str, str]]:
    """A target that is nearly one that each machine has."""
    for name in one.value.split() if one.name in _DEPENDING else ():
        near = typo_of(name, TARGETS) if name.endswith(".target") and name not in TARGETS else None
        if near is not None:
            yield f"has {one.name}={name}, which no machine has", near


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = on_nodes(_mistakes)
