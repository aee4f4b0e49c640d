"""Safe access to a service's answers: a member may be missing, null, of another type, or very long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from .redaction import one_line

# Most pages of one listing: 100,000 nodes.
PAGES = 1000

_NAME_CHARACTERS = 80


def text(answer: object, *path: str) -> str:
    """The text at a path of members, unchanged; empty without one."""
    found = _at(answer, path)
    return found if isinstance(found, str) else ""


def shown(answer: object, *path: str, otherwise: str = "unknown", limit: int = _NAME_CHARACTERS) -> str:
    """The text at a path as one short line without secrets, for a message."""
    return one_line(text(answer, *path), limit) or otherwise


def number(answer: object, *path: str) -> int | None:
    """The whole number at a path."""
    found = _at(answer, path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def moment(answer: object, *path: str) -> datetime | None:
    """The time at a path, if it has a time zone."""
    found = _at(answer, path)
    return found if isinstance(found, datetime) and found.tzinfo is not None else None


def structure(answer: object, *path: str) -> Mapping[str, Any]:
    """The structure at a path; empty without one."""
    found = _at(answer, path)
    return found if isinstance(found, Mapping) else {}


def structures(answer: object, *path: str) -> list[Mapping[str, Any]]:
    """The structures in the list at a path."""
    found = _at(answer, path)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def pages(ask: Callable[[Mapping[str, str]], Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """The pages of a listing, each with whether the listing is still sound.

    A repeated token, or a token after `PAGES` pages, would loop for ever: that page is the last and counts as unsound.
    """
    tokens = {""}
    more: dict[str, str] = {}
    while True:
        page = ask(more)
        token = text(page, "NextToken")
        if not token:
            yield page, True
            return
        if token in tokens or len(tokens) >= PAGES:
            yield page, False
            return
        yield page, True
        tokens.add(token)
        more = {"NextToken": token}


def _at(answer: object, path: tuple[str, ...]) -> object:
    for name in path:
        answer = answer.get(name) if isinstance(answer, Mapping) else None
    return answer
