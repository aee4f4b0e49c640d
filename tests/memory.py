"""A temporary folder in memory, for tests that write thousands of small files or flush each of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")


@contextmanager
def folder_in_memory(otherwise: Path) -> Iterator[Path]:
    """A folder in memory, or the given one where programs cannot run in memory."""
    if not os.access(MEMORY, os.W_OK) or os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        yield otherwise
        return
    with tempfile.TemporaryDirectory(dir=str(MEMORY)) as made:
        yield Path(made)
