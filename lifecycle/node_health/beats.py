"""Heartbeats as the node reads them. A beat counts only when its process is a live task of that very step.

The process is named by its id and its start time, so a file of an earlier step, an earlier incarnation of the job or an earlier
process with the same id is nobody's. The file must also belong to the user of the process.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from node_health.checks.context import process_start
from node_health.heartbeat import DIRECTORY, HEADER_BYTES
from node_health.slurm import Slurm
from node_health.system import System

STEP = re.compile(r"\d+\.(?:\d+|batch)")
LINE = re.compile(r"([RP]) +(\d+) +(\d+\.\d+) +(\d+\.\d+)\n")
NUMBERS = ("pid", "start", "rank", "world", "restart", "signal")


class Beat(NamedTuple):
    """``progress`` is twice the step, plus 1 before and plus 2 after its collective; ``busy`` are seconds between the two."""

    pid: int
    start: int
    rank: int
    world: int
    restart: int
    signal: int
    flight_pipe: str
    flight_dump: str
    paused: bool
    progress: int
    busy: float
    owner: int = 0


def parse(text: str) -> Beat | None:
    """The beat in a heartbeat file; ``None`` for a file of any other form."""
    line = LINE.match(text, HEADER_BYTES)
    try:
        header = json.loads(text[:HEADER_BYTES])
    except ValueError:
        return None
    if line is None or not isinstance(header, dict) or not all(_is_number(header.get(key)) for key in NUMBERS):
        return None
    return Beat(
        **{key: header[key] for key in NUMBERS},
        flight_pipe=str(header.get("flight_pipe", "")),
        flight_dump=str(header.get("flight_dump", "")),
        paused=line.group(1) == "P",
        progress=int(line.group(2)),
        busy=float(line.group(3)),
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int) and value >= 0


def live_steps(system: System, slurm: Slurm) -> dict[str, dict[int, Beat]]:
    """The beats of live tasks by step and rank. Folders of steps that have no task here any more are removed."""
    steps = {}
    for step in system.names(DIRECTORY):
        tasks = slurm.tasks(step) if STEP.fullmatch(step) else None
        if tasks is None:
            continue
        beats = _beats(system, f"{DIRECTORY}/{step}")
        found = {beat.rank: beat for beat in beats if beat.pid in tasks}
        if found:
            steps[step] = found
        elif not tasks and not beats:
            system.remove(f"{DIRECTORY}/{step}")
    return steps


def _beats(system: System, folder: str) -> list[Beat]:
    """The beats of processes that live, whosever they are."""
    beats = [_live(system, f"{folder}/{name}") for name in system.names(folder) if name.isdigit()]
    return [beat for beat in beats if beat is not None]


def _live(system: System, path: str) -> Beat | None:
    text, status = system.read(path), system.status(path)
    beat = None if text is None else parse(text)
    if beat is None or status is None or process_start(system, beat.pid) != beat.start:
        return None
    process = system.status(f"/proc/{beat.pid}")
    return beat._replace(owner=status.st_uid) if process is not None and process.st_uid == status.st_uid else None
