"""Directories and files that nobody but their owner can read: they hold keys, templates and code of functions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO


def make_directory(path: Path) -> None:
    """Make a directory of mode 0700 with its parents, or take an existing one into it.

    Raises PermissionError for one of another user, who could read and change what is put there.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        owner = os.fstat(handle).st_uid
        if owner != os.geteuid():
            raise PermissionError(f"{path} belongs to user {owner}, not to you ({os.geteuid()}): work as that user, or remove it")
        os.fchmod(handle, 0o700)
    finally:
        os.close(handle)


def open_file(path: Path) -> BinaryIO:
    """Open an empty file of mode 0600 for writing; one that was there is replaced, and a link is not followed."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb")
