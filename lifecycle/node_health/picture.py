"""The picture of a whole step in a few words: its progress, its stragglers, and whether all dumps are taken. It is pure."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple, Sequence

from node_health.aggregate import BUSY, NODE, Aggregate
from node_health.beats import RANKS_PER_NODE, WORLD
from node_health.bounds import flag, real, shown, string, whole
from node_health.hang import Place, Verdict, culprit, stragglers

SLOW = 16
WORDS = 1000
DIGEST = 64


class Slow(NamedTuple):
    """A rank that computes for much longer than the others, with its node and its seconds."""

    rank: int
    node: str
    busy: float

    def __str__(self) -> str:
        return f"rank {self.rank} on {self.node} {self.busy:.3f} s"


class Picture(NamedTuple):
    """The picture of a step.

    :param digest: a value that changes whenever a rank moves, appears or disappears.
    :param dumped: whether every node except the culprit's has its dumps.
    """

    digest: str
    paused: bool
    verdict: Verdict
    dumped: bool
    slow: tuple[Slow, ...]


def draw(aggregates: Sequence[Aggregate], world: int) -> Picture:
    """The picture from the nodes' files; if several claim a rank, the last file counts."""
    places = {rank: place for found in aggregates for rank, place in found.ranks.items()}
    verdict = _brief(culprit(places, world))
    dumped = all(found.dumped for found in aggregates if found.node != verdict.node)
    slow = tuple(Slow(rank, places[rank].node, places[rank].busy) for rank in stragglers(places)[:SLOW])
    return Picture(_digest(places), any(place.paused for place in places.values()), verdict, dumped, slow)


def _brief(verdict: Verdict) -> Verdict:
    """The verdict in brief. It lists ranks for a known culprit only; for an unknown one, they could be all ranks."""
    return verdict._replace(ranks=() if verdict.node is None else verdict.ranks, why=verdict.why[:WORDS])


def _digest(places: dict[int, Place]) -> str:
    seen = ";".join(f"{rank},{place.progress},{place.paused}" for rank, place in sorted(places.items()))
    return hashlib.sha256(seen.encode()).hexdigest()


def to_json(picture: Picture) -> dict[str, Any]:
    return {**picture._asdict(), "verdict": picture.verdict._asdict()}


def of_json(loaded: Any) -> Picture:
    """The picture in a parsed document.

    :raises ValueError, KeyError, TypeError: if the document is malformed.
    """
    verdict, slow = loaded["verdict"], loaded["slow"]
    whole(len(verdict["ranks"]), RANKS_PER_NODE)
    whole(len(slow), SLOW)
    node = None if verdict["node"] is None else string(verdict["node"], NODE)
    ranks = tuple(whole(rank, WORLD) for rank in verdict["ranks"])
    return Picture(
        digest=string(loaded["digest"], DIGEST),
        paused=flag(loaded["paused"]),
        verdict=Verdict(node, ranks, shown(string(verdict["why"], WORDS))),
        dumped=flag(loaded["dumped"]),
        slow=tuple(Slow(whole(rank, WORLD), shown(string(name, NODE)), real(busy, BUSY)) for rank, name, busy in slow),
    )
