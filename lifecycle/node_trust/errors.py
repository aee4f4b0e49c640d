"""The error for untrusted files and folders."""

from __future__ import annotations

import errno


class Untrusted(OSError):  # noqa: N818
    """A file or folder that root must not trust; the message names the path, the finding and the fix."""

    def __init__(self, message: str) -> None:
        super().__init__(errno.EPERM, message)

    def __str__(self) -> str:
        return str(self.strerror)
