"""Where the node's files are, by handles: a path is walked component by component, and never through a link of a user.

In the places that are root's alone every folder and file must be root's; a user's home is entered by a child that is that user.
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
    """``ours`` are root's alone, with all that is below them; ``name`` is the node's, for what is on the way to its place."""

    root: str
    name: str
    ownership: Ownership
    ours: Sequence[str]

    @contextmanager
    def holding(self, path: str, follow: bool = False) -> Iterator[tuple[Folder, str]]:
        """The folder that holds what is at that path, and its name there; ``follow`` follows a link of root at the end."""
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
        """The folder at that path."""
        with self.holding(path, follow=True) as (folder, name):
            is_ours = self._prefix(path) is not None
            with folder.child(name, make=False) if is_ours else folder.enter(name) as found:
                yield found

    @contextmanager
    def file(self, path: str, limit: int | None) -> Iterator[BinaryIO]:
        """The regular file at that path, which holds at most ``limit`` bytes; in a place of ours it must be root's."""
        owners = None if self._prefix(path) is None else (0,)
        with self.holding(path, follow=True) as (folder, name), folder.open_file(name, limit, owners) as file:
            yield file

    def tree(self, path: str) -> list[str]:
        """The regular files below that folder, by their relative paths; none where it is missing."""
        try:
            with self.inside(path) as folder:
                return files_below(folder)
        except MISSING:
            return []

    def is_same(self, path: str, data: bytes, mode: int, ids: Ids) -> bool:
        """Whether a regular file with that content, mode and owner is there."""
        try:
            with self.holding(path) as (folder, name):
                return folder.has(name, data, mode, ids)
        except MISSING:
            return False

    def _prefix(self, path: str) -> str | None:
        return next((prefix for prefix in self.ours if path == prefix or path.startswith(f"{prefix}/")), None)
