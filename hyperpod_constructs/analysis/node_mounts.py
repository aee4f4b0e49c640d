"""Where the nodes of a group have file systems of a network: by the service, or by their scripts; and what programs change below.

Source: https://man7.org/linux/man-pages/man8/mount.8.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.code_runs.parsing import parsed_code
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.file_modes import kept_by
from hyperpod_constructs.analysis.mount_commands import mounts_of
from hyperpod_constructs.analysis.node_programs import Started, programs_of
from hyperpod_constructs.analysis.python_paths import touched
from hyperpod_constructs.analysis.scripts import Script, scripts_for
from hyperpod_constructs.templates.values import UNKNOWN, Value, as_str

_OF_NETWORK = ("efs", "lustre", "nfs", "nfs4")


class NodeMount(NamedTuple):
    """A file system that a script mounts.

    :param place: `None` if it is not known.
    """

    script: Script
    source: Value
    place: str | None
    line: int


class Change(NamedTuple):
    """A path that a program makes or changes.

    :param by: the name of the program.
    """

    by: str
    path: str
    line: int


def mounts_by_scripts(group: Group) -> tuple[NodeMount, ...]:
    """The file systems of a network that scripts of a group mount; computed once."""
    key = (mounts_by_scripts, group.resource, group.path)
    return group.resource.template.model.cached(key, lambda: tuple(_mounts(group)))


def _mounts(group: Group) -> Iterator[NodeMount]:
    for script in scripts_for(group):
        for one in (one for run in script.runs for one in mounts_of(run) if one.kind in _OF_NETWORK):
            place = as_str(one.place)
            yield NodeMount(script, one.source, place.rstrip("/") if place is not None else None, one.line)


def changes(group: Group) -> tuple[Change, ...]:
    """The paths that programs of a group surely make or change as root; computed once."""
    return group.resource.template.model.cached((changes, group.resource, group.path), lambda: tuple(_changes(group)))


def _changes(group: Group) -> Iterator[Change]:
    programs = programs_of(group)
    for script in (one for one in scripts_for(group) if one.run is not None):
        found = kept_by(script.run, script.text) if script.run is not None else {}
        yield from (Change(str(script.path[-1]), path, kept.line) for path, kept in found.items())
    for file in (one for one in programs.files.values() if one.name.endswith(".py")):
        tree = parsed_code(marked(file.text)[0] or "")
        starts = programs.starts(file.name)
        if tree is not None and starts:
            yield from (Change(file.name, path, line) for path, line in touched(tree, _agreed(starts)))


def _agreed(starts: tuple[Started, ...]) -> Mapping[str, Value]:
    """The variables that all find who start a program."""
    first, *others = (one.environment or {} for one in starts)
    return {name: value if all(one.get(name) == value for one in others) else UNKNOWN for name, value in first.items()}


def in_order(group: Group) -> tuple[Started, ...]:
    """The files that programs of a group start, each where it first runs, with those that it starts behind it."""
    programs = programs_of(group)
    starting = {one.by for one in programs.started}
    found = list[Started]()

    def follow(by: str, depth: int) -> None:
        for one in (one for one in programs.started if one.by == by and one.arguments is not None):
            if all(one.name != other.name for other in found) and depth < _DEEPEST:
                found.append(one)
                follow(one.name, depth + 1)

    for name in sorted(starting - {one.name for one in programs.started}):
        follow(name, 0)
    return tuple(found)


_DEEPEST = 5
