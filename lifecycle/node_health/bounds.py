"""Makes untrusted input harmless: JSON and numbers within limits, and text without effect on a terminal."""

from __future__ import annotations

import json
from typing import Any

TEXT = 64 * 1024
TIME = 2**40
COUNT = 2**62


def load(text: str, limit: int = TEXT) -> Any:
    """The JSON document in a text; `None` if the text is not JSON, too long or too deep."""
    if len(text) > limit:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def whole(value: object, highest: int, lowest: int = 0) -> int:
    """A whole number.

    :raises ValueError: if the value is not a whole number in the range.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
        raise ValueError(f"{str(value)[:40]!r}: must be a whole number from {lowest} to {highest}")
    return value


def real(value: object, highest: float) -> float:
    """A finite number of 0 or more.

    :raises ValueError: if the value is anything else.
    """
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= highest:
        raise ValueError("must be a finite number")
    return float(value)


def flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def string(value: object, limit: int) -> str:
    if not isinstance(value, str) or len(value) > limit or "\0" in value:
        raise ValueError(f"must be a text of at most {limit} characters")
    return value


def shown(text: str, limit: int = 1000) -> str:
    """One line without effect on a terminal: unprintable characters, such as line feeds, are escaped."""
    cut = text if len(text) <= limit else text[:limit] + "..."
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in cut)


def page(text: str, limit: int) -> str:
    """Lines, each made safe by `shown`."""
    return "\n".join(shown(line) for line in text[:limit].expandtabs().split("\n"))
