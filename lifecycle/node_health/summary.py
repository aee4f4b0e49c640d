"""One file per step on the shared directory: the picture of the whole step, from one node for all.

That node, the leader, reads every node's file. The others write their own and read the leader's, so a poll costs the same for any
size of the job. The leader is the node of the lowest live rank. If its file stops changing, another node leads, one at a time in
the order of their ranks. Of two leaders, the one with the lower rank stays.
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
    """The leader's summary; `rank` is the lowest rank of its node, and each write has a new `number`."""

    leader: str
    rank: int
    restart: int
    number: int
    world: int
    picture: Picture

    def __str__(self) -> str:
        return json.dumps({**self._asdict(), "picture": picture.to_json(self.picture)})


def parse(text: str) -> Summary | None:
    """The summary in a text; `None` if the text is malformed or has a value out of range."""
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
    """The leadership of a step, seen by one of its nodes.

    A summary is trusted while it changes, and for `patience` polls afterwards, because its leader may take dumps.
    """

    def __init__(self, node: str, patience: int) -> None:
        self._node = node
        self._patience = patience
        self._seen: tuple[str, int, int] | None = None
        self._silent = 0
        self._changed = False
        self._succeeds = False
        self.led = 0
        """The number of polls for which this node has led."""

    def follow(self, found: Summary | None, rank: int, turn: int) -> Summary | None:
        """The trusted summary; `None` if there is none, or if this node leads.

        :param turn: the node's place in the order of possible leaders.
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
        """Whether the picture is complete: a new leader first reads for some polls, until it trusts the other nodes' files."""
        return self.led >= (STALE_POLLS if self._succeeds else 1)

    def _listen(self, other: Summary | None) -> None:
        state = None if other is None else (other.leader, other.restart, other.number)
        changes = state is not None and self._seen is not None and state != self._seen
        self._seen = state or self._seen
        self._changed = self._changed or changes
        self._silent = 0 if changes else self._silent + 1
