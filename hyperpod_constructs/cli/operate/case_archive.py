"""An archive of files on its way to somebody else: written under another name until it is whole, for its owner alone."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import tarfile
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedRandom
from pathlib import Path

from hyperpod_constructs.cli.console import CliError

MEMBER = re.compile(r"[a-z-]{1,32}/?[A-Za-z0-9-]{0,128}\.(json|jsonl|log)")
"""The names of members. No other text reaches the archive's list of files."""

_SEGMENTS = 8


@dataclass(frozen=True, slots=True)
class Member:
    """A file in the archive. `bytes` and `sha256` are those of its content."""

    name: str
    lines: int
    bytes: int
    sha256: str


class Spool:
    """Lines on disk, the newest where they are more than `limit` bytes; no name leads to them."""

    def __init__(self, directory: Path, limit: int | None = None) -> None:
        self._directory, self._limit = directory, limit
        self._segments: deque[tuple[BufferedRandom, int]] = deque([(self._new(), 0)])
        self._bytes = 0
        self.lines = 0
        self.dropped = 0

    def fill(self, lines: Iterable[str]) -> bool:
        """Append all of these lines; true once they have come to their end."""
        for line in lines:
            self.add(line)
        return True

    def add(self, line: str) -> None:
        """Append a line."""
        data = line.encode("utf-8", "backslashreplace") + b"\n"
        file, lines = self._segments[-1]
        file.write(data)
        self._segments[-1] = file, lines + 1
        self._bytes += len(data)
        self.lines += 1
        if self._limit is not None:
            self._forget(self._limit)

    def _forget(self, limit: int) -> None:
        if self._segments[-1][0].tell() >= limit // _SEGMENTS:
            self._segments.append((self._new(), 0))
        while self._bytes > limit and len(self._segments) > 1:
            file, lines = self._segments.popleft()
            self._bytes -= file.tell()
            self.lines -= lines
            self.dropped += lines
            file.close()

    def content(self) -> BufferedRandom:
        """All that is kept, from its beginning."""
        whole = self._segments[0][0]
        while len(self._segments) > 1:
            file, _ = self._segments[1]
            file.seek(0)
            shutil.copyfileobj(file, whole)
            file.close()
            del self._segments[1]
        whole.seek(0)
        return whole

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *error: object) -> None:
        for file, _ in self._segments:
            file.close()

    def _new(self) -> BufferedRandom:
        return tempfile.TemporaryFile(dir=self._directory)


class CaseArchive:
    """A tar.gz file that is being written, with everything in one folder."""

    def __init__(self, tar: tarfile.TarFile, folder: str, seconds: int) -> None:
        self._tar, self._folder, self._seconds = tar, folder, seconds

    def add(self, name: str, spool: Spool) -> Member:
        """Append a file of this content."""
        if MEMBER.fullmatch(name) is None:
            raise ValueError(f"{name!r} is no name of a member")
        content = spool.content()
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
        info = tarfile.TarInfo(f"{self._folder}/{name}")
        info.size, info.mode, info.mtime = content.tell(), 0o600, self._seconds
        content.seek(0)
        self._tar.addfile(info, content)
        return Member(name, spool.lines, info.size, sha256)


@contextmanager
def writing(path: Path, *, folder: str, seconds: int, replace: bool) -> Iterator[CaseArchive]:
    """Write an archive. It gets its name at the end; after an error nothing is left.

    :param path: the archive, whose directory exists.
    :param folder: the one folder in it.
    :param seconds: the time of its members, since 1970.
    :param replace: whether a file of this name is replaced.
    :raises CliError: if a file of this name exists, and if the directory cannot be written to.
    """
    check(path, replace=replace)
    try:
        descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
    except OSError as error:
        raise CliError(f"{path.parent} cannot be written to: {error.strerror or error}") from error
    try:
        with (
            os.fdopen(descriptor, "wb") as file,
            gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=seconds) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            yield CaseArchive(tar, folder, seconds)
        _name(Path(draft), path, replace=replace)
    except OSError as error:
        raise CliError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        Path(draft).unlink(missing_ok=True)


def check(path: Path, *, replace: bool) -> None:
    """Check that an archive may be written here.

    :raises CliError: if not.
    """
    if not path.parent.is_dir():
        raise CliError(f"there is no directory {path.parent}: make it, or name another file with --file")
    if path.is_dir() or (os.path.lexists(path) and not replace):
        advice = "name a file in it" if path.is_dir() else "name another file with --file, or replace it with --force"
        raise CliError(f"{path} exists: {advice}")


def _name(draft: Path, path: Path, *, replace: bool) -> None:
    """Give the whole archive its name; a file that has taken it meanwhile stays."""
    if replace:
        draft.replace(path)
        return
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise CliError(f"{path} exists since a moment ago: name another file with --file") from None
    except OSError:  # A file system without links.
        check(path, replace=False)
        draft.replace(path)
