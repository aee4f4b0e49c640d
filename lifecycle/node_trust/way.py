"""The way to a folder: component by component, each below the handle of the previous one, and never through a user's link."""

from __future__ import annotations

import os
import stat

from node_trust.errors import Untrusted
from node_trust.owners import Ownership

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
MAX_LINKS = 16


def enter(path: str, ownership: Ownership) -> int:
    """A descriptor of a folder. A link is followed only if root made it in a folder where nobody else can write."""
    here, name = locate(f"{path}/.", ownership)
    return _step(here, name, path)


def locate(path: str, ownership: Ownership, follow: bool = True) -> tuple[int, str]:
    """A descriptor of the folder around the last component, and that name; root's links at the end are followed too."""
    if not path.startswith("/"):
        raise Untrusted(f"{path!r}: is not an absolute path")
    here, left, links = os.open("/", FOLDER), _parts(path), 0
    path = path[:-2] if path.endswith("/.") else path
    try:
        while True:
            name = left.pop(0) if left else "."
            target = None if name == "." or not (left or follow) else link_of_root(here, name, path, ownership)
            if target is not None:
                links += 1
                here = _turn(here, target, links, path)
                left = _parts(target) + left
            elif left:
                here = _step(here, name, path)
            else:
                return here, name
    except BaseException:
        os.close(here)
        raise


def _turn(here: int, target: str, links: int, path: str) -> int:
    """The rest of the way behind a link."""
    if links > MAX_LINKS:
        raise Untrusted(f"{path}: has more than {MAX_LINKS} links on its way")
    return _step(here, "/", path) if target.startswith("/") else here


def link_of_root(folder: int, name: str, path: str, ownership: Ownership) -> str | None:
    """The target of the link of this name; `None` if it is not a link."""
    try:
        status = os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return None
    if not stat.S_ISLNK(status.st_mode):
        return None
    above = os.fstat(folder)
    makers = {ownership.of(status)[0], ownership.of(above)[0]}
    if makers != {0} or above.st_mode & OTHERS_WRITE:
        raise Untrusted(
            f"{path}: {name!r} on its way is a link of uid {ownership.of(status)[0]} in a folder of uid {ownership.of(above)[0]} "
            f"with mode {stat.S_IMODE(above.st_mode):04o}, so it is not followed; put the folder itself there"
        )
    return os.readlink(name, dir_fd=folder)


def _step(here: int, name: str, path: str) -> int:
    try:
        below = os.open(name, FOLDER, dir_fd=here)
    except OSError as error:
        raise _named(error, path) from error
    os.close(here)
    return below


def _parts(path: str) -> list[str]:
    """The components of a path; a final dot stays, because it means the folder itself."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return [*parts, "."] if path.endswith("/.") else parts


def _named(error: OSError, path: str) -> OSError:
    """The same error with the whole path: the kernel's error names one component only."""
    return type(error)(error.errno, error.strerror, path)
