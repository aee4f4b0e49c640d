"""Files of the node: every change is whole or not at all, and none is made where nothing differs.

A file is written beside its target, flushed to the disk, and renamed over it. Names of what is on the way carry the node's
name, so that two nodes on a shared file system do not meet and a later run replaces what a killed one left.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Callable, Tuple

Ids = Tuple[int, int]


class Ownership:
    """Whom files belong to; tests without root replace it."""

    def of(self, status: os.stat_result) -> Ids:
        return status.st_uid, status.st_gid

    def give(self, path: Path, ids: Ids) -> None:
        os.chown(path, *ids, follow_symlinks=False)


class Unowned(Ownership):
    """For a root that is not the system's: everything there passes for the superuser's."""

    def of(self, status: os.stat_result) -> Ids:
        return 0, 0

    def give(self, path: Path, ids: Ids) -> None:
        return


def is_same(path: Path, data: bytes, mode: int, ids: Ids, ownership: Ownership) -> bool:
    try:
        status = path.lstat()
        alike = stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) == mode and ownership.of(status) == ids
        return alike and path.read_bytes() == data
    except FileNotFoundError:
        return False


def name_beside(target: Path, name: str) -> Path:
    return target.with_name(f".{target.name}.{name}")


def write_beside(target: Path, name: str, fill: Callable[[BinaryIO], None], mode: int, ids: Ids, ownership: Ownership) -> Path:
    """A new file in the folder of ``target``, filled and on the disk."""
    beside = name_beside(target, name)
    with contextlib.suppress(FileNotFoundError):
        beside.unlink()
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        fill(file)
        file.flush()
        os.fsync(file.fileno())
    ownership.give(beside, ids)
    beside.chmod(mode)
    return beside


def folder_beside(target: Path, name: str, mode: int, ids: Ids, ownership: Ownership) -> Path:
    beside = name_beside(target, name)
    beside.mkdir(mode=0o700, exist_ok=True)
    ownership.give(beside, ids)
    beside.chmod(mode)
    return beside


def place_folder(beside: Path, target: Path) -> None:
    """Another node may have made it meanwhile; then its folder is taken."""
    try:
        beside.rename(target)
    except OSError:
        beside.rmdir()
        if not target.is_dir():
            raise


def sync_folder(folder: Path) -> None:
    """Makes a rename in that folder last; a file system that cannot do so keeps its own promise."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def pack(file: BinaryIO, members: Sequence[tuple[str, Path]]) -> None:
    """A compressed archive of these regular files. What vanishes meanwhile is left out, as its owner deleted it."""
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1, format=tarfile.PAX_FORMAT) as archive:
        for name, path in members:
            try:
                with path.open("rb") as source:
                    entry = tarfile.TarInfo(name)
                    entry.size = os.fstat(source.fileno()).st_size
                    entry.mode = stat.S_IMODE(os.fstat(source.fileno()).st_mode)
                    archive.addfile(entry, source)
            except FileNotFoundError:
                continue


def unpack(archive_path: Path, folder: Path) -> None:
    """The regular files of an archive, none of them outside ``folder``."""
    with tarfile.open(archive_path, mode="r:gz") as archive:
        for entry in archive:
            source = archive.extractfile(entry) if entry.isreg() else None
            if source is None or entry.name.startswith("/") or ".." in entry.name.split("/"):
                continue
            target = folder / entry.name
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with target.open("wb") as file:
                shutil.copyfileobj(source, file)
            target.chmod(entry.mode)
