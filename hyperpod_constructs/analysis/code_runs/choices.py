"""The ways through code: at a condition that nobody knows, one after the other goes on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

MOST_WAYS = 48
_MOST_WAITING = 512


class Choices:
    """The choices of one way after the other; sides that no way has taken yet come first."""

    def __init__(self) -> None:
        self._waiting: list[tuple[tuple[bool, ...], tuple[int, bool] | None]] = [((), None)]
        self._seen: set[tuple[int, bool]] = set()
        self._given: tuple[bool, ...] = ()
        self._made: list[bool] = []
        self.are_all = True
        """Whether no way was left out."""

    def ways(self) -> Iterator[None]:
        """Begin one way after the other; what follows it chooses by `side`."""
        for _ in range(MOST_WAYS):
            if not self._waiting:
                return
            place = next((place for place, (_, side) in enumerate(self._waiting) if side not in self._seen), 0)
            self._given, self._made = self._waiting.pop(place)[0], []
            yield
        self.are_all = self.are_all and not self._waiting

    def side(self, node: ast.AST) -> bool:
        """Whether this way takes a condition for true."""
        made = len(self._made)
        if made < len(self._given):
            taken = self._given[made]
        else:
            taken = (id(node), True) not in self._seen or (id(node), False) in self._seen
            if len(self._waiting) < _MOST_WAITING:
                self._waiting.append(((*self._made, not taken), (id(node), not taken)))
            else:
                self.are_all = False
        self._made.append(taken)
        self._seen.add((id(node), taken))
        return taken
