"""Folders below /run that programs of nodes make once, and that others need after the next boot, which empties it.

Sources: https://www.freedesktop.org/software/systemd/man/latest/file-hierarchy.html and
https://www.freedesktop.org/software/systemd/man/latest/tmpfiles.d.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.node_programs import NodeFile, programs_of
from hyperpod_constructs.analysis.scripts import scripts_for
from hyperpod_constructs.analysis.shell import Run, is_shell
from hyperpod_constructs.analysis.texts.node_texts import texts_on_nodes
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, on_nodes
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.analysis.written_texts import HOLE, text_of
from hyperpod_constructs.facts.texts import Language

_EMPTIED = re.compile(r"(?:/var)?/run/([\w.-]+)(?:/.*)?")
_MAKING, _SHARING = ("mkdir", "install"), ("chmod", "chown", "chgrp")
_SHARED = re.compile(r"-[a-zA-Z]*[mog].*|--(?:mode|owner|group)\b.*")
"""Options by which a folder is for others than its maker."""
_LASTING = ("/etc/", "/opt/", "/usr/", "/lib/")
_MAKES_AGAIN = re.compile(r"mkdir|makedirs|install\s+-d|RuntimeDirectory|^\s*[dDvqQ][!+=-]*\s", re.MULTILINE)
_MOST_LINES = 4000


def _mistakes(group: Group) -> Iterator[Mistake]:
    own = {(one.resource, one.path): one for one in programs_of(group).files.values()}
    for script in scripts_for(group):
        file = own[script.resource, script.path]
        for place, name in _made(script.run) if script.run is not None else ():
            user = _used(group, file, name)
            if user and not _made_again(group, file, name):
                says = f"makes {place} once, which {user} needs: the next boot empties /run"
                yield Mistake(file, says, f"a line for {place} in /etc/tmpfiles.d, or RuntimeDirectory of a service")


def _made(run: Run) -> Iterator[tuple[str, str]]:
    """The folders below /run that a script makes for others, with the first part of their names."""
    commands = [(one.name, [text_of(word, run) for word in one.arguments]) for one in run.commands]
    shared = {word for name, words in commands if name in _SHARING for word in words}
    for name, words in commands:
        found = {word.rstrip("/") for word in words if _EMPTIED.fullmatch(word) and HOLE not in word} if name in _MAKING else set()
        is_folder = name != "install" or any(re.fullmatch(r"-[a-zA-Z]*d[a-zA-Z]*|--directory", word) for word in words)
        for place in sorted(found) if is_folder else ():
            first = _EMPTIED.fullmatch(place)
            if first is not None and (place in shared or any(map(_SHARED.fullmatch, words))):
                yield place, first[1]


def _used(group: Group, script: NodeFile, name: str) -> str:
    """A lasting file that names a folder; empty without one."""
    named = re.compile(rf"/run/{re.escape(name)}(?![\w-])")
    for text in texts_on_nodes(group):
        if text.place.startswith(_LASTING) and named.search(text.text) is not None:
            return text.place
    others = (one for one in programs_of(group).files.values() if one.name != script.name)
    texts = ((one.name, marked(one.text)[0] or "") for one in others)
    return next((other for other, text in texts if not is_shell(text) and named.search(text) is not None), "")


def _made_again(group: Group, script: NodeFile, name: str) -> bool:
    """Whether something else may make a folder, as far as the lines with its name say."""
    others = [marked(one.text)[0] or "" for one in programs_of(group).files.values() if one.name != script.name]
    texts = [*others, *(one.text for one in texts_on_nodes(group))]
    lines = [line for text in texts for line in text.splitlines()][:_MOST_LINES]
    named = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    return any(named.search(line) is not None and _MAKES_AGAIN.search(line) is not None for line in lines)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = on_nodes(_mistakes)
