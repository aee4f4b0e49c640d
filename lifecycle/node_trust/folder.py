"""A folder by its handle: root's work reaches this folder only, even if others rename or link things meanwhile."""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import stat
from collections.abc import Collection
from typing import BinaryIO, Callable

from node_trust.errors import Untrusted
from node_trust.owners import ROOT, Ids, Ownership
from node_trust.way import FOLDER, OTHERS_WRITE, enter, locate

READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
MAX_NAMES = 100_000
MAX_DEPTH = 64
SYSTEM = Ownership()
KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFREG: "a file",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
}


class Folder:
    """An open folder; close it, or use it as a context manager. Names are single components; links are never followed.

    :param path: the path, for messages only.
    :param tag: the mark in the names of unfinished files; by default, unique to this process.
    """

    def __init__(self, descriptor: int, path: str, ownership: Ownership = SYSTEM, tag: str = "") -> None:
        self.descriptor = descriptor
        self.path = path
        self.ownership = ownership
        self.tag = tag or f"{platform.node()}.{os.getpid()}"

    @classmethod
    def open(cls, path: str, ownership: Ownership = SYSTEM, checked: bool = True, tag: str = "") -> Folder:
        """The folder at an absolute path.

        :param checked: whether the folder must belong to root alone; true by default, false for the folder of a mount.
        :raises FileNotFoundError: if it does not exist.
        :raises Untrusted: if the path leads through a user's link, or the check fails.
        """
        folder = cls(enter(path, ownership), path, ownership, tag)
        return folder._checked(ROOT[0]) if checked else folder

    @classmethod
    def of(cls, path: str, ownership: Ownership = SYSTEM, follow: bool = True, tag: str = "") -> tuple[Folder, str]:
        """The folder around a path, of any owner, and the last name of the path; root's links at the end are followed."""
        descriptor, name = locate(path, ownership, follow)
        return cls(descriptor, path.rpartition("/")[0], ownership, tag), name

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def close(self) -> None:
        os.close(self.descriptor)

    # Folders in it

    def child(self, name: str, make: bool = True, mode: int = 0o700, owner: int = ROOT[0]) -> Folder:
        """The folder of this name, made if missing. Only root, or `owner`, may own it and write to it."""
        if make:
            self.make(name, mode)
        return self.enter(name)._checked(owner)

    def enter(self, name: str) -> Folder:
        """The folder of this name, of any owner."""
        try:
            descriptor = os.open(_single(name), FOLDER, dir_fd=self.descriptor)
        except NotADirectoryError as error:
            raise self._refused(name, self.status(name), "a folder") from error
        return Folder(descriptor, self._at(name), self.ownership, self.tag)

    def make(self, name: str, mode: int = 0o700, ids: Ids = ROOT) -> bool:
        """Make a folder, and return whether it was missing. An existing folder stays; a new one never has another owner or mode."""
        if self.status(name) is not None:
            return False
        try:
            if ids == ROOT and mode & ~0o755 == 0:
                os.mkdir(_single(name), mode, dir_fd=self.descriptor)
                self._own_new(name, mode, ids)
            else:
                self._make_beside(name, mode, ids)
        except FileExistsError:
            return False  # another node was faster
        return True

    def _make_beside(self, name: str, mode: int, ids: Ids) -> None:
        beside = self.beside(name)
        with contextlib.suppress(FileExistsError):  # the empty folder of a killed run
            os.mkdir(beside, 0o700, dir_fd=self.descriptor)
        self._own_new(beside, mode, ids)
        self.rename(beside, self, name)

    def _own_new(self, name: str, mode: int, ids: Ids) -> None:
        with self.enter(name) as made:
            made.names(0)  # a user who can rename here may have swapped it
            made.own(mode, ids)

    def adopt(self, mode: int, ids: Ids) -> Callable[[], None] | None:
        """The action that gives a folder this owner and mode; `None` if it has them. A folder of anybody else is refused."""
        status = os.fstat(self.descriptor)
        if (stat.S_IMODE(status.st_mode), self.ownership.of(status)) == (mode, ids):
            return None
        self._check_owner(ids[0])
        return lambda: self.own(mode, ids)

    def own(self, mode: int, ids: Ids) -> None:
        self.ownership.give(self.descriptor, ids)
        os.fchmod(self.descriptor, mode)

    # Files in it

    def status(self, name: str) -> os.stat_result | None:
        """The status of the entry itself; `None` if it does not exist."""
        try:
            return os.lstat(_single(name), dir_fd=self.descriptor)
        except FileNotFoundError:
            return None

    def open_file(self, name: str, limit: int | None = None, owners: Collection[int] | None = (0,)) -> BinaryIO:
        """A regular file with a single name, of one of these owners and of at most `limit` bytes."""
        try:
            descriptor = os.open(_single(name), READ, dir_fd=self.descriptor)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise self._refused(name, self.status(name), "a file") from error
        try:
            self._check_file(name, os.fstat(descriptor), limit, owners)
        except BaseException:
            os.close(descriptor)
            raise
        return os.fdopen(descriptor, "rb")

    def read(self, name: str, limit: int, owners: Collection[int] | None = (0,)) -> bytes:
        """The whole content; a file that grows beyond `limit` meanwhile is refused too."""
        with self.open_file(name, limit, owners) as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise Untrusted(f"{self._at(name)}: has more than {limit} bytes, the limit")
        return data

    def has(self, name: str, data: bytes, mode: int, ids: Ids) -> bool:
        """Whether a regular file with this content, mode and owner exists."""
        try:
            with self.open_file(name, len(data), None) as file:
                status = os.fstat(file.fileno())
                alike = stat.S_IMODE(status.st_mode) == mode and self.ownership.of(status) == ids
                return alike and file.read(len(data) + 1) == data
        except (FileNotFoundError, Untrusted):
            return False

    def write(self, name: str, data: bytes, mode: int = 0o600, ids: Ids = ROOT) -> None:
        """Replace a file, completely or not at all."""
        self.rename(self.put_beside(name, lambda file: _put(file, data), mode, ids), self, name)
        self.sync()

    def put_beside(self, name: str, fill: Callable[[BinaryIO], None], mode: int = 0o600, ids: Ids = ROOT) -> str:
        """Write a new file for later use as `name`, and return its temporary name. Only root can read it until it is complete."""
        beside = self.beside(name)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=self.descriptor)
        with os.fdopen(os.open(beside, MAKE, 0o600, dir_fd=self.descriptor), "wb") as file:
            try:
                fill(file)
                file.flush()
                self.ownership.give(file.fileno(), ids)
                os.fchmod(file.fileno(), mode)
                os.fsync(file.fileno())
            except OSError:
                os.unlink(beside, dir_fd=self.descriptor)
                raise
        return beside

    def link(self, name: str, new: str) -> bool:
        """Link a file to the name `new`, and return whether it was free: of several that try, exactly one gets it."""
        places = {"src_dir_fd": self.descriptor, "dst_dir_fd": self.descriptor}
        try:
            os.link(_single(name), _single(new), follow_symlinks=False, **places)
        except FileExistsError:
            return False
        return True

    def rename(self, name: str, folder: Folder, new: str) -> None:
        os.rename(_single(name), _single(new), src_dir_fd=self.descriptor, dst_dir_fd=folder.descriptor)

    def lock(self, name: str) -> BinaryIO:
        """A lock file for one process at a time, made if missing. The lock ends with the process."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.fdopen(os.open(_single(name), flags, 0o600, dir_fd=self.descriptor), "r+b", buffering=0)
        fcntl.flock(file, fcntl.LOCK_EX)
        return file

    def names(self, limit: int = MAX_NAMES) -> list[str]:
        """The sorted names in the folder; more than `limit` names are refused before all are read."""
        found = []
        with os.scandir(self.descriptor) as entries:
            for entry in entries:
                found.append(entry.name)
                if len(found) > limit:
                    raise Untrusted(f"{self.path}: has more than {limit} names, the limit; remove unneeded ones")
        return sorted(found)

    def remove(self, name: str) -> bool:
        """Remove a file, a link, or a folder with its content, and return whether it existed. A link's target stays."""
        status = self.status(name)
        if status is None:
            return False
        if not stat.S_ISDIR(status.st_mode):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=self.descriptor)
            return True
        with self.enter(name) as folder:
            folder.clear()
        os.rmdir(name, dir_fd=self.descriptor)
        return True

    def clear(self, depth: int = MAX_DEPTH) -> None:
        """Remove the content of the folder."""
        if depth == 0:
            raise Untrusted(f"{self.path}: lies more than {MAX_DEPTH} folders deep, so it is not removed; remove it by hand")
        for name in self.names():
            status = self.status(name)
            if status is not None and stat.S_ISDIR(status.st_mode):
                with self.enter(name) as folder:
                    folder.clear(depth - 1)
                os.rmdir(name, dir_fd=self.descriptor)
            elif status is not None:
                os.unlink(name, dir_fd=self.descriptor)

    def sync(self) -> None:
        """Flush a rename to disk, if the file system supports it."""
        with contextlib.suppress(OSError):
            os.fsync(self.descriptor)

    def beside(self, name: str) -> str:
        return f".{_single(name)}.{self.tag}"

    # Trust

    def check(self, owner: int = ROOT[0]) -> None:
        """Check that only root, or `owner`, can write here.

        :raises Untrusted: if others can.
        """
        self._check_owner(owner)
        mode = stat.S_IMODE(os.fstat(self.descriptor).st_mode)
        if mode & OTHERS_WRITE:
            raise Untrusted(
                f"{self.path}: has mode {mode:04o}, so others than {_person(owner)} may have put something there; "
                f"look through it, then chmod go-w {self.path}"
            )

    def _check_owner(self, owner: int) -> None:
        found = self.ownership.of(os.fstat(self.descriptor))[0]
        if found not in (ROOT[0], owner):
            raise Untrusted(
                f"{self.path}: belongs to uid {found}, it must belong to {_person(owner)}, so nothing is read or written there; "
                "find out why that user made it, and move it away"
            )

    def _checked(self, owner: int) -> Folder:
        try:
            self.check(owner)
        except BaseException:
            self.close()
            raise
        return self

    def _check_file(self, name: str, status: os.stat_result, limit: int | None, owners: Collection[int] | None) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise self._refused(name, status, "a file")
        if owners is not None and (self.ownership.of(status)[0] not in owners or status.st_nlink != 1):
            allowed = " or ".join(map(_person, owners))
            raise Untrusted(
                f"{self._at(name)}: belongs to uid {self.ownership.of(status)[0]} and has {status.st_nlink} names, it must belong "
                f"to {allowed} and have one, so it is not read; move it away"
            )
        if limit is not None and status.st_size > limit:
            raise Untrusted(f"{self._at(name)}: has {status.st_size} bytes, at most {limit} are read; move it away")

    def _refused(self, name: str, status: os.stat_result | None, wanted: str) -> Untrusted:
        kind = "gone" if status is None else KINDS.get(stat.S_IFMT(status.st_mode), "a device")
        owner = "" if status is None else f" of uid {self.ownership.of(status)[0]}"
        return Untrusted(f"{self._at(name)}: is {kind}{owner}, it must be {wanted}; move it away")

    def _at(self, name: str) -> str:
        return f"{self.path.rstrip('/')}/{name}"


def _single(name: str) -> str:
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise Untrusted(f"{name!r}: is not the name of one thing in a folder")
    return name


def _person(uid: int) -> str:
    return "root" if uid == ROOT[0] else f"root or uid {uid}"


def _put(file: BinaryIO, data: bytes) -> None:
    file.write(data)
