"""The arguments of a program that reads them by `argparse`, which itself takes them apart here; nothing of the program runs.

Source: https://docs.python.org/3/library/argparse.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from hyperpod_constructs.analysis.code_runs.things import UNKNOWN_OPTION, Arguments, Parser, Thing
from hyperpod_constructs.templates.values import UNKNOWN

_KEYWORDS: Mapping[str, type | tuple[type, ...]] = {"action": str, "dest": str, "nargs": (str, int), "required": bool}
"""Keywords that decide what an argument takes, with the types of their values."""
_FREE = ("choices", "default", "help", "metavar", "type")
"""Keywords that decide nothing about that."""
_ACTIONS = ("append", "count", "store", "store_false", "store_true")
_MARK, _MOST = "\ue100", 100


class RefusedError(Exception):
    """Arguments that the program does not take, in the words of `argparse`."""


def add(parser: Parser, names: Sequence[Thing], keywords: Mapping[str, Thing]) -> None:
    """Add an argument; a parser is not known any more by one whose form is not."""
    known = {name: one for name, one in keywords.items() if name not in _FREE}
    is_form = all(name in _KEYWORDS and isinstance(one, _KEYWORDS[name]) for name, one in known.items())
    is_named = names and all(isinstance(name, str) for name in names) and known.get("action", "store") in _ACTIONS
    parser.form.append((tuple(names), known) if is_form and is_named and len(parser.form) < _MOST else UNKNOWN_OPTION)


def parsed(parser: Parser, words: Sequence[Thing]) -> Thing:
    """The arguments by their names; unknown for a parser or an option that is not known.

    :raises RefusedError: if the program does not take them.
    """
    import argparse  # few templates have a program

    class Own(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            raise RefusedError(message)

    own = Own(add_help=False)
    if UNKNOWN_OPTION in parser.form:
        return UNKNOWN
    try:
        for names, keywords in parser.form:
            own.add_argument(*names, **keywords)
        given = own.parse_args([one if isinstance(one, str) else f"{_MARK}{place}" for place, one in enumerate(words)])
    except (argparse.ArgumentError, TypeError, ValueError):
        return UNKNOWN
    return Arguments({name: _thing(one, words) for name, one in vars(given).items() if isinstance(one, str)})


def _thing(value: str, words: Sequence[Thing]) -> Thing:
    """A word, also one that is not known and was marked; one with a mark inside is not known."""
    place = value.removeprefix(_MARK)
    return value if _MARK not in value else words[int(place)] if place.isdigit() else UNKNOWN
