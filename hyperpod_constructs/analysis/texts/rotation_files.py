"""Files for logrotate that programs of nodes write: logrotate reads them, and who writes a log goes on in the new file.

Sources: https://manpages.ubuntu.com/manpages/jammy/man8/logrotate.8.html and
https://slurm.schedmd.com/slurm.conf.html#SECTION_LOGGING
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.node_programs import programs_of
from hyperpod_constructs.analysis.rotation import Directive, Rotation, Section, is_known, mistake_in, read_rotation
from hyperpod_constructs.analysis.schema.violation import listed, nearest
from hyperpod_constructs.analysis.texts.node_texts import NodeText, texts_on_nodes
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, on_nodes
from hyperpod_constructs.analysis.texts.reading import HOLE
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.analysis.texts.unit_reader import read_unit, unit_place
from hyperpod_constructs.facts.logrotate import ALONE, KEPT_OPEN, PASSED_OVER, SCRIPTS, TRUNCATING, VALUED
from hyperpod_constructs.facts.texts import Language

_FOLDER, _WHOLE = "/etc/logrotate.d", "/etc/logrotate.conf"
_OF_SLURM = re.compile(r"^[ \t]*(?:Slurmctld|Slurmd)?LogFile[ \t]*=[ \t]*(/\S+)", re.MULTILINE | re.IGNORECASE)
_APPENDING = ("append:", "file:")
_HOURLY, _RUNS_OFTEN = "hourly", re.compile(r"cron\.hourly|logrotate\.timer|logrotate\.conf|\blogrotate\s+-")
_MOST_LOGS = 50


def _mistakes(group: Group) -> Iterator[Mistake]:
    texts = [one for one in texts_on_nodes(group) if one.folder == _FOLDER or one.place == _WHOLE]
    for text in texts:
        end = next((one for one in PASSED_OVER if one != ".disabled" and text.name.endswith(one)), "")
        if end and text.text:
            says = f"writes {text.place}: logrotate passes over files that end in {end}"
            yield Mistake(text.by, says, text.place.removesuffix(end))
        elif text.text and not text.adds:
            rotation = read_rotation(text.text)
            found = [*_grammar(rotation)] or [*_kept_open(group, rotation)] or [*_too_often(group, rotation)]
            yield from (Mistake(text.at, f"{says} (for {text.place})", allowed) for says, allowed in found[:1])


def _grammar(rotation: Rotation) -> Iterator[tuple[str, str]]:
    """What logrotate does not read."""
    sections = rotation.sections
    for one in (*rotation.common, *(one for section in sections for one in section.directives)):
        if HOLE not in f"{one.name}{one.value}":
            yield from _directive(one)
    if rotation.broken:
        yield f"is not read to its end: {rotation.broken}", "the end of the block"
    yield from _twice(sections)


def _twice(sections: Sequence[Section]) -> Iterator[tuple[str, str]]:
    """A file in two blocks."""
    every = [(pattern, one) for one in sections for pattern in one.patterns if HOLE not in pattern][:_MOST_LOGS]
    for place, (pattern, one) in enumerate(every):
        for other, before in every[:place]:
            alike = fnmatchcase(pattern, other) or fnmatchcase(other, pattern)
            if alike and not one.has("ignoreduplicates") and not before.has("ignoreduplicates"):
                says = f"has {pattern} in line {one.line}, which is in the block of line {before.line} too: logrotate takes it once"
                yield says, "one block for each file"
                return


def _directive(one: Directive) -> Iterator[tuple[str, str]]:
    if not is_known(one.name):
        near = nearest(one.name, (*ALONE, *VALUED, *SCRIPTS))
        says = f"has {one.name} in line {one.line}, which logrotate does not know{f'; the nearest is {near}' if near else ''}"
        yield says, near or listed(sorted((*ALONE, *VALUED)))
    elif (allowed := mistake_in(one)) is not None:
        yield f"has {one.name} {one.value} in line {one.line}, for which logrotate skips the block", allowed


def _kept_open(group: Group, rotation: Rotation) -> Iterator[tuple[str, str]]:
    """A log that a daemon has open, and writes on into after logrotate has renamed it."""
    logs = dict(_logs(group))
    for section in rotation.sections:
        if not section.has(*TRUNCATING, *SCRIPTS) and not any(one.name in TRUNCATING for one in rotation.common):
            for pattern in section.patterns:
                log = _matched(pattern, logs)
                if log is not None:
                    says = f"renames {log}, and nothing has {logs[log]} open the new file: it writes on into the old one"
                    yield says, "postrotate with a signal to the daemon, or copytruncate"


def _matched(pattern: str, logs: Mapping[str, str]) -> str | None:
    """A log of a daemon for which a pattern is."""
    known = next((one for one in logs if HOLE not in pattern and fnmatchcase(one, pattern)), None)
    return known or (pattern if pattern.rpartition("/")[2] in KEPT_OPEN and pattern in logs else None)


def _logs(group: Group) -> Iterator[tuple[str, str]]:
    """The logs of daemons, with who writes them."""
    texts = [marked(one.text)[0] or "" for one in programs_of(group).files.values()]
    texts += [one.text for one in texts_on_nodes(group)]
    paths = [path for text in texts for path in _OF_SLURM.findall(text)][:_MOST_LOGS]
    yield from ((path, path.rpartition("/")[2].removesuffix(".log")) for path in paths if path.rpartition("/")[2] in KEPT_OPEN)
    for text in texts_on_nodes(group):
        place = unit_place(text.place)
        options = read_unit(text.text).options if place is not None else ()
        for value in (one.value for one in options if one.name in ("StandardError", "StandardOutput")):
            path = next((value.removeprefix(one) for one in _APPENDING if value.startswith(one)), "")
            if path and place is not None and place.kind == "service" and not _ends(text):
                yield path, place.unit


def _ends(unit: NodeText) -> bool:
    """Whether a service ends by itself, and opens its log each time."""
    return read_unit(unit.text).last("Service", "Type") == "oneshot"


def _too_often(group: Group, rotation: Rotation) -> Iterator[tuple[str, str]]:
    """A block for each hour, where logrotate runs once a day."""
    found = next((one for section in rotation.sections for one in section.directives if one.name == _HOURLY), None)
    others = [marked(one.text)[0] or "" for one in programs_of(group).files.values()]
    if found is not None and not any(_RUNS_OFTEN.search(one) for one in others):
        yield f"has {_HOURLY} in line {found.line}, and logrotate runs once a day", "daily, or a timer that runs it each hour"


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = on_nodes(_mistakes)
