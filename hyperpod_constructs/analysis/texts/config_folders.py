"""Files that programs of nodes put into folders of configuration: their readers take them by their names, and read their lines.

Sources: https://www.freedesktop.org/software/systemd/man/latest/tmpfiles.d.html,
https://www.freedesktop.org/software/systemd/man/latest/sysctl.d.html and
https://manpages.ubuntu.com/manpages/jammy/man5/limits.conf.5.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.node_programs import programs_of
from hyperpod_constructs.analysis.placed_files import placed_files
from hyperpod_constructs.analysis.schema.violation import listed, nearest
from hyperpod_constructs.analysis.texts.node_texts import texts_on_nodes
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, on_nodes
from hyperpod_constructs.analysis.texts.reading import HOLE
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.analysis.unit_times import is_span
from hyperpod_constructs.facts.config_folders import FOLDERS, LIMITS, MEANT, OF_UBUNTU, TMPFILES
from hyperpod_constructs.facts.texts import Language

_TYPE = re.compile(r"([a-zA-Z])[-+!=~^$?]*")
_MODE, _AGE = re.compile(r"-|[~:]*[0-7]{3,5}"), re.compile(r"(?:[aAbBcCmM]+:)?~?(.*)")
_ADMITTED = ("unlimited", "infinity")


def _mistakes(group: Group) -> Iterator[Mistake]:
    folders = {**FOLDERS, **(OF_UBUNTU if group.cluster.on_eks is False else {})}
    unable = {one.place for one in placed_files(programs_of(group)) if one.runs is False}
    for text in (one for one in texts_on_nodes(group) if one.folder in folders and HOLE not in one.name):
        folder = folders[text.folder]
        if not re.fullmatch(folder.names, text.name) and not text.name.endswith(MEANT):
            yield Mistake(text.by, f"writes {text.place}, which {folder.reader} passes over by its name", folder.words)
        elif folder.starts and text.place in unable:
            yield Mistake(
                text.by, f"puts {text.place}, which {folder.reader} starts, without a bit by which it runs", "the mode 755"
            )
        elif text.folder in _READERS:
            found = (one for line in _lines(text.text) for one in _READERS[text.folder](line))
            yield from (Mistake(text.at, f"{says} (in {text.place})", allowed) for says, allowed in list(found)[:1])


def _lines(text: str) -> Iterator[str]:
    lines = (line.strip() for line in text.splitlines())
    return (line for line in lines if line and line[0] not in "#;" and HOLE not in line)


def _of_tmpfiles(line: str) -> Iterator[tuple[str, str]]:
    words = line.split()
    kind, place, mode, _, _, age = (*words, *("-",) * 6)[:6]
    found = _TYPE.fullmatch(kind)
    if found is None or found[1] not in TMPFILES:
        yield f"has {kind} as the type of {line[:60]!r}, which tmpfiles does not know", listed(TMPFILES)
    elif place and place[0] not in "/%\"'":
        yield f"has {place} in {line[:60]!r}, which is no path from the root", f"/{place}"
    elif not _MODE.fullmatch(mode) and found[1] not in "xXrR":
        yield f"has {mode} as the mode of {place}", "a mode such as 0755, or -"
    elif age not in ("-", "") and not _is_age(age):
        yield f"has {age} as the age of {place}", "a span of time such as 10d, or -"


def _is_age(text: str) -> bool:
    found = _AGE.fullmatch(text)
    return found is not None and is_span(found[1])


def _of_sysctl(line: str) -> Iterator[tuple[str, str]]:
    if "=" not in line and not line.startswith("-"):
        yield f"has {line[:60]!r}, which gives no variable a value", "name = value"


def _of_limits(line: str) -> Iterator[tuple[str, str]]:
    words = line.split("#")[0].split()
    if len(words) not in (0, 2, 4) or (len(words) == 2 and words[1] != "-"):
        yield f"has {line[:60]!r}, of which pam_limits takes nothing", "a domain, soft or hard, an item and a value"
    elif len(words) == 4 and words[1] not in ("soft", "hard", "-"):
        yield f"has {words[1]} in {line[:60]!r}", "soft, hard or -"
    elif len(words) == 4 and words[2] not in LIMITS:
        near = nearest(words[2], LIMITS)
        yield f"has {words[2]} in {line[:60]!r}, which is no limit", near or listed(LIMITS)
    elif len(words) == 4 and words[3] not in _ADMITTED and not re.fullmatch(r"-?\d+", words[3]):
        yield f"has {words[3]} as the value of {words[2]}", "a number, or unlimited"


_READERS: Mapping[str, Callable[[str], Iterator[tuple[str, str]]]] = {
    "/etc/security/limits.d": _of_limits,
    "/etc/sysctl.d": _of_sysctl,
    "/etc/tmpfiles.d": _of_tmpfiles,
}
JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = on_nodes(_mistakes)
