"""The child of `node_health.shared`: carries out an order, a JSON document on standard input, and prints the files that it read.

Users write on the same file system. So every folder below the shared directory is opened by its name in its parent, never through a
link, and is refused unless it belongs to root and nobody else can write to it. A file to read must be a regular file of root's, of
bounded size. A file for a user gets its owner while only root can reach it.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import sys
from itertools import chain
from pathlib import Path
from typing import Any, Iterable, Iterator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from node_trust.folder import MAKE, SYSTEM, Folder
from node_trust.owners import ROOT, Ids, Unowned

FILE_LIMIT = 64 * 1024
ANSWER_LIMIT = 64 * 1024 * 1024
FILES = 16_384
OPEN, CLOSED = 0o755, 0o700
MODES = {"hang": OPEN}
"""Mode of the folders in a cluster's folder: users find their own dumps by name and can read no others."""


def main() -> int:
    request = json.load(sys.stdin)
    try:
        with _cluster(request["directory"], request["way"]) as base:
            json.dump(exchange(base, request), sys.stdout)
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


@contextlib.contextmanager
def _cluster(directory: str, way: list[str]) -> Iterator[Folder]:
    """The cluster's folder; a missing shared directory is not made. Without root, as in tests, every file counts as its own."""
    with contextlib.ExitStack() as stack:
        ownership = SYSTEM if os.geteuid() == 0 else Unowned()
        folder = stack.enter_context(Folder.open(directory, ownership, checked=False))
        for name in way:
            folder = stack.enter_context(folder.child(name, mode=OPEN))
        yield folder


def exchange(base: Folder, request: dict[str, Any]) -> dict[str, str]:
    owner = ROOT if request["owner"] is None else (int(request["owner"][0]), int(request["owner"][1]))
    for name, text in request["write"].items():
        write(base, name, text.encode("utf-8"), owner)
    for name, text in request["encoded"].items():
        write(base, name, base64.b64decode(text), owner)
    for name in request["remove"]:
        remove(base, name)
    return dict(_bounded(chain(_files(base, request["files"]), _folders(base, request["read"]))))


@contextlib.contextmanager
def inside(base: Folder, path: str, make: bool) -> Iterator[tuple[Folder, str]]:
    """The folder of a relative path, and the last name of the path."""
    *folders, name = path.split("/")
    with contextlib.ExitStack() as stack:
        for folder in folders:
            base = stack.enter_context(base.child(folder, make=make, mode=MODES.get(path.partition("/")[0], CLOSED)))
        yield base, name


def write(base: Folder, path: str, content: bytes, owner: Ids) -> None:
    """Replace a file completely, and make its folders. It is not flushed to disk, because the next one follows soon."""
    with inside(base, path, make=True) as (folder, name):
        beside = folder.beside(name)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=folder.descriptor)
        with os.fdopen(os.open(beside, MAKE, 0o600, dir_fd=folder.descriptor), "wb") as file:
            file.write(content)
            file.flush()
            folder.ownership.give(file.fileno(), owner)
        folder.rename(beside, folder, name)


def remove(base: Folder, path: str) -> None:
    """Remove a file, and its folder if it is empty then."""
    with contextlib.suppress(OSError):
        with inside(base, path, make=False) as (folder, name):
            os.unlink(name, dir_fd=folder.descriptor)
        with inside(base, path.rpartition("/")[0], make=False) as (folder, name):
            os.rmdir(name, dir_fd=folder.descriptor)


def _files(base: Folder, paths: list[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        with contextlib.suppress(OSError), inside(base, path, make=False) as (folder, name):
            yield path, _read(folder, name)


def _folders(base: Folder, paths: list[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        with contextlib.suppress(OSError), inside(base, f"{path}/", make=False) as (folder, _):
            names = [name for name in folder.names(2 * FILES) if name.endswith(".json") and not name.startswith(".")]
            for name in names[:FILES]:
                with contextlib.suppress(OSError):
                    yield f"{path}/{name}", _read(folder, name)


def _read(folder: Folder, name: str) -> str:
    return folder.read(name, FILE_LIMIT).decode("utf-8", "replace")


def _bounded(found: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    left = ANSWER_LIMIT
    for name, text in found:
        left -= len(text)
        if left < 0:
            return
        yield name, text


if __name__ == "__main__":
    sys.exit(main())
