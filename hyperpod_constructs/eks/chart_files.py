"""Files of a Helm chart in memory, read from folders and archives of strangers, and packed to the same bytes everywhere."""

from __future__ import annotations

import io
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

Files = Mapping[str, bytes]
"""Content by path, with slashes, below the chart's folder."""

MOST_FILES = 5_000
MOST_BYTES = 64 * 2**20
LONGEST_NAME = 512
_NAME = re.compile(r"[^\x00-\x1f\x7f\\/:*?\"<>|][^\x00-\x1f\x7f\\:*?\"<>|]*")
_SKIPPED = frozenset({".git", "__pycache__"})
_PLAIN = frozenset({tarfile.REGTYPE, tarfile.AREGTYPE})
_DATE = (1980, 1, 1, 0, 0, 0)
_MODE = (stat.S_IFREG | 0o644) << 16


class ChartError(ValueError):
    """A chart that cannot be used, with its place and the cause."""


class Gathered:
    """Files of one source, refused as soon as they are too many, too large or of a name that leaves the folder."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.files: dict[str, bytes] = {}
        self._left = MOST_BYTES
        self._count = 0
        self._folded: set[str] = set()

    def expect(self, name: str, size: int) -> None:
        """Check a file before it is read."""
        parts = name.split("/")
        if len(name) > LONGEST_NAME or not _NAME.fullmatch(name) or any(part in ("", ".", "..") for part in parts):
            raise ChartError(f"{self.place}: the file name {name[:80]!r} is not a plain path below the chart's folder")
        if self._count == MOST_FILES:
            raise ChartError(f"{self.place}: more than {MOST_FILES} files")
        if size > self._left:
            raise ChartError(f"{self.place}: more than {MOST_BYTES // 2**20} MiB")
        if name.casefold() in self._folded:
            raise ChartError(f"{self.place}: two files are called {name!r}, in letters of any case")

    def plan(self, name: str, size: int) -> None:
        """Count a file in without its content.

        :raises ChartError: beyond a limit.
        """
        self.expect(name, size)
        self._left -= size
        self._count += 1
        self._folded.add(name.casefold())

    def add(self, name: str, content: bytes) -> None:
        """Take a file.

        :raises ChartError: beyond a limit.
        """
        self.plan(name, len(content))
        self.files[name] = content


def read_folder(folder: Path) -> Files:
    """The files below a folder, without Git's own.

    :raises ChartError: for a link, a device or too much.
    """
    gathered = Gathered(str(folder))
    if not folder.is_dir():
        raise ChartError(f"{folder}: no such directory; give the one with the chart's Chart.yaml")
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - _SKIPPED)
        for name in sorted({*names, *(inner for inner in folders if (Path(place) / inner).is_symlink())}):
            path = Path(place) / name
            found = path.lstat()
            relative = path.relative_to(folder).as_posix()
            if not stat.S_ISREG(found.st_mode):
                raise ChartError(f"{folder}: {relative} is not a regular file; a chart has no links and no devices")
            gathered.expect(relative, found.st_size)
            gathered.add(relative, _read(path, found.st_size))
    return gathered.files


def _read(path: Path, size: int) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        return file.read(size)


def unpack(archive: bytes, place: str) -> Files:
    """The files of a chart's archive, below its one folder.

    :param place: the archive in words, for errors.
    :raises ChartError: for links, devices, paths out of the folder, several folders, too much, and damage.
    """
    gathered = Gathered(place)
    try:
        with tarfile.open(fileobj=io.BytesIO(_inflated(archive, place)), mode="r:") as tar:
            for member in _members(tar, place):
                gathered.expect(member.name, member.size)
                content = tar.extractfile(member)
                gathered.add(member.name, b"" if content is None else content.read())
    except (tarfile.TarError, zlib.error, EOFError, OSError, UnicodeError) as error:
        raise ChartError(f"{place}: not a whole archive of a chart ({error})") from error
    roots = {name.split("/")[0] for name in gathered.files}
    if len(roots) != 1 or any("/" not in name for name in gathered.files):
        raise ChartError(f"{place}: an archive of a chart has one folder, this one has {len(roots)}")
    return {name.split("/", 1)[1]: content for name, content in gathered.files.items()}


def _members(tar: tarfile.TarFile, place: str) -> Iterator[tarfile.TarInfo]:
    for count, member in enumerate(tar):
        if count > 2 * MOST_FILES:
            raise ChartError(f"{place}: more than {MOST_FILES} files")
        if member.isdir():
            continue
        if member.type not in _PLAIN or member.issparse():
            raise ChartError(f"{place}: {member.name[:80]!r} is a link, a device or has holes; a chart has plain files only")
        yield member


def _inflated(archive: bytes, place: str) -> bytes:
    """The archive without its compression, never more than the limit."""
    inflater = zlib.decompressobj(wbits=31)
    content = inflater.decompress(archive, 2 * MOST_BYTES)
    if inflater.unconsumed_tail:
        raise ChartError(f"{place}: more than {MOST_BYTES // 2**20} MiB")
    if not inflater.eof:
        raise ChartError(f"{place}: the archive is cut off")
    return content


def pack(files: Files) -> bytes:
    """A zip with the files at its root: the same bytes for the same content, whatever order and dates it came with.

    Nothing is compressed, as the bytes of a compressor depend on its version.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system, entry.external_attr = 3, _MODE
            archive.writestr(entry, files[name])
    return packed.getvalue()


def unpacked(packed: bytes, place: str) -> Files:
    """The files of a zip that `pack` made.

    :raises ChartError: for any other.
    """
    gathered = Gathered(place)
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            for entry in archive.infolist():
                gathered.expect(entry.filename, entry.file_size)
                if entry.compress_type != zipfile.ZIP_STORED:
                    raise ChartError(f"{place}: {entry.filename!r} is compressed, so this archive is not ours")
                gathered.add(entry.filename, archive.read(entry))
    except zipfile.BadZipFile as error:
        raise ChartError(f"{place}: not a whole archive ({error})") from error
    return gathered.files
