"""One file per node and step on the shared directory, with the progress of the node's ranks.

Each write has a new number. Another node trusts the file only while that number changes. So a leftover of a dead node, an earlier
incarnation of the job or a predecessor of this node is never trusted, and no clocks are compared. Leftovers stay: they have a few
hundred bytes.
"""

from __future__ import annotations

import json
from typing import Any, Mapping, NamedTuple

from node_health.beats import PROGRESS, RANKS_PER_NODE, WORLD, Beat
from node_health.bounds import COUNT, flag, load, real, string, whole
from node_health.hang import Place

FOLDER = "heartbeat"
STALE_POLLS = 3
NODE = 255
BUSY = 1e15


class Aggregate(NamedTuple):
    node: str
    restart: int
    number: int
    world: int
    dumped: bool
    ranks: dict[int, Place]

    def __str__(self) -> str:
        ranks = {str(rank): [place.progress, round(place.busy, 6), place.paused] for rank, place in self.ranks.items()}
        return json.dumps({**self._asdict(), "ranks": ranks})


def of_beats(node: str, beats: Mapping[int, Beat], number: int, dumped: bool) -> Aggregate:
    """The aggregate of a node's live beats, all from one world."""
    first = next(iter(beats.values()))
    ranks = {rank: Place(node, beat.progress, beat.busy, beat.paused) for rank, beat in beats.items()}
    return Aggregate(node, first.restart, number, first.world, dumped, ranks)


def parse(text: str) -> Aggregate | None:
    """The aggregate in a text; `None` if the text is malformed or has a value out of range."""
    try:
        return _aggregate(load(text))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _aggregate(loaded: Any) -> Aggregate:
    node, world, entries = string(loaded["node"], NODE), whole(loaded["world"], WORLD, 1), loaded["ranks"]
    whole(len(entries), RANKS_PER_NODE)
    ranks = {
        whole(int(rank[:8]), world - 1): Place(node, whole(progress, PROGRESS), real(busy, BUSY), flag(paused))
        for rank, (progress, busy, paused) in entries.items()
    }
    numbers = {key: whole(loaded[key], COUNT) for key in ("restart", "number")}
    return Aggregate(node=node, **numbers, world=world, dumped=flag(loaded["dumped"]), ranks=ranks)


class Peers:
    """The other nodes' files of one step, as seen by polls. A node may be silent for `patience` polls while it takes dumps."""

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._seen: dict[str, tuple[int, int]] = {}
        self._fresh: dict[str, int] = {}
        self._poll = 0

    def update(self, aggregates: list[Aggregate]) -> list[Aggregate]:
        """The aggregates whose number changed within the last polls."""
        self._poll += 1
        for aggregate in aggregates:
            state = (aggregate.restart, aggregate.number)
            if aggregate.node in self._seen and self._seen[aggregate.node] != state:
                self._fresh[aggregate.node] = self._poll
            self._seen[aggregate.node] = state
        return [found for found in aggregates if self._poll - self._fresh.get(found.node, -self._patience) < self._patience]
