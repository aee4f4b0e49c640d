"""Checkpoints as directories with checksums, each complete or absent. The last good one is never removed.

A checkpoint is written under a name with a leading dot. Each rank adds `rank-N.json` with the sizes and checksums of its files. One
rank then joins them into `manifest.json` and renames the directory. Everything is on disk before the rename. A directory is good if
all its files match its manifest.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from common.files import sync, write_atomically

PREFIX = "step-"
MANIFEST = "manifest.json"
BLOCK = 1 << 22


class Store:
    def __init__(self, directory: Path, keep: int) -> None:
        self.directory = directory
        self.keep = keep
        self.verified: set[int] = set()

    def path(self, step: int) -> Path:
        return self.directory / f"{PREFIX}{step:010d}"

    def partial(self, step: int, token: str) -> Path:
        """The directory for the files of all writers with this token."""
        return self.directory / f".{PREFIX}{step:010d}.{token}"

    def steps(self) -> list[int]:
        """The steps of the complete checkpoints, newest first; their files may have been damaged since."""
        found = (path.name.removeprefix(PREFIX) for path in self.directory.glob(f"{PREFIX}*"))
        return sorted((int(name) for name in found if name.isdecimal()), reverse=True)

    def commit(self, step: int, token: str) -> None:
        """Make the partial checkpoint the newest one, once all ranks have sealed their files."""
        partial, final = self.partial(step, token), self.path(step)
        join_seals(partial)
        if final.exists() and verify(final):
            shutil.rmtree(partial)
        else:
            if final.exists():
                final.rename(self.directory / f".damaged-{final.name}.{token}")
            partial.rename(final)
            sync(self.directory)
        self.verified.discard(step)

    def discard(self, step: int, token: str) -> None:
        shutil.rmtree(self.partial(step, token), ignore_errors=True)

    def is_good(self, step: int) -> bool:
        """Whether the checkpoint is good; it is read back once in the life of this process."""
        if step not in self.verified and verify(self.path(step)):
            self.verified.add(step)
        return step in self.verified

    def retain(self) -> None:
        """Remove checkpoints older than the newest `keep` good ones, and leftovers of writers that died before the newest."""
        good: list[int] = []
        for step in self.steps():
            if len(good) == self.keep:
                shutil.rmtree(self.path(step), ignore_errors=True)
                self.verified.discard(step)
            elif self.is_good(step):
                good.append(step)
        if good:
            self.remove_leftovers(up_to=good[0])

    def remove_leftovers(self, up_to: int) -> None:
        for path in self.directory.glob(".*"):
            _, _, name = path.name.partition(PREFIX)
            step = name.partition(".")[0]
            if step.isdecimal() and int(step) <= up_to:
                shutil.rmtree(path, ignore_errors=True)


def seal(directory: Path, rank: int, files: Iterable[Path]) -> None:
    """Flush one rank's files to disk, and write their sizes and checksums beside them."""
    entries = {}
    for file in files:
        sync(file)
        entries[file.name if file.parent == directory else str(file.relative_to(directory))] = describe(file)
    write_atomically(directory / f"rank-{rank}.json", json.dumps(entries))


def join_seals(directory: Path) -> None:
    entries: dict[str, Any] = {}
    seals = sorted(directory.glob("rank-*.json"))
    for path in seals:
        entries.update(json.loads(path.read_text(encoding="utf-8")))
    for path in {directory, *(directory / name for name in entries)}:
        sync(path if path.is_dir() else path.parent)
    write_atomically(directory / MANIFEST, json.dumps({"ranks": len(seals), "files": entries}, indent=1))


def describe(file: Path) -> dict[str, Any]:
    digest = hashlib.sha256()
    size = 0
    with file.open("rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
            size += len(block)
    return {"bytes": size, "sha256": digest.hexdigest()}


def verify(directory: Path, rank: int = 0, size: int = 1) -> bool:
    """Whether the files match the manifest; of several ranks, each reads its share."""
    try:
        files = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))["files"]
        mine = sorted(files)[rank::size]
        return bool(files) and all(describe(directory / name) == files[name] for name in mine)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
