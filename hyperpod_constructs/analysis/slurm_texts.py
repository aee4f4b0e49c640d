"""Configuration files of Slurm for the nodes of a cluster: uploaded as they are, behind `<<` in scripts, or as texts in Python.

Source: https://slurm.schedmd.com/slurm.conf.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.code_runs.parsing import parsed_code
from hyperpod_constructs.analysis.embedded import is_mark, marked
from hyperpod_constructs.analysis.node_programs import NodeFile, programs_of
from hyperpod_constructs.analysis.scripts import Script, scripts_for
from hyperpod_constructs.analysis.shell import is_shell
from hyperpod_constructs.analysis.written_texts import HOLE, texts_written, whole_files
from hyperpod_constructs.facts.slurm_configuration import (
    BEGINNINGS,
    CGROUP,
    GRES,
    OPTIONS,
    PLUGSTACK,
    SLURM,
    SLURMDBD,
    TOPOLOGY,
)

_LONGEST, _MOST_LINES = 1 << 16, 2000
_PAIR = re.compile(r"([A-Za-z]\w*)[ \t]*=[ \t]*(\"[^\"\n]*\"|\S*)")
_INCLUDE = re.compile(r"include[ \t]+(\S+)", re.IGNORECASE)
_DEVICE = re.compile(r"(?:^|\s)(?:Name|AutoDetect)[ \t]*=", re.IGNORECASE)
_PLUGIN = re.compile(r"(?:required|optional|include)[ \t]+\S+.*")
_CODE = (".py", ".sh", ".bash", ".json", ".yaml", ".yml", ".csv", ".md", ".sbatch", ".service", ".timer")
_LEAST, _SHARE = 2, 0.8
"""The lines of a text, and the share of them that are options of one file, from which on it is one like that."""


class Line(NamedTuple):
    """A line with options.

    :param pairs: the options with their values, by names as they are written; one alone but for nodes, partitions and devices.
    :param number: its place in the text.
    """

    pairs: tuple[tuple[str, str], ...]
    number: int

    @property
    def name(self) -> str:
        """The option with which it begins, in small letters."""
        return self.pairs[0][0].lower()

    @property
    def value(self) -> str:
        """The value of that."""
        return self.pairs[0][1]

    def get(self, name: str) -> str:
        """The value of an option by its name in small letters; empty if the line has none."""
        return next((value for key, value in self.pairs if key.lower() == name), "")


class SlurmText(NamedTuple):
    """A text for one of Slurm's files, with a question mark for each part that is not known.

    :param kind: the name of the file that it is, or a part of.
    :param file: the file of the template in which it stands.
    :param own: whether the file of the template is nothing else.
    """

    kind: str
    file: NodeFile
    lines: tuple[Line, ...]
    own: bool

    def last(self, name: str) -> Line | None:
        """The line of an option, of which the last one counts."""
        return next((one for one in reversed(self.lines) if one.name == name), None)


def slurm_texts(group: Group) -> tuple[SlurmText, ...]:
    """The texts for the nodes of a group; found once for all groups with the same files."""
    files = programs_of(group).files
    key = (slurm_texts, tuple((one.resource, one.path) for one in files.values()))
    return group.resource.template.model.cached(key, lambda: tuple(_texts(group)))


def is_known(value: str) -> bool:
    """Whether all of a value is known."""
    return HOLE not in value


def file_of(group: Group, script: Script) -> NodeFile:
    """The file of a script."""
    files = programs_of(group).files.values()
    return next(one for one in files if (one.resource, one.path) == (script.resource, script.path))


def _texts(group: Group) -> Iterator[SlurmText]:
    for file in programs_of(group).files.values():
        text = spelled_file(file)
        if text is None or len(text) > _LONGEST or is_shell(text):
            continue
        if file.name.endswith(".py"):
            yield from _in_python(file, text)
        elif not file.name.endswith(_CODE):
            yield from _of(file.name, text, file, own=True)
    for script in scripts_for(group):
        found = whole_files(texts_written(script.run)) if script.run is not None else ()
        for one in found:
            yield from _of(one.name, one.text, file_of(group, script), own=False)


def spelled_file(file: NodeFile) -> str | None:
    """The characters of a file, with a question mark for each part that is not known; `None` for a very long one."""
    text, marks = marked(file.text)
    return None if text is None else "".join(HOLE if is_mark(one) else one for one in text) if marks else text


def _in_python(file: NodeFile, text: str) -> Iterator[SlurmText]:
    tree = parsed_code(text)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call):
            words = [spelled_node(one) for one in node.args]
            name = next((one for one in words if one in OPTIONS or one == PLUGSTACK), "")
            for one in (one for one in words if "\n" in one):
                yield from _of(name, one, file, own=False)
        elif isinstance(node, ast.Assign):
            said = spelled_node(node.value)
            yield from _of("", said, file, own=False) if "\n" in said else ()


def spelled_node(node: ast.expr) -> str:
    """The characters of a text in Python, with a question mark for each part that is not known; empty for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(spelled_node(one) if isinstance(one, ast.Constant) else HOLE for one in node.values)
    return ""


def _of(name: str, text: str, file: NodeFile, *, own: bool) -> Iterator[SlurmText]:
    rows = _rows(text)
    kind = _kind(name.rpartition("/")[2], [one for _, one in rows])
    if kind is not None:
        yield SlurmText(kind, file, tuple(filter(None, (_line(row, number, kind) for number, row in rows))), own)


def _rows(text: str) -> list[tuple[int, str]]:
    """The lines that are no comments, those with a backslash at their ends with the next one."""
    rows, start, held = list[tuple[int, str]](), 0, ""
    for number, line in enumerate(text.split("\n")[:_MOST_LINES], 1):
        start = start if held else number
        part = line.partition("#")[0].strip()
        if part.endswith("\\"):
            held += part[:-1] + " "
            continue
        rows += [(start, held + part)] if held + part else []
        held = ""
    return rows


def _kind(name: str, rows: Sequence[str]) -> str | None:
    """The file that a text is for: by its name, or by the options in its lines."""
    if name in OPTIONS or name == PLUGSTACK:
        return name
    if rows and all(_PLUGIN.fullmatch(one) for one in rows) and any("spank" in one for one in rows):
        return PLUGSTACK
    begins = [row.partition("=")[0].strip().lower() if "=" in row else "" for row in rows]
    if rows and all(_DEVICE.search(row) and one in BEGINNINGS[GRES] for row, one in zip(rows, begins, strict=True)):
        return GRES
    for kind in (SLURM, SLURMDBD, CGROUP, TOPOLOGY):
        known = BEGINNINGS.get(kind) or {one.lower() for one in OPTIONS[kind]}
        count = sum(one in known for one in begins)
        if count >= max(_LEAST, _SHARE * len(rows)):
            return kind
    return None


def _line(row: str, number: int, kind: str) -> Line | None:
    included = _INCLUDE.fullmatch(row)
    if included is not None:
        return Line((("include", included[1]),), number)
    pairs = [(found[1], found[2].strip('"')) for found in _PAIR.finditer(row)]
    if kind == PLUGSTACK:
        return Line((("plugin", row),), number)
    return Line(tuple(pairs), number) if pairs and row.startswith(pairs[0][0]) else None
