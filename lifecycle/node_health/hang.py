"""Finds the hanging rank from progress alone. It is pure, and compares no clocks of different nodes."""

from __future__ import annotations

from itertools import islice
from statistics import median
from typing import Mapping, NamedTuple

STRAGGLER_FACTOR = 1.5
STRAGGLER_SECONDS = 0.05
STRAGGLER_RANKS = 3
NAMED = 8


class Place(NamedTuple):
    """The node and the progress of a rank; `busy` is its computing time in a step, in seconds of its own clock."""

    node: str
    progress: int
    busy: float = 0.0
    paused: bool = False

    def __str__(self) -> str:
        if self.progress == 0:
            return "before its first beat"
        step, after = divmod(self.progress - 1, 2)
        return f"after the collective of step {step}" if after else f"in the collective of step {step}"


class Verdict(NamedTuple):
    """The judgement of a hang; `node` is the culprit's, or `None` if it is unknown."""

    node: str | None
    ranks: tuple[int, ...]
    why: str


def culprit(places: Mapping[int, Place], world: int) -> Verdict:
    """The culprit: the only node with ranks furthest behind, for which the others wait. Otherwise there is no culprit.

    Every rank in `places` is below `world`. The effort depends on the existing ranks and not on a job's claim of its world.
    """
    missing = world - len(places)
    if missing > 0:
        first = list(islice((rank for rank in range(world) if rank not in places), NAMED))
        return Verdict(None, (), f"culprit unknown: no live heartbeat of {_ranks(first, missing)} of {world}")
    progress = {place.progress for place in places.values()}
    behind = sorted(rank for rank, place in places.items() if place.progress == min(progress))
    where = places[behind[0]]
    if len(progress) == 1:
        return Verdict(None, (), f"culprit unknown: all ranks are {where}")
    nodes = sorted({places[rank].node for rank in behind})
    if len(nodes) > 1:
        return Verdict(None, tuple(behind), f"culprit unknown: {_ranks(behind)} of {len(nodes)} nodes lag, all {where}")
    return Verdict(nodes[0], tuple(behind), f"{_ranks(behind)} on {nodes[0]} lag {where}, the others wait")


def stragglers(places: Mapping[int, Place]) -> list[int]:
    """The ranks that compute for much longer than the median; the others wait for them in every step."""
    if len(places) < STRAGGLER_RANKS:
        return []
    usual = median(place.busy for place in places.values())
    limit = max(usual * STRAGGLER_FACTOR, usual + STRAGGLER_SECONDS)
    return sorted(rank for rank, place in places.items() if place.busy > limit)


def _ranks(ranks: list[int], count: int | None = None) -> str:
    """The first of these ranks by name, and the number of the others."""
    total = len(ranks) if count is None else count
    shown = ", ".join(str(rank) for rank in sorted(ranks)[:NAMED])
    more = f" and {total - NAMED} more" if total > NAMED else ""
    return f"rank {shown}" if total == 1 else f"ranks {shown}{more}"
