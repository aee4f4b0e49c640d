"""What scripts of nodes have `sacctmgr` add to the accounting: qualities of service, accounts and users, with their limits.

Source: https://slurm.schedmd.com/sacctmgr.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.node_programs import programs_of
from hyperpod_constructs.facts.slurm_accounting import ENTITIES, PROGRAM, VERBS
from hyperpod_constructs.templates.values import Value, as_str

_SETTING = re.compile(r"([A-Za-z]+)([+-]?=)(.*)", re.DOTALL)
_CONDITIONS = ("where", "set")


class Added(NamedTuple):
    """What a command adds or changes.

    :param kind: such as `qos` or `user`.
    :param names: the names of what it adds; `None` for one that is not known.
    :param settings: by their names in small letters; `None` for a value that is not known.
    :param whole: whether all of its words are known, or at least their names.
    """

    kind: str
    names: tuple[str | None, ...]
    settings: tuple[tuple[str, str | None], ...]
    whole: bool
    by: str

    def get(self, *names: str) -> str | None:
        """The value of a setting under one of its names; empty if there is none, `None` if it is not known."""
        return next((value for name, value in self.settings if name in names), "")


def added(group: Group) -> tuple[Added, ...]:
    """What programs of the nodes of a group add."""
    return tuple(one for ran in programs_of(group).ran for one in _added(ran.words, ran.by))


def verb_of(words: Sequence[Value]) -> tuple[str, int]:
    """What `sacctmgr` is to do, and the place of that word; empty for another command."""
    texts = [as_str(word) or "" for word in words]
    if not texts or texts[0].rpartition("/")[2] != PROGRAM:
        return "", 0
    place = next((place for place, text in enumerate(texts[1:], 1) if not text.startswith("-")), 0)
    verb = texts[place].lower() if place else ""
    return (verb, place) if verb in VERBS else ("", 0)


def _added(words: Sequence[Value], by: str) -> Iterator[Added]:
    verb, place = verb_of(words)
    kind = ENTITIES.get((as_str(words[place + 1]) or "").lower()) if verb in VERBS and len(words) > place + 1 else None
    if kind is None:
        return
    names, settings, whole = list[str | None](), list[tuple[str, str | None]](), True
    for word in words[place + 2 :]:
        text = as_str(word)
        found = _SETTING.fullmatch(text if text is not None else _beginning(word))
        if found is not None:
            settings.append((found[1].lower(), found[3] if text is not None else None))
        elif text is None:
            whole, names = False, [*names, None]
        elif not text.startswith("-") and text.lower() not in _CONDITIONS:
            names += text.split(",")
    names += [one for key, value in settings if key in ("name", "names") for one in (value.split(",") if value else [None])]
    yield Added(kind, tuple(names), tuple(settings), whole, by)


def _beginning(word: Value) -> str:
    """The characters of a word before its first part that is not known."""
    parts = getattr(word, "parts", ())
    return parts[0] if parts and isinstance(parts[0], str) else ""
