"""The log of committed steps: one line each, on disk before the next step starts."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from common.files import append

BLOCK = 1 << 16


class SampleLog:
    """A log with one writer at a time. A step that is repeated after a restart has a second line with the same samples."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        drop_torn_line(path)
        self.path = path
        self.attempt = int(os.environ.get("SLURM_RESTART_COUNT", "0"))

    def append(self, step: int, samples: Sequence[int], loss: float, **details: Any) -> None:
        record = {
            "step": step,
            "samples": list(samples),
            "loss": loss,
            "time": time.time(),
            "pid": os.getpid(),
            "attempt": self.attempt,
        }
        append(self.path, json.dumps({**record, **details}))


def drop_torn_line(path: Path) -> None:
    """Remove the unfinished line of a dead writer, which is not committed."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - BLOCK)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                file.truncate(start + newline + 1)
                return
            end = start
        file.truncate(0)


def records(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):
                yield json.loads(line)


def progress(paths: Sequence[Path]) -> int:
    """The number of committed steps in the job's logs."""
    return max((record["step"] + 1 for path in paths for record in records(path)), default=0)


def merge(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """The steps in order, from the logs of several writers; of two lines for a step, the later one."""
    steps = {
        record["step"]: record for record in sorted((r for path in paths for r in records(path)), key=lambda r: float(r["time"]))
    }
    return [steps[step] for step in sorted(steps)]
