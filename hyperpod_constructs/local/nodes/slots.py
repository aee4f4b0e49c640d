"""Which rigs run on this machine: each takes a slot, with a network and a record of its own.

The kernel ends a lock with its process, so a slot is free as soon as its rig has ended, however it ended; what a rig that
crashed has left is undone by the next one, or by `hyperpod local stop` in its directory.
"""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from hyperpod_constructs.local.nodes import cgroups
from hyperpod_constructs.local.nodes.container import STATE
from hyperpod_constructs.local.nodes.errors import NodesError
from hyperpod_constructs.local.nodes.ledger import Ledger

SLOTS = 8
INOTIFY = "fs/inotify/max_user_instances"
INOTIFY_INSTANCES = 8192
PAUSE_SECONDS = 0.2


class Slot:
    """A place for one rig. Make it with `take`."""

    def __init__(self, number: int, lock: TextIO) -> None:
        self.number = number
        self.directory = _directory(number)
        self.ledger = _ledger(number)
        self._lock = lock

    @classmethod
    def take(cls, wait_seconds: float) -> Slot:
        """The first slot that is free.

        :raises NodesError: if none is free within `wait_seconds`.
        """
        STATE.mkdir(mode=0o700, parents=True, exist_ok=True)
        deadline = time.monotonic() + wait_seconds
        while (slot := cls._first()) is None:
            if time.monotonic() >= deadline:
                raise NodesError(f"{SLOTS} rigs run on this machine, each with a lock in {STATE}; end one of them first")
            time.sleep(PAUSE_SECONDS)
        return slot

    def leave(self) -> None:
        """Undoes what the rig has made; the last rig to leave undoes what all have shared."""
        self.ledger.undo()
        with _alone():
            self._lock.close()
            free = _free()
            _undo_shared(free)
            _close(free)

    @classmethod
    def _first(cls) -> Slot | None:
        with _alone():
            free = _free()
            for number in free:
                _ledger(number).undo()
            if not free:
                return None
            first = min(free)
            slot = cls(first, free.pop(first))
            _close(free)
            _settings().raise_sysctl(INOTIFY, INOTIFY_INSTANCES)
            return slot


def undo_crashed(directory: Path) -> int:
    """Undoes what crashed rigs with that directory have left on the machine, and counts them. A rig that runs is not touched.

    :raises NodesError: if there may be some and this process is not root.
    """
    try:
        if not STATE.exists():
            return 0
        with _alone():
            free = _free()
            crashed = [ledger for ledger in map(_ledger, free) if ledger.concerns(directory.resolve())]
            for ledger in crashed:
                ledger.undo()
            if crashed:
                _undo_shared(free)
            _close(free)
    except PermissionError as error:
        raise NodesError(f"{directory} may have virtual nodes that crashed, which root undoes: sudo hyperpod local stop") from error
    return len(crashed)


def _undo_shared(free: Mapping[int, TextIO]) -> None:
    """Undoes what all rigs have in common, once none is left."""
    if len(free) == SLOTS:
        cgroups.remove_parent()
        _settings().undo()


def _ledger(number: int) -> Ledger:
    return Ledger(_directory(number) / "made")


def _directory(number: int) -> Path:
    return STATE / str(number)


def _settings() -> Ledger:
    return Ledger(STATE / "settings")


def _free() -> dict[int, TextIO]:
    """The slots that no rig has, locked."""
    free: dict[int, TextIO] = {}
    for number in range(SLOTS):
        _directory(number).mkdir(exist_ok=True)
        lock = (_directory(number) / "lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
        else:
            free[number] = lock
    return free


def _close(locks: dict[int, TextIO]) -> None:
    for lock in locks.values():
        lock.close()


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """One process at a time looks at the slots."""
    with (STATE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
