"""Uploaded files that something starts or reads in a folder of the node, and that nobody puts there beside the others.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm-base-config.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.node_programs import NodeFile, programs_of
from hyperpod_constructs.analysis.placed_files import COPYING, placed_by
from hyperpod_constructs.analysis.scripts import scripts_for
from hyperpod_constructs.analysis.texts.node_texts import texts_on_nodes
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, on_nodes
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.analysis.written_texts import HOLE, text_of
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.values import as_str

_MAKING = ("ansible-playbook", "aws", "curl", "git", "ln", "rsync", "scp", "tar", "unzip", "wget")
"""Programs that may make any file in a folder that they name."""
_READING = (".", "bash", "sh", "source")
_WHOLE = re.compile(r"-[a-zA-Z]*[raR][a-zA-Z]*|--recursive|--archive")
_LEADING = 4
"""Words among which the program of a command is, behind those that start it."""
_MOST_LINES = 4000
_NEEDS = re.compile(
    r"^\s*(?:(?:[\w@*/,-]+\s+){6}|(?:source|\.|bash|sh|python3?)\s+|(?:Exec\w+|\w*Prolog\w*|\w*Epilog\w*|\w*Program)\s*=\s*[-@:+!]*)?"
    r"[\"']?(/[\w./-]+)"
)
"""A line that needs a file: of cron, of a shell, of a unit of systemd, of Slurm."""
_OF_PACKAGES = ("/usr/", "/etc/", "/bin/", "/sbin/", "/tmp/")
"""Folders whose files may be those of packages."""


class _Ran(NamedTuple):
    """A command.

    :param words: with a question mark for each part that is not known.
    :param by: the file with it.
    """

    words: tuple[str, ...]
    by: NodeFile

    @property
    def places(self) -> tuple[str, ...]:
        """Where it puts files."""
        names = [one.rpartition("/")[2] for one in self.words[:_LEADING]]
        begin = next((place for place, name in enumerate(names) if name in COPYING), len(self.words))
        return tuple(one.place for one in placed_by(self.words[begin:])) if begin < len(self.words) else ()


def _mistakes(group: Group) -> Iterator[Mistake]:
    files, commands = programs_of(group).files, list(_commands(group))
    there = {place for one in commands for place in one.places} | {one.place for one in texts_on_nodes(group)}
    folders = {place.rpartition("/")[0]: one.by for one in commands for place in one.places}
    uploaded = {name.rpartition("/")[2] for name in files}
    for file, path in _needed(files.values()):
        folder, _, name = path.rpartition("/")
        is_ours = name in uploaded and folder in folders and not path.startswith(_OF_PACKAGES)
        if is_ours and path not in there and not _may_be_made(path, commands, files):
            says = f"puts files into {folder} and not {name}, which {file.name} needs there"
            yield Mistake(folders[folder], says, f"a command that puts {name} into {folder}", others=(file,))


def _commands(group: Group) -> Iterator[_Ran]:
    files = programs_of(group).files
    own = {(one.resource, one.path): one for one in files.values()}
    for script in scripts_for(group):
        run = script.run
        for command in run.called if run is not None else ():
            words = (*command.words, *(one.place for one in command.redirected if one.writes))
            if run is not None:
                yield _Ran(tuple(text_of(word, run) for word in words), own[script.resource, script.path])
    for one in programs_of(group).ran:
        yield _Ran(tuple(as_str(word) or HOLE for word in one.words), files[one.by])


def _needed(files: Iterable[NodeFile]) -> Iterator[tuple[NodeFile, str]]:
    """The paths that lines of files need, each with the file."""
    for file in files:
        text = marked(file.text)[0] or ""
        for line in text.splitlines()[:_MOST_LINES]:
            found = _NEEDS.match(line) if "/" in line and len(line) < 500 else None
            if found is not None and "||" not in line:
                yield file, found[1]


def _may_be_made(path: str, commands: Sequence[_Ran], files: Mapping[str, NodeFile]) -> bool:
    """Whether something may make a file otherwise than by its known name."""
    folder = path.rpartition("/")[0]
    if any(folder in (marked(one.text)[0] or "") for one in files.values() if one.name.endswith(".py")):
        return True
    return any(_makes(one, folder, path) for one in commands)


def _makes(one: _Ran, folder: str, path: str) -> bool:
    names = [word.rpartition("/")[2] for word in one.words[:_LEADING]]
    if not {*_MAKING}.isdisjoint(names):
        to = [word for word in one.words if not word.startswith("-")][-1:] if "aws" in names else one.words[1:]
        return any(_may_be(word, path) or _holds(word, folder) for word in to)
    if not {*COPYING}.isdisjoint(names):
        is_whole = any(_WHOLE.fullmatch(word) for word in one.words)
        named = [place for place in one.places if place.strip(HOLE) or path.rpartition("/")[2] in one.words]
        return any(_may_be(place, path) for place in named) or (is_whole and any(_holds(word, folder) for word in one.words))
    return path in one.words[1:] and names[0] not in _READING


def _holds(word: str, folder: str) -> bool:
    """Whether a word may be a folder, or one around it."""
    return word.startswith(("/", HOLE)) and (_may_be(word.rstrip("/"), folder) or folder.startswith(f"{word.rstrip('/')}/"))


def _may_be(word: str, text: str) -> bool:
    """Whether a word is a text for some values of its parts that are not known."""
    first, *parts = word.replace("*", HOLE).split(HOLE)
    if not parts:
        return word == text
    place, end = len(first), len(text) - len(parts[-1])
    for part in parts[:-1]:
        place = text.find(part, place, end) + len(part) if part in text[place:end] else end + 1
    return text.startswith(first) and text.endswith(parts[-1]) and place <= end


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = on_nodes(_mistakes)
