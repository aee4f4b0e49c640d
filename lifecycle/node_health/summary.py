"""One file per step on the shared directory: the picture of the whole step, drawn by one of its nodes for all.

That node, the leader, reads every node's file; the others write their own and read the leader's. So a poll of a node costs the
same however large the job is. The leader is the node of the lowest rank that lives. When its file stops changing, another node
leads, in the order of their ranks and one after the other; with two leaders the one of the lower rank stays.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from node_health import picture
from node_health.aggregate import NODE, STALE_POLLS
from node_health.beats import WORLD
from node_health.bounds import COUNT, load, string, whole
from node_health.picture import Picture

FOLDER = "summary"


class Summary(NamedTuple):
    """``rank`` is the lowest of the leader's node; each write has a new ``number``."""

    leader: str
    rank: int
    restart: int
    number: int
    world: int
    picture: Picture

    def __str__(self) -> str:
        return json.dumps({**self._asdict(), "picture": picture.to_json(self.picture)})


def parse(text: str) -> Summary | None:
    """The summary in that text; ``None`` for a text of any other form, and for one with a value out of its range."""
    loaded = load(text)
    try:
        world = whole(loaded["world"], WORLD, 1)
        return Summary(
            leader=string(loaded["leader"], NODE),
            rank=whole(loaded["rank"], world - 1),
            restart=whole(loaded["restart"], COUNT),
            number=whole(loaded["number"], COUNT),
            world=world,
            picture=picture.of_json(loaded["picture"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


class Leadership:
    """Who leads a step, as one of its nodes sees it.

    A summary is believed only while it is seen to change, and for ``patience`` polls after: its leader may take dumps.
    """

    def __init__(self, node: str, patience: int) -> None:
        self._node = node
        self._patience = patience
        self._seen: tuple[str, int, int] | None = None
        self._silent = 0
        self._changed = False
        self._succeeds = False
        self.led = 0
        """For how many polls this node has led."""

    def follow(self, found: Summary | None, rank: int, turn: int) -> Summary | None:
        """The summary to believe; ``None`` where there is none, or where this node, of that lowest rank, leads.

        ``turn`` is the node's place in the order of those who may lead.
        """
        self._succeeds = self._succeeds or (found is not None and self.led == 0)
        other = None if found is None or found.leader == self._node else found
        self._listen(other)
        believed = other if self._changed and self._silent < self._patience else None
        may_lead = self.led > 0 or turn == 0 or believed is not None or self._silent >= self._patience + turn
        leads = may_lead and (believed is None or believed.rank > rank)
        self.led = self.led + 1 if leads else 0
        return None if leads else believed

    @property
    def publishes(self) -> bool:
        """A leader after another first reads for some polls: its picture would lack the nodes that it does not believe yet."""
        return self.led >= (STALE_POLLS if self._succeeds else 1)

    def _listen(self, other: Summary | None) -> None:
        state = None if other is None else (other.leader, other.restart, other.number)
        changes = state is not None and self._seen is not None and state != self._seen
        self._seen = state or self._seen
        self._changed = self._changed or changes
        self._silent = 0 if changes else self._silent + 1
