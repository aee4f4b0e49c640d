"""Names that surely are others, misspelled."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LONGEST = 255


def typo_of(name: str, names: Iterable[str]) -> str | None:
    """The name that was meant: the same but for case, dots and dashes, or with one letter wrong; `None` for a name of its own.

    Digits tell names apart: `node-1` is no misspelled `node-2`.
    """
    if not 0 < len(name) <= _LONGEST:
        return None
    known = list(names)
    same = [one for one in known if one != name and _plain(one) == _plain(name)]
    near = [one for one in known if len(name) > 4 and _letters_differ(name, one)]
    return next(iter([] if name in known else [*same, *near]), None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _letters_differ(one: str, other: str) -> bool:
    if re.findall(r"\d+", one) != re.findall(r"\d+", other):
        return False
    if len(one) == len(other):
        places = [index for index, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
        swapped = len(places) == 2 and one[places[0]] == other[places[1]] and one[places[1]] == other[places[0]]
        return len(places) == 1 or swapped
    short, long = sorted((one, other), key=len)
    return len(long) - len(short) == 1 and any(long[:index] + long[index + 1 :] == short for index in range(len(long)))
