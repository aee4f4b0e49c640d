"""Takes the dumps of a hang and stores them: on the node for root, on the shared directory for the job's user, for nobody else.

A user's job causes the hang, so ranks, bytes and seconds are limited: no other step is watched meanwhile.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Mapping

from node_health.beats import Beat
from node_health.bounds import shown
from node_health.log import log
from node_health.shared import Exchange, SharedDirectory
from node_health.stacks import Dump, dump
from node_health.system import System

FOLDER = "hang"
LOCAL = "/var/log/hyperpod/hang"
LOCAL_KEPT = 20
PRIVATE = 0o600
WORKERS = 8
TAKING_SECONDS = 60.0
SHARING_SECONDS = 30.0
FLIGHTS_LIMIT = 64 * 1024 * 1024


class Room:
    """A limit on the characters of Flight Recorders: a recorder without room is dropped at once and not at the end."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._lock = Lock()

    def takes(self, size: int) -> bool:
        with self._lock:
            fits = size <= self._left
            self._left -= size if fits else 0
        return fits


def take(system: System, step: str, beats: Mapping[int, Beat]) -> dict[int, Dump]:
    """The dumps by rank; a missing dump has its reason instead."""
    deadline = system.monotonic() + TAKING_SECONDS
    room = Room(FLIGHTS_LIMIT)

    def one(beat: Beat) -> Dump:
        if system.monotonic() >= deadline:
            return Dump(f"rank {beat.rank}, process {beat.pid}: no time was left to take its dump\n")
        found = dump(system, step, beat)
        return found if room.takes(len(found.flight)) else found._replace(flight="")

    with ThreadPoolExecutor(max_workers=min(len(beats), WORKERS)) as pool:
        return dict(zip(beats, pool.map(one, beats.values())))


def keep(system: System, shared: SharedDirectory, folder: str, verdict: str, dumps: Mapping[int, Dump]) -> None:
    """Write the dumps below `folder`, whose name has the step, its attempt and the node."""
    texts = {"verdict.txt": shown(verdict) + "\n", **{f"rank-{rank}.txt": found.text for rank, found in dumps.items()}}
    try:
        for name, text in texts.items():
            system.write(f"{LOCAL}/{folder}/{name}", text, PRIVATE)
        _forget(system)
    except OSError as error:
        log(system, f"{LOCAL}/{folder}: {error.strerror}")
    if shared.configured and shared.exchange(_for_user(folder, texts, dumps), SHARING_SECONDS) is None:
        log(system, f"the dumps stay in {LOCAL}: the shared directory does not take them")


def _for_user(folder: str, texts: Mapping[str, str], dumps: Mapping[int, Dump]) -> Exchange:
    """The order that stores the dumps for the user of the step's ranks; for root if the user is unknown."""
    owner = next((found.owner for found in dumps.values() if found.owner is not None), None)
    encoded = {f"{FOLDER}/{folder}/rank-{rank}.flight": found.flight for rank, found in dumps.items() if found.flight}
    written = {f"{FOLDER}/{folder}/{name}": text for name, text in texts.items()}
    return Exchange(write=written, encoded=encoded, owner=None if owner is None else (owner.uid, owner.gid))


def _forget(system: System) -> None:
    """Remove the oldest dumps on the node, in the order of their job ids."""
    for name in sorted(system.names(LOCAL), key=_job)[:-LOCAL_KEPT]:
        system.remove(f"{LOCAL}/{name}")


def _job(name: str) -> tuple[int, str]:
    job = name.partition(".")[0]
    return int(job) if job.isdecimal() else 0, name
