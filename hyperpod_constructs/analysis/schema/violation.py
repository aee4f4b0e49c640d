"""Violations of a schema, and the words for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from hyperpod_constructs.templates.values import ABSENT, Value, shown

Path: TypeAlias = tuple[str | int, ...]

_LEAST_LETTERS = 4
_LEAST_WORDS = 3
_LONGEST = 80
_MOST_LISTED = 12
_WORD = re.compile(r"[A-Z][a-z0-9]*")


class Kind(StrEnum):
    """The kind of a mistake."""

    NAME = "name"
    """A property that the type does not have, or that only the service sets."""
    MISSING = "missing"
    TYPE = "type"
    VALUE = "value"
    """A value that the schema does not allow: word, form, length, range, number of items."""
    REFERENCE = "reference"
    """A reference to another kind of thing."""
    TOGETHER = "together"
    """Properties that exclude or need each other."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A value that the schema refuses, whatever is unknown. The path leads from the properties of the resource.

    :param message: the value and its mistake, in one sentence.
    :param allowed: the allowed values, in words.
    """

    kind: Kind
    path: Path
    message: str
    found: Value
    allowed: str
    doubts: tuple[Path, ...] = ()
    """Other places of which one may be the mistake instead: what excludes it, what a demand depends on, the name that was meant."""

    @property
    def is_choice(self) -> bool:
        """Whether one of several properties of an object is missing, whichever."""
        return self.kind is Kind.MISSING and bool(self.doubts) and all(len(one) == len(self.path) + 1 for one in self.doubts)

    @property
    def about(self) -> tuple[Path, ...]:
        """The places that the mistake is about: what is missing, or not taken together, is a mistake of the whole too."""
        whole = (self.path[:-1],) if self.kind in (Kind.MISSING, Kind.TOGETHER) and len(self.path) > 1 else ()
        beside = self.doubts if self.kind is Kind.TOGETHER else ()
        return (self.path, *whole, *beside)


def alike(found: Iterable[Violation]) -> Iterator[Violation]:
    """These violations, each mistake once.

    Items of one list with the same mistake are one, which names all of them; so are names of one object in another case. What is
    missing only because its name is misspelled is not said. Where one of several is missing and one of these is needed anyway, that
    one alone is said.
    """
    every = list(found)
    misspelled = meant_places(every)
    left = [one for one in every if not is_only_misspelled(one, misspelled)]
    missing = {one.path for one in left if one.kind is Kind.MISSING and not one.is_choice}
    groups: dict[object, list[Violation]] = {}
    for one in left:
        if not (one.is_choice and missing.intersection(one.doubts)):
            groups.setdefault(_mistake(one), []).append(one)
    for first, *others in groups.values():
        more = f"; so is {listed(_thing(one) for one in others)}" if others else ""
        yield replace(
            first, message=f"{first.message}{more}", doubts=(*first.doubts, *(path for one in others for path in one.doubts))
        )


def meant_places(found: Iterable[Violation]) -> set[Path]:
    """The places of the names that misspelled ones meant."""
    return {path for one in found if one.kind is Kind.NAME for path in one.doubts}


def is_only_misspelled(one: Violation, misspelled: set[Path]) -> bool:
    """Whether something is missing only because its name is misspelled: all that is needed, or one of several."""
    if one.kind is not Kind.MISSING:
        return False
    of_one = any(place in misspelled and place[:-1] == one.path for place in one.doubts)
    return of_one or misspelled.issuperset((one.path, *one.doubts))


def _mistake(one: Violation) -> object:
    """What violations of one mistake have in common."""
    if one.path and isinstance(one.path[-1], int):
        return one.path[:-1], one.kind, one.allowed
    of_case = (
        one.kind is Kind.NAME and one.doubts and one.doubts[0][-1:] != one.path[-1:] and _folded(one.doubts[0]) == _folded(one.path)
    )
    return (one.path[:-1], one.kind) if of_case else id(one)


def _folded(path: Path) -> str:
    return str(path[-1]).casefold()


def _thing(one: Violation) -> str:
    return str(one.path[-1]) if one.kind is Kind.NAME else quoted(one.found)


def label(path: Path) -> str:
    """The last name of a path, with the index of an item; of the resource as a whole, its properties."""
    if not path:
        return "the resource"
    return str(path[-1]) if isinstance(path[-1], str) else f"{label(path[:-1])}/{path[-1]}"


def quoted(value: Value) -> str:
    """A value as it is read in a sentence."""
    text = repr(shown(value)) if value is not ABSENT else "nothing"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def listed(names: Iterable[object]) -> str:
    """Some names; of many, the first."""
    every = [str(name) for name in names]
    more = f" and {len(every) - _MOST_LISTED} more" if len(every) > _MOST_LISTED else ""
    return ", ".join(every[:_MOST_LISTED]) + more


def meant(name: str, names: Iterable[object]) -> str:
    """The end of a sentence on a wrong name or number: the one that was probably meant, if there is one."""
    every = list(map(str, names))
    are_numbers = bool(every) and all(one.isdecimal() for one in (name, *every))
    near = min(every, key=lambda one: abs(int(one) - int(name))) if are_numbers else nearest(name, every)
    return f"; the nearest is {near}" if near else ""


def nearest(name: str, names: Iterable[str], least: float = 0.7) -> str | None:
    """The name that was probably meant: the same in another case, or one with few other letters.

    :param least: how alike they are at least, from 0 to 1.
    """
    by_case = {one.casefold(): one for one in names}
    import difflib  # only a mistake needs it

    near = difflib.get_close_matches(name.casefold(), by_case, n=1, cutoff=least)
    return by_case[near[0]] if near else None


def fuller(name: str, names: Iterable[str]) -> str | None:
    """The only name that has a word in it and more, such as `BackupPlanRule` for `Rules`; short words tell nothing."""
    word = name.casefold().removesuffix("s")
    found = [one for one in names if word in one.casefold()] if len(word) >= _LEAST_LETTERS else []
    return found[0] if len(found) == 1 else None


def reworded(name: str, names: Iterable[str]) -> str | None:
    """The only name with one other word among three or more, such as `DestinationSecurityGroupId` for `SourceSecurityGroupId`."""
    own = _words(name)
    found = [one for one in names if len(_words(one)) == len(own) and _differing(own, _words(one)) == 1]
    return found[0] if len(own) >= _LEAST_WORDS and len(found) == 1 else None


def _words(name: str) -> list[str]:
    return _WORD.findall(name)


def _differing(some: list[str], others: list[str]) -> int:
    return sum(one != other for one, other in zip(some, others, strict=True))
