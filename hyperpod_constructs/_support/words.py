"""Names in sentences."""

from __future__ import annotations

from collections.abc import Iterable

MOST_NAMES = 12
"""Names that somebody reads in one sentence."""

_LONGEST_MESSAGE = 2000


def shortened(message: str) -> str:
    """A message that somebody can read; the end of a very long one is cut off."""
    cut = len(message) - _LONGEST_MESSAGE
    return message if cut <= 0 else f"{message[:_LONGEST_MESSAGE]}... ({cut:,} characters more)"


def enumerated(names: Iterable[str], most: int = MOST_NAMES) -> str:
    """Names with commas; of very many the first ones, and the number of the others."""
    return ", ".join(_shown(names, most))


def listed(names: Iterable[str], most: int = MOST_NAMES) -> str:
    """Names with commas and a last `and`; of very many the first ones, and the number of the others."""
    *first, last = _shown(names, most)
    return f"{', '.join(first)} and {last}" if first else last


def _shown(names: Iterable[str], most: int) -> list[str]:
    known = list(names)
    return known if len(known) <= most + 1 else [*known[:most], f"{len(known) - most:,} more"]
