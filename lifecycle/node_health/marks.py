"""The history of marks, in three places, because each can be lost: on the node (with the node), in the shared directory (with the
file system) and in slurmctld's text for the node (with the controller's state).

A new node does not know its predecessors, and slurmctld may have forgotten them. So it copies the history of its name from the
shared directory as soon as that answers. Until then, its history is unknown.
"""

from __future__ import annotations

import contextlib
import json
import re
from typing import NamedTuple

from node_health import note
from node_health.bounds import TIME, load, string, whole
from node_health.memory import DIRECTORY
from node_health.shared import Exchange, SharedDirectory
from node_health.slurm import Node
from node_health.system import System

LOCAL = f"{DIRECTORY}/marks"
FOLDER = "health/marks"
HOUR = 3600
DAY = 24 * HOUR
MOST = 100
LOCAL_LINE = re.compile(r"([0-9]{1,12}) (\S{1,40})")


class Mark(NamedTuple):
    time: int
    action: str


class History:
    """The known marks of all nodes, by node; `known` tells whether they include those of this node's predecessors."""

    def __init__(self, marks: dict[str, set[Mark]], known: bool = True) -> None:
        self._marks = marks
        self.known = known

    def since(self, node: str, seconds: int, now: float) -> list[Mark]:
        """The number of recent marks; a mark in the future, from a fast clock, counts as recent."""
        return sorted(mark for mark in self._marks.get(node, ()) if mark.time > now - seconds)

    def nodes(self) -> list[str]:
        return sorted(self._marks)


def gather(system: System, node: str, shared: SharedDirectory | None, nodes: list[Node]) -> History:
    """The marks from all three places; a place without an answer is left out."""
    kept = _local(system)
    marks: dict[str, set[Mark]] = {node: set(kept or ())}
    for other in nodes:
        told = note.parse(other.extra)
        marks.setdefault(other.name, set()).update(Mark(time, told.action) for time in told.marks)
    told_elsewhere = None if shared is None else shared.exchange(Exchange(read=(FOLDER,)))
    for name, text in (told_elsewhere or {}).items():
        marks.setdefault(name.rpartition("/")[2][: -len(".json")], set()).update(_parse(text))
    known = kept is not None or told_elsewhere is not None
    return History({name: _one_each(found) for name, found in marks.items()}, known)


def learn(system: System, node: str, shared: SharedDirectory) -> None:
    """Copy the history of the node's name from the shared directory onto the node, once."""
    if _local(system) is not None:
        return
    history = gather(system, node, shared, [])
    if history.known:
        with contextlib.suppress(OSError):
            system.write(LOCAL, "".join(_row(mark) for mark in history.since(node, DAY, system.now())))


def record(system: System, node: str, shared: SharedDirectory, mark: Mark, history: History) -> None:
    """Record a new mark on the node and in the shared directory; slurmctld gets it together with the mark itself."""
    with contextlib.suppress(OSError):
        system.append(LOCAL, _row(mark))
    recent = [*history.since(node, DAY, mark.time), mark]
    shared.exchange(Exchange(write={f"{FOLDER}/{node}.json": json.dumps(recent)}))


def _local(system: System) -> list[Mark] | None:
    """The node's own marks; `None` if its history is still unknown."""
    text = system.read(LOCAL)
    rows = [LOCAL_LINE.fullmatch(line) for line in (text or "").split("\n")]
    return None if text is None else [Mark(int(row.group(1)), row.group(2)) for row in rows if row is not None]


def _row(mark: Mark) -> str:
    return f"{mark.time} {mark.action}\n"


def _parse(text: str) -> list[Mark]:
    """The last marks in another node's file; none if the text is malformed."""
    try:
        return [Mark(whole(time, TIME), string(action, 40)) for time, action in load(text)[-MOST:]]
    except (ValueError, TypeError, KeyError):
        return []


def _one_each(marks: set[Mark]) -> set[Mark]:
    """Merge copies of a mark from several places: equal times are one mark."""
    return set({mark.time: mark for mark in sorted(marks)}.values())
