"""The regular files below a folder, without following links. A file that is replaced or removed meanwhile is left out."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import BinaryIO

from node_trust.errors import Untrusted
from node_trust.folder import MAX_DEPTH, MAX_NAMES, Folder


def files_below(folder: Folder, depth: int = MAX_DEPTH) -> list[str]:
    """The paths of the files relative to the folder, sorted.

    :raises Untrusted: if there are too many files, or too deep folders.
    """
    found = list(islice(_files(folder, "", depth), MAX_NAMES + 1))
    if len(found) > MAX_NAMES:
        raise Untrusted(f"{folder.path}: has more than {MAX_NAMES} files below it; remove unneeded ones")
    return sorted(found)


@contextmanager
def entered(folder: Folder, path: str) -> Iterator[Folder]:
    """The folder at a path relative to another, which stays open."""
    with ExitStack() as stack:
        for name in [name for name in path.split("/") if name]:
            folder = stack.enter_context(folder.enter(name))
        yield folder


@contextmanager
def opened(folder: Folder, path: str, limit: int | None, owners: Collection[int] | None = None) -> Iterator[BinaryIO]:
    """The regular file at a path relative to a folder."""
    parent, _, name = path.rpartition("/")
    with entered(folder, parent) as place, place.open_file(name, limit, owners) as file:
        yield file


def _files(folder: Folder, prefix: str, depth: int) -> Iterator[str]:
    if depth == 0:
        raise Untrusted(f"{folder.path}: lies more than {MAX_DEPTH} folders deep, so it is not read")
    for name in folder.names():
        status = folder.status(name)
        if status is not None and stat.S_ISREG(status.st_mode):
            yield prefix + name
        elif status is not None and stat.S_ISDIR(status.st_mode):
            with folder.enter(name) as below:
                yield from _files(below, f"{prefix}{name}/", depth - 1)


def mode_of(file: BinaryIO) -> int:
    return stat.S_IMODE(os.fstat(file.fileno()).st_mode)
