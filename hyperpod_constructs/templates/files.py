"""Safe access to untrusted files: regular files, of bounded size, inside the user's folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hyperpod_constructs.templates.errors import TemplateError

LARGEST_FILE = 20_000_000

_GIVEN: dict[Path, bytes] = {}


@contextmanager
def given(path: Path, content: bytes) -> Iterator[None]:
    """Let a path stand for this content meanwhile, such as `-` for standard input. No file of that name is read."""
    _GIVEN[path] = content
    try:
        yield
    finally:
        del _GIVEN[path]


def read_text(path: Path) -> str:
    """The text of a file.

    :raises TemplateError: if the file cannot be read, is not a regular file, is too large for a template, or is not UTF-8.
    """
    try:
        content = _GIVEN[path] if path in _GIVEN else _content(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TemplateError(f"cannot be read: {reason}", file=path) from error
    if len(content) > LARGEST_FILE:
        raise TemplateError(
            f"is larger than {LARGEST_FILE // 1_000_000} MB; CloudFormation accepts templates of up to 1 MB", file=path
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TemplateError("is not UTF-8", file=path, line=line) from error


def _content(path: Path) -> bytes:
    """The bytes of a regular file. It is opened first and checked then, so that no swap goes unseen; a pipe does not block."""
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise TemplateError("is a folder, a pipe or a device: write its content into a regular file first", file=path)
        with os.fdopen(opened, "rb", closefd=False) as file:
            return file.read(LARGEST_FILE + 1)
    finally:
        os.close(opened)


def is_file(path: Path) -> bool:
    """Whether the path is a regular file; false for an impossible name."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_directory(path: Path) -> bool:
    """Whether the path is a directory; false for an impossible name."""
    try:
        return path.is_dir()
    except OSError:
        return False


def inside(root: Path, path: Path, named_by: Path) -> Path:
    """The path, once it is sure to lead inside the root, also through links.

    :param named_by: the file that contains the path.
    :raises TemplateError: if the path leads elsewhere: a template must not choose which files of this machine are read.
    """
    try:
        leads_inside = path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError):  # a circle of links, or an impossible name
        leads_inside = False
    if leads_inside:
        return path
    raise TemplateError(
        f"names {str(path)!r}, which is not inside {root}: copy it there, or give it as a path of its own", file=named_by
    )
