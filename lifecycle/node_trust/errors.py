"""What is not believed."""

from __future__ import annotations

import errno


class Untrusted(OSError):  # noqa: N818
    """The message names the path, what was found there, and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(errno.EPERM, message)

    def __str__(self) -> str:
        return str(self.strerror)
