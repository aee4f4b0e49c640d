"""Archives of the node's files: regular files only, of bounded size when packed and unpacked."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Sequence
from contextlib import ExitStack
from typing import IO, BinaryIO, Callable, ContextManager

from node_trust.errors import Untrusted
from node_trust.folder import Folder
from node_trust.tree import mode_of

Member = Callable[[], ContextManager[BinaryIO]]
MAX_MEMBERS = 100_000
MAX_BYTES = 16 * 1024**3
MAX_DEPTH = 32
MAX_HEADER = 64 * 1024


def pack(file: BinaryIO, members: Sequence[tuple[str, Member]]) -> None:
    """Pack regular files into a compressed archive. A file that its owner deletes meanwhile is left out."""
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1, format=tarfile.PAX_FORMAT) as archive:
        for name, opened in members:
            try:
                with opened() as source:
                    archive.addfile(_entry(name, source), source)
            except FileNotFoundError:
                continue


class Entry(tarfile.TarInfo):
    """A header of an archive, of bounded size: long names and other texts are read into memory."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Entry:
        entry = super().frombuf(buf, encoding, errors)
        if entry.type not in tarfile.REGULAR_TYPES and entry.size > MAX_HEADER:
            raise Untrusted(f"a header of {entry.size} bytes, at most {MAX_HEADER} are read")
        return entry


def unpack(file: BinaryIO, folder: Folder, limit: int = MAX_BYTES) -> None:
    """Unpack the regular files of an archive into a folder of root's. An archive that is too large for a cluster is refused."""
    members = 0
    with tarfile.open(fileobj=file, mode="r|gz", tarinfo=Entry) as archive:
        for entry in archive:
            members += 1
            limit -= max(entry.size, 0)
            if members > MAX_MEMBERS or limit < 0:
                raise Untrusted(f"{entry.name!r}: with it the archive has more than {MAX_MEMBERS} members or {MAX_BYTES} bytes")
            source = archive.extractfile(entry) if entry.isreg() else None
            parts = entry.name.split("/")
            if source is not None and not {"", ".", ".."} & {*parts} and len(parts) <= MAX_DEPTH:
                _put(folder, parts, source, entry.mode & 0o777)


def _entry(name: str, source: BinaryIO) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    source.seek(0, 2)
    entry.size = source.tell()
    source.seek(0)
    entry.mode = mode_of(source)
    return entry


def _put(folder: Folder, parts: list[str], source: IO[bytes], mode: int) -> None:
    with ExitStack() as stack:
        for part in parts[:-1]:
            folder = stack.enter_context(folder.child(part))
        beside = folder.put_beside(parts[-1], lambda file: shutil.copyfileobj(source, file), mode)
        folder.rename(beside, folder, parts[-1])
