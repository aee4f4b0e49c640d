"""Files for cron that programs of nodes write into `/etc/cron.d`: cron takes them, and finds and starts the commands in them.

Sources: https://manpages.ubuntu.com/manpages/jammy/man8/cron.8.html and
https://manpages.ubuntu.com/manpages/jammy/man5/crontab.5.html
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.cron_lines import cut_at_percent, misread_time
from hyperpod_constructs.analysis.node_programs import NodeFile, programs_of
from hyperpod_constructs.analysis.placed_files import Placed, placed_files
from hyperpod_constructs.analysis.texts.node_texts import texts_on_nodes
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, on_nodes
from hyperpod_constructs.analysis.texts.reading import HOLE
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.facts.texts import Language

_FOLDER = "/etc/cron.d/"
_TAKEN = re.compile(r"[A-Za-z0-9_-]+")
_VARIABLE = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(.*?)\s*")
_FIELD = r"[\dA-Za-z*,/-]+"
_LINE = re.compile(rf"\s*(?P<time>@[a-z]+|{_FIELD}(?:[ \t]+{_FIELD}){{4}})[ \t]+(?P<user>\S+)(?:[ \t]+(?P<command>.*))?")
"""The time of a command, and the words behind it: the user and the command."""
_PATH = "/usr/bin:/bin"
_PROGRAMS = (
    "aws",
    "bash",
    "cd",
    "curl",
    "echo",
    "env",
    "find",
    "flock",
    "nice",
    "python",
    "python3",
    "sh",
    "sleep",
    "sudo",
    "timeout",
)
"""Programs that are no users."""


class _Cron(NamedTuple):
    """A file for cron.

    :param by: the file whose command puts it there.
    :param at: the file with its text.
    :param text: empty if it is not known.
    """

    name: str
    by: NodeFile
    at: NodeFile
    text: str


def _mistakes(group: Group) -> Iterator[Mistake]:
    """The mistakes in files of a cluster with Slurm, whose nodes have the cron of Ubuntu."""
    placed = placed_files(programs_of(group)) if group.cluster.on_eks is False else ()
    for cron in _files(group) if group.cluster.on_eks is False else ():
        if not _TAKEN.fullmatch(cron.name):
            says = f"writes {_FOLDER}{cron.name}: cron passes over files with other characters in their names"
            yield Mistake(cron.by, says, "a name of letters, digits, hyphens and underscores")
        yield from list(_lines(cron, group, placed))[:1]


def _files(group: Group) -> Iterator[_Cron]:
    """The texts in the folder; one may be the end of a file from elsewhere."""
    texts = [one for one in texts_on_nodes(group) if f"{one.folder}/" == _FOLDER]
    named = Counter(one.place for one in texts)
    for one in texts:
        begin = f"{HOLE}\n" if one.adds and named[one.place] > 1 else ""
        yield _Cron(one.place.removeprefix(_FOLDER), one.by, one.at, f"{begin}{one.text}")


def _lines(cron: _Cron, group: Group, placed: Sequence[Placed]) -> Iterator[Mistake]:
    path = _PATH
    for line in cron.text.splitlines():
        variable, found = _VARIABLE.fullmatch(line), _LINE.fullmatch(line)
        if line.startswith(HOLE):
            path = HOLE
        elif variable is not None:
            path = variable[2].strip("\"'") if variable[1] == "PATH" else path
        elif found is not None and HOLE not in found["user"]:
            yield from _time(cron, found["time"])
            own = {one.name for one in placed if _is_program(one)}
            if _is_no_user(found["user"], own) or not found["command"]:
                yield Mistake(cron.at, f"has no user before the command in {line.strip()!r}", "a user before the command")
            else:
                yield from _torn(cron, found["command"])
                yield from _command(cron, group, found["command"].split()[0], path, placed)


def _time(cron: _Cron, time: str) -> Iterator[Mistake]:
    """A time that cron refuses, with the whole file."""
    wrong = misread_time(time)
    if wrong is not None:
        text, field, allowed = wrong
        yield Mistake(cron.at, f"has {text} as the {field} of {time!r}, with which cron refuses the file", allowed)


def _torn(cron: _Cron, command: str) -> Iterator[Mistake]:
    """A command that a percent sign ends in its middle."""
    before = cut_at_percent(command)
    if before is not None:
        says = f"has a percent sign without a backslash, at which cron ends the command: it starts {before!r}"
        yield Mistake(cron.at, says, "\\% in the place of %")


def _is_no_user(word: str, own: set[str]) -> bool:
    return "/" in word or word in _PROGRAMS or word in own


def _is_program(placed: Placed) -> bool:
    """Whether a file is in a folder of programs."""
    return placed.place.rpartition("/")[0].endswith("bin")


def _command(cron: _Cron, group: Group, command: str, path: str, placed: Sequence[Placed]) -> Iterator[Mistake]:
    """A command that cron does not find, or cannot start."""
    folders = [one.rstrip("/") for one in path.split(":")]
    same = [one for one in placed if command == one.place or (command == one.name and _is_program(one))]
    found = [one for one in same if command == one.place or one.place.rpartition("/")[0] in folders]
    if same and not found and "$" not in path and HOLE not in path:
        allowed = f"{same[0].place}, or a line with PATH"
        yield Mistake(cron.at, f"has cron look for {command} in {path}, and {same[0].by} puts it at {same[0].place}", allowed)
    elif found and all(one.runs is False for one in found):
        by = programs_of(group).files[found[0].by]
        yield Mistake(by, f"puts {found[0].place}, which cron starts, without a bit by which it runs", "the mode 755")


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = on_nodes(_mistakes)
