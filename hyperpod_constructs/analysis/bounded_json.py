"""JSON in texts of a template, as deep as those who walk it can go.

Python's own limit is none: how deep it lets `json.loads` go differs between its releases, and any library may raise it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

DEEPEST = 100
"""The levels of lists and objects that are read."""


def read_json(
    text: str,
    *,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
    parse_constant: Callable[[str], Any] | None = None,
) -> Any:
    """The data of a text.

    :raises ValueError: the text is no JSON, which is a `json.JSONDecodeError`, or deeper than `DEEPEST`.
    """
    try:
        data = json.loads(text, object_pairs_hook=object_pairs_hook, parse_constant=parse_constant)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if text.count("[") + text.count("{") > DEEPEST and _is_deep(data):
        raise ValueError(_TOO_DEEP)
    return data


_TOO_DEEP = f"the text nests more than {DEEPEST} levels"


def _is_deep(data: object) -> bool:
    level = [data]
    for _ in range(DEEPEST + 1):
        level = [inner for one in level for inner in _inner(one)]
        if not level:
            return False
    return True


def _inner(data: object) -> list[object]:
    return list(data.values()) if isinstance(data, dict) else data if isinstance(data, list) else []
