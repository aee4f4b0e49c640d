"""Files that a stranger may have written or named: plain ones, of bounded size, and inside what the user gave."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from hyperpod_constructs.rules.template.errors import TemplateError

LARGEST_FILE = 20_000_000


def read_text(path: Path) -> str:
    """The text of a file.

    :raises TemplateError: if it cannot be read, is no plain file, is too large to be a template, or is not UTF-8.
    """
    try:
        content = _content(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TemplateError(f"cannot be read: {reason}", file=path) from error
    if len(content) > LARGEST_FILE:
        raise TemplateError(
            f"is larger than {LARGEST_FILE // 1_000_000} MB; CloudFormation takes templates of up to 1 MB", file=path
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TemplateError("is not UTF-8", file=path, line=line) from error


def _content(path: Path) -> bytes:
    """Opened before it is looked at, so that it is what was looked at; without waiting for the writer of a pipe."""
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise TemplateError("is no plain file but a folder, a pipe or a device: write its content into a file first", file=path)
        with os.fdopen(opened, "rb", closefd=False) as file:
            return file.read(LARGEST_FILE + 1)
    finally:
        os.close(opened)


def is_file(path: Path) -> bool:
    """Whether there is a plain file; no for a name that no file can have."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_directory(path: Path) -> bool:
    """Whether there is a directory; no for a name that no directory can have."""
    try:
        return path.is_dir()
    except OSError:
        return False


def inside(root: Path, path: Path, named_by: Path) -> Path:
    """The path, which must lead to something inside the root, also through links.

    :param named_by: the file in which the path is written.
    :raises TemplateError: if it leads elsewhere: what a template names must not decide which files of this machine are read.
    """
    try:
        leads_inside = path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError):  # a circle of links, or a name that no file can have
        leads_inside = False
    if leads_inside:
        return path
    raise TemplateError(
        f"names {str(path)!r}, which is not inside {root}: copy it there, or give it as a path of its own", file=named_by
    )
