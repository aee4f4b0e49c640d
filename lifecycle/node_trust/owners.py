"""The owners of files. Root asks the kernel; a program without root, in its own folder, treats everything as root's."""

from __future__ import annotations

import os
from typing import Tuple

Ids = Tuple[int, int]
ROOT: Ids = (0, 0)


class Ownership:
    """The owners of files; tests without root replace it."""

    def of(self, status: os.stat_result) -> Ids:
        return status.st_uid, status.st_gid

    def give(self, descriptor: int, ids: Ids) -> None:
        os.fchown(descriptor, *ids)


class Unowned(Ownership):
    """The owners below a root folder of a test: everything there counts as the superuser's."""

    def of(self, status: os.stat_result) -> Ids:
        return ROOT

    def give(self, descriptor: int, ids: Ids) -> None:
        return
