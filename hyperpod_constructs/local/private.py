"""Directories and files that only their owner can read: they hold keys, templates and code of functions."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def make_directory(path: Path) -> None:
    """Make a directory of mode 0700 with its parents, or take an existing one into it.

    :raises PermissionError: for one of another user, who could read and change what is put there.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = open_directory(path)
    try:
        os.fchmod(handle, 0o700)
    finally:
        os.close(handle)


def open_directory(path: Path) -> int:
    """Open a directory of ours.

    :raises PermissionError: for one of another user, and for another's link to one.
    """
    _require_ours(path, path.lstat())
    _require_ours(path, path.stat())
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _require_ours(path, os.fstat(handle))
    except PermissionError:
        os.close(handle)
        raise
    return handle


def open_file(path: Path) -> BinaryIO:
    """Open an empty file of mode 0600 for writing; one that was there is replaced, and a link is not followed."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb")


def open_existing(directory: Path, name: str, flags: int = os.O_RDONLY) -> int:
    """Open our file in our directory.

    :raises PermissionError: for another user's file, and for anything but a regular file.
    """
    inside = open_directory(directory)
    try:
        handle = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600, dir_fd=inside)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR):
            raise PermissionError(_NO_FILE.format(directory / name)) from None
        raise
    finally:
        os.close(inside)
    try:
        _require_file(directory / name, os.fstat(handle))
    except PermissionError:
        os.close(handle)
        raise
    return handle


_NO_FILE = "{} is no file but a link, a directory or the like, which the embedded aws did not make: remove it"


def _require_file(path: Path, status: os.stat_result) -> None:
    _require_ours(path, status)
    if not stat.S_ISREG(status.st_mode):
        raise PermissionError(_NO_FILE.format(path))


def _require_ours(path: Path, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise PermissionError(
            f"{path} belongs to user {status.st_uid}, not to you ({os.geteuid()}): work as that user, or remove it"
        )
