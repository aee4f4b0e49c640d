"""Another package's `hyperpod` before ours on the path."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_MOST_BYTES = 4096
_OURS = b"hyperpod_constructs"


def other_program(own: str) -> str | None:
    """The path of a `hyperpod` that a shell finds before this one, or `None`. Older AWS packages install one.

    :param own: the path of the running program.
    """
    try:
        found = shutil.which("hyperpod")
        if found is None or os.path.realpath(found) == os.path.realpath(own):
            return None
        with Path(found).open("rb") as program:
            return None if _OURS in program.read(_MOST_BYTES) else found
    except OSError:
        return None
