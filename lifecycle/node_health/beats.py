"""Heartbeats, read by the node. A beat counts only if its process is a live task of the same step.

Process id and start time identify the process, so files of an earlier step, an earlier incarnation of the job or an earlier process
with the same id do not count. The file must also belong to the user of the process.

Heartbeats are untrusted. The node reads only the folders of steps that Slurm names, and no more files and bytes than a job needs. A
file with a value out of range does not count.
"""

from __future__ import annotations

import re
import signal
from typing import Any, Container, Mapping, NamedTuple

from node_health.bounds import load, string, whole
from node_health.checks.context import process_start
from node_health.heartbeat import DIRECTORY, DUMP_SIGNAL, HEADER_BYTES
from node_health.system import System, UserFile

STEP = re.compile(r"\d{1,10}\.(?:\d{1,10}|batch)")
RANK = re.compile(r"\d{1,7}")
LINE = re.compile(r"([RP]) +(\d{1,20}) +(\d{1,14}\.\d{6}) +\d{1,14}\.\d{6}\n")
FILE_BYTES = 4096
RANKS_PER_NODE = 512
WORLD = 131_072
HIGHEST = {"pid": 2**22, "start": 2**62, "restart": 2**31}
PROGRESS = 2**62
PATH = 512


class Beat(NamedTuple):
    """One heartbeat.

    :param progress: twice the step, plus 1 before and plus 2 after its collective.
    :param busy: the seconds that the rank computes in a step.
    :param owner: the owner of the file, whatever the file says.
    """

    pid: int
    start: int
    rank: int
    world: int
    restart: int
    flight_pipe: str
    flight_dump: str
    paused: bool
    progress: int
    busy: float
    owner: int = -1


def parse(text: str) -> Beat | None:
    """The beat in a heartbeat file; `None` if the file is malformed or has an impossible value."""
    line, header = LINE.fullmatch(text[HEADER_BYTES:]), load(text[:HEADER_BYTES])
    try:
        return None if line is None or not isinstance(header, dict) else _beat(header, line)
    except ValueError:
        return None


def _beat(header: dict[str, Any], line: re.Match[str]) -> Beat:
    number = signal.SIGRTMIN + DUMP_SIGNAL
    whole(header.get("signal"), number, number)
    world = whole(header.get("world"), WORLD, 1)
    return Beat(
        **{key: whole(header.get(key), highest) for key, highest in HIGHEST.items()},
        rank=whole(header.get("rank"), world - 1),
        world=world,
        flight_pipe=string(header.get("flight_pipe", ""), PATH),
        flight_dump=string(header.get("flight_dump", ""), PATH),
        paused=line.group(1) == "P",
        progress=whole(int(line.group(2)), PROGRESS),
        busy=float(line.group(3)),
    )


def of_step(system: System, step: str, tasks: Container[int]) -> dict[int, Beat]:
    """The beats of a step's live tasks by rank, from one world; of several worlds, the newest.

    A process counts as one rank. Otherwise a process that poses as several could report a hang alone.
    """
    beats = list({beat.pid: beat for beat in living(system, step) if beat.pid in tasks}.values())
    latest = max(beats, key=lambda beat: (beat.start, beat.rank), default=None)
    return {beat.rank: beat for beat in beats if latest and (beat.world, beat.restart) == (latest.world, latest.restart)}


def living(system: System, step: str) -> list[Beat]:
    """The beats of all live processes."""
    files = system.user_files(f"{DIRECTORY}/{step}", RANK, RANKS_PER_NODE, FILE_BYTES)
    beats = [_live(system, name, file) for name, file in files.items()]
    return [beat for beat in beats if beat is not None]


def _live(system: System, name: str, file: UserFile) -> Beat | None:
    beat = parse(file.text)
    if beat is None or int(name) != beat.rank or process_start(system, beat.pid) != beat.start:
        return None
    process = system.status(f"/proc/{beat.pid}")
    return beat._replace(owner=file.owner) if process is not None and process.st_uid == file.owner else None


class Leftovers:
    """Folders of steps without a task or a live process on this node; each is removed as its owner.

    A poll looks at a few only, because users can make any number.
    """

    SEEN = 1024
    LOOKED_AT = 8

    def __init__(self, system: System) -> None:
        self._system = system
        self._turn = 0

    def remove(self, steps: Mapping[str, object]) -> None:
        names = [name for name in self._system.user_names(DIRECTORY, self.SEEN) if STEP.fullmatch(name) and name not in steps]
        first = self._turn % max(1, len(names))
        for name in (names[first:] + names[:first])[: self.LOOKED_AT]:
            if not living(self._system, name):
                self._system.remove_as_owner(DIRECTORY, name)
        self._turn += self.LOOKED_AT
