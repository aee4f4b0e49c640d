"""Two mistakes at once: pairs of mistakes of a base that have nothing in common, always the same ones."""

from __future__ import annotations

from hashlib import sha256
from itertools import combinations, islice

from tests.unseen.cases import SETS, Mistake, bases, mistakes

Pair = tuple[Mistake, Mistake]


def pairs(base: str, most: int, of: tuple[str, ...] = SETS) -> list[Pair]:
    """Pairs of mistakes of a base that edit different resources and name different ones, as if drawn by lot.

    :param most: their number, at most.
    :param of: the sets of the mistakes; all by default.
    """
    known = [one for name in of for one in mistakes(name) if one.base == base]
    drawn = sorted(combinations(known, 2), key=_lot)
    return list(islice((pair for pair in drawn if _are_apart(*pair)), most))


def both(pair: Pair) -> Mistake:
    """A pair as one mistake."""
    one, other = pair
    return Mistake(
        id=f"{one.id}+{other.id}",
        kind="pair",
        base=one.base,
        edits=(*one.edits, *other.edits),
        why=f"{one.why}; {other.why}",
        source=one.source,
        names=one.names | other.names,
    )


def every_base() -> list[str]:
    """The bases of all sets."""
    return [base for of in SETS for base in bases(of)]


def _are_apart(one: Mistake, other: Mistake) -> bool:
    return _touched(one).isdisjoint(_touched(other)) and one.names.isdisjoint(other.names)


def _touched(mistake: Mistake) -> set[str]:
    return {name for edit in mistake.edits for name in edit.steps[:2] if name != edit.steps[0]} | mistake.names


def _lot(pair: Pair) -> str:
    return sha256("+".join(one.id for one in pair).encode()).hexdigest()
