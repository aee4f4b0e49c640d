"""Files that programs of nodes read from the folder of the scripts, and that are not there.

What a program gets as an argument counts where it surely reads it; what another one may make does not.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm-base-config.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.node_programs import NodeFile, Programs, Started, programs_of
from hyperpod_constructs.templates.values import as_str

_NAME = re.compile(r"[\w-]+\.(?:cfg|conf|csv|ini|j2|json|list|toml|tsv|txt|yaml|yml)")
_STARTING = re.compile(r"(?:^|[\s(])(?:bash|dash|python3?|sh|source|\.)\s")
_WRITING = re.compile(r">|\btee\b|--?o(?:ut(?:put)?)?\b")
_COPYING = ("aws", "cp", "curl", "git", "mv", "rsync", "scp", "tar", "unzip", "wget")
_READ_BY_PYTHON = r"open\(\s*sys\.argv\[{0}\]\s*(?:\)|,(?!\s*[\"'][wax]))|Path\(\s*sys\.argv\[{0}\]\s*\)\.(?:read|open)"
_READ_BY_SHELL = r"(?:<|\b(?:awk|cat|cut|grep|head|jq|sed|sort|tail)\b[^\n|;&>]*?)\s*\"?\$\{{?{0}\b"


class Unread(NamedTuple):
    """A file that is not there.

    :param by: the program that reads it.
    :param there: the name of the same file in another folder of the upload; empty if there is none.
    """

    by: NodeFile
    name: str
    there: str = ""


def read_in_vain(group: Group) -> Iterator[Unread]:
    """The files that programs of a group read and do not find."""
    programs = programs_of(group)
    texts = {name: marked(file.text)[0] or "" for name, file in programs.files.items()}
    for one in programs.started:
        if one.arguments is None and "/" not in one.name and one.name not in programs.files and one.by in programs.files:
            folder = next((name for name in programs.files if name.endswith(f"/{one.name}")), "")
            if folder and not _is_named(folder.removesuffix(one.name), texts.values()):
                yield Unread(programs.files[one.by], one.name, folder)
        for place, name in _given(one, programs):
            if _reads(texts.get(one.name, ""), place) and _is_only_given(name, list(texts.values())) and not _may_copy(programs):
                yield Unread(programs.files[one.name], name, next((other for other in texts if other.endswith(f"/{name}")), ""))


def _is_named(folder: str, texts: Iterable[str]) -> bool:
    """Whether a text names a folder of the upload, from which a program may then read."""
    name = re.escape(folder.rstrip("/"))
    pattern = re.compile(rf"(?<![\w./-])(?:\./)?{name}/|(?:cd|pushd|chdir\()\s*[\"']?(?:\./)?{name}\b|[\"']{name}[\"']")
    return any(map(pattern.search, texts))


def _given(start: Started, programs: Programs) -> Iterator[tuple[int, str]]:
    """The names of files among the arguments of a program that nobody uploads, with their places."""
    for place, value in enumerate(start.arguments or (), 1) if start.name in programs.files else ():
        name = as_str(value)
        if name is not None and _NAME.fullmatch(name) and name not in programs.files:
            yield place, name


def _reads(text: str, place: int) -> bool:
    return any(re.search(pattern.format(place), text) for pattern in (_READ_BY_PYTHON, _READ_BY_SHELL))


def _is_only_given(name: str, texts: list[str]) -> bool:
    """Whether all that names a file only starts programs with it."""
    lines = [line for text in texts for line in text.split("\n") if name in line and not line.lstrip().startswith("#")]
    return all(_STARTING.search(line) and not _WRITING.search(line) for line in lines)


def _may_copy(programs: Programs) -> bool:
    """Whether a command may bring files into the folder of the scripts."""
    for words, _ in programs.ran:
        texts = [as_str(word) for word in words]
        named = [text for text in texts[1:] if text is None or not text.startswith("-")]
        if texts and (texts[0] or "").rpartition("/")[2] in _COPYING and any(text in (".", "./") for text in named):
            return True
    return False
