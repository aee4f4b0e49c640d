"""Mounts in scripts: what they mount is written as the file system takes it, and of its type, and its place is there.

Sources: https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-ec2-instance.html and
https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/attach-linux-client.html
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.file_systems import LUSTRE, OPENZFS
from hyperpod_constructs.analysis.mount_commands import Mount, mounts_of
from hyperpod_constructs.analysis.mount_names import is_made_otherwise
from hyperpod_constructs.analysis.placement import FILE_SYSTEM
from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell import Run, is_shell
from hyperpod_constructs.analysis.shell_words import Command
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.file_system_mounts import EMPTY_FOLDERS, FOLDERS, MOUNT_TYPES, ROOT_OF_OPENZFS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import Part, Reference, Text, Value, as_str, joined, parts_of, shown

_DNS, _NAME = "DNSName", "LustreMountName"
_OF_LUSTRE = "DNSName@tcp:/LustreMountName"
_HOST = re.compile(r"[@:]")
"""What stands behind the host of a source."""
_FOUND_BY_ID, _OF_AWS = ".fsx.", (".amazonaws.com", ".amazonaws.com.cn")
_NETWORK = re.compile(r"@\w+:")
_MAKING = ("install", "mkdir")
_LOOKING = ("[", "[[", "chmod", "chown", "df", "echo", "findmnt", "grep", "ls", "mount", "mountpoint", "printf", "test", "umount")
"""Commands that make no folder."""
_STARTING = (".", "bash", "eval", "sh", "source")
_MAKING_ANY = ("ansible-playbook", "cp", "git", "python", "python3", "rsync", "tar", "unzip")
"""Commands that may make folders without their names."""
_MADE_ELSEWHERE = re.compile(r"mkdir|makedirs|\binstall\b.*-d|state: directory")


class _Source(NamedTuple):
    """What is mounted.

    :param host: the begin of it, up to `@` or `:`.
    :param rest: what stands behind it.
    """

    host: tuple[Part, ...]
    rest: tuple[Part, ...]

    @property
    def system(self) -> Resource | None:
        """The file system with this host, if it is of the model."""
        first, *others = (*self.host, "")
        found = resource_of(first, FILE_SYSTEM) if isinstance(first, Reference) else None
        by_id = isinstance(first, Reference) and first.attribute is None and str(others[0]).startswith(_FOUND_BY_ID)
        return found if by_id or (isinstance(first, Reference) and first.attribute == _DNS and len(self.host) == 1) else None

    @property
    def is_whole(self) -> bool:
        """Whether the host is known up to its end."""
        last = self.host[-1] if self.host else ""
        return str(last).endswith(_OF_AWS) if isinstance(last, str) else self.system is not None

    @property
    def begin(self) -> str:
        """The characters that surely stand behind the host."""
        return self.rest[0] if self.rest and isinstance(self.rest[0], str) else ""


def of_script(script: Script) -> Slips:
    """The first mistake in the mounts of a script, for any of those who start it."""
    return [slip for run in script.runs for one in mounts_of(run) for slip in _slips(one)][:1]


def _slips(mount: Mount) -> Iterator[Slip]:
    source = _source(mount.source)
    for says, allowed in (*_swapped(source), *_of_type(mount, source), *_of_lustre(mount, source), *_of_openzfs(mount, source)):
        message = f"the script mounts {shown(mount.source)} in line {mount.line}, {says}"
        yield Slip(message, allowed, dead=True)


def _source(value: Value) -> _Source:
    parts = parts_of(value)
    for place, part in enumerate(parts):
        found = _HOST.search(part) if isinstance(part, str) else None
        if isinstance(part, str) and found is not None:
            host = (*parts[:place], part[: found.start()]) if found.start() else parts[:place]
            return _Source(host, (part[found.start() :], *parts[place + 1 :]))
    return _Source(parts, ())


def _swapped(source: _Source) -> Iterator[tuple[str, str]]:
    """The mount name of a file system as the host."""
    first = source.host[0] if len(source.host) == 1 else None
    if isinstance(first, Reference) and first.attribute == _NAME and source.rest:
        yield f"whose host is the mount name of {first.resource.logical_id}", _OF_LUSTRE


def _kind_of(source: _Source) -> str | None:
    return None if source.system is None else as_str(source.system.get("FileSystemType"))


def _of_type(mount: Mount, source: _Source) -> Iterator[tuple[str, str]]:
    """A type of `mount` that does not fit the file system."""
    kind = _kind_of(source)
    taken = MOUNT_TYPES.get(kind or "")
    if source.system is not None and taken and mount.kind is not None and mount.kind not in taken and source.rest:
        yield f"by the type {mount.kind}, and {source.system.logical_id} is {kind}", listed(taken)


def _of_lustre(mount: Mount, source: _Source) -> Iterator[tuple[str, str]]:
    """A source of Lustre without the network or the slash, or with another mount name."""
    network = _NETWORK.match(source.begin)
    if mount.kind != "lustre" or _kind_of(source) not in (None, LUSTRE):
        return
    if source.begin.startswith(":/") and source.is_whole:
        yield "without @tcp behind its host", _OF_LUSTRE
    name = (source.begin[network.end() :], *source.rest[1:]) if network is not None else ()
    if name[:1] == ("",) and _is_mount_name(name[1:2]):
        yield "without a slash before its mount name", _OF_LUSTRE
    elif name and str(name[0]).startswith("/"):
        yield from _other_name(source.system, joined((str(name[0])[1:], *name[1:])))


def _is_mount_name(parts: tuple[Part, ...]) -> bool:
    return any(isinstance(one, Reference) and one.attribute == _NAME for one in parts)


def _other_name(system: Resource | None, name: Value) -> Iterator[tuple[str, str]]:
    """A mount name that is not that of the file system."""
    first = parts_of(name)[0]
    other = resource_of(first, FILE_SYSTEM) if isinstance(first, Reference) else None
    if isinstance(first, Reference) and other is not None and first.attribute != _NAME:
        yield f"whose mount name is {first.attribute or 'the id'} of {other.logical_id}", _OF_LUSTRE
    elif other is not None and system is not None and other is not system:
        yield f"whose host is {system.logical_id}'s, and whose mount name is {other.logical_id}'s", _OF_LUSTRE
    written, slash, _ = first.partition("/") if isinstance(first, str) else ("", "", "")
    is_whole = slash != "" or not isinstance(name, Text)
    if system is not None and written and is_whole and is_made_otherwise(system, written):
        yield f"but the service makes the mount name of {system.logical_id}", f"{_NAME} of {system.logical_id}"


def _of_openzfs(mount: Mount, source: _Source) -> Iterator[tuple[str, str]]:
    """A folder outside of that in which OpenZFS has its volumes."""
    folder, slash, _ = source.begin.removeprefix(":/").partition("/")
    is_known = bool(slash) or len(source.rest) == 1
    fits = mount.kind in (None, *MOUNT_TYPES[OPENZFS]) and _kind_of(source) == OPENZFS and source.system is not None
    if fits and source.begin.startswith(":/") and folder and is_known and folder != ROOT_OF_OPENZFS:
        yield f"and its volumes are in /{ROOT_OF_OPENZFS}", f":/{ROOT_OF_OPENZFS}/"


def places_not_made(run: Run, others: Iterable[str], there: Container[str | None]) -> Iterator[tuple[str, str]]:
    """The places of mounts that are folders of no machine, and that nobody makes.

    :param others: the texts of the files beside the script.
    :param there: the places that the service makes.
    """
    commands, making = run.called, [line for text in others for line in _making(text)]
    if any(one.name in _MAKING_ANY or _makes_unknown(one, run) for one in commands) or any("$" in line for line in making):
        return
    handing_on = {one.function for one in commands if any(None in word for word in one.words)}
    functions = {one.function for one in commands} - handing_on
    named = [_texts(one, run) for one in commands if one.name not in (*_LOOKING, *functions)]
    for mount in mounts_of(run):
        place = (as_str(mount.place) or "").rstrip("/")
        is_named = any(text == place or text.startswith(f"{place}/") for texts in named for text in texts)
        is_there = place in there or any(place in line for line in making)
        if _is_new(place) and not mount.makes and not is_named and not is_there:
            yield f"mounts {shown(mount.source)} in line {mount.line} at {place}, a folder that nobody makes", f"mkdir -p {place}"


def _making(text: str) -> Iterator[str]:
    """The lines with which another file makes folders; a variable in the place of those of a program."""
    found = _MADE_ELSEWHERE.search(text)
    yield from () if found is None else filter(_MADE_ELSEWHERE.search, text.split("\n")) if is_shell(text) else ("$",)


def _makes_unknown(command: Command, run: Run) -> bool:
    """Whether a command makes folders whose names are not known, or another file with commands runs."""
    is_open = any(as_str(run.value(word)) is None for word in command.arguments)
    return (command.name in _MAKING and is_open) or (command.name in _STARTING and is_open)


def _texts(command: Command, run: Run) -> list[str]:
    return [as_str(run.value(word)) or "" for word in command.arguments]


def _is_new(place: str) -> bool:
    """Whether a folder is on no machine before somebody makes it."""
    first, *others = place.removeprefix("/").split("/")
    return place.startswith("/") and first != "" and (first not in FOLDERS or (first in EMPTY_FOLDERS and bool(others)))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(None, of_script)
