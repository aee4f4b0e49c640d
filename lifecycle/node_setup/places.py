"""Access to the node's files by handles: a path is followed component by component, and never through a user's link.

In places of root alone, every folder and file must belong to root. Only a child that runs as the user enters the user's home.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import BinaryIO, NamedTuple

from node_trust.folder import Folder
from node_trust.owners import Ids, Ownership
from node_trust.tree import files_below

MISSING = (FileNotFoundError, NotADirectoryError)


class Places(NamedTuple):
    """The places of a node.

    :param ours: paths that belong to root alone, with everything below them.
    :param name: the name of the node, in the names of unfinished files.
    """

    root: str
    name: str
    ownership: Ownership
    ours: Sequence[str]

    @contextmanager
    def holding(self, path: str, follow: bool = False) -> Iterator[tuple[Folder, str]]:
        """The folder around a path, and the last name of the path; with `follow`, through root's links at the end."""
        prefix = self._prefix(path)
        below = [] if prefix is None else [part for part in path[len(prefix) :].split("/") if part]
        first, name = Folder.of(
            self.root + (prefix if prefix and below else path), self.ownership, follow or bool(below), self.name
        )
        with ExitStack() as stack:
            folder = stack.enter_context(first)
            for next_name in below:
                folder = stack.enter_context(folder.child(name, make=False))
                name = next_name
            yield folder, name

    @contextmanager
    def inside(self, path: str) -> Iterator[Folder]:
        """The folder at a path."""
        with self.holding(path, follow=True) as (folder, name):
            is_ours = self._prefix(path) is not None
            with folder.child(name, make=False) if is_ours else folder.enter(name) as found:
                yield found

    @contextmanager
    def file(self, path: str, limit: int | None) -> Iterator[BinaryIO]:
        """The regular file at a path, of at most `limit` bytes; in our places it must belong to root."""
        owners = None if self._prefix(path) is None else (0,)
        with self.holding(path, follow=True) as (folder, name), folder.open_file(name, limit, owners) as file:
            yield file

    def tree(self, path: str) -> list[str]:
        """The regular files below a folder, by relative path; empty if it is missing."""
        try:
            with self.inside(path) as folder:
                return files_below(folder)
        except MISSING:
            return []

    def is_same(self, path: str, data: bytes, mode: int, ids: Ids) -> bool:
        """Whether a regular file with this content, mode and owner exists."""
        try:
            with self.holding(path) as (folder, name):
                return folder.has(name, data, mode, ids)
        except MISSING:
            return False

    def _prefix(self, path: str) -> str | None:
        return next((prefix for prefix in self.ours if path == prefix or path.startswith(f"{prefix}/")), None)
