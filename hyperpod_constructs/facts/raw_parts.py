"""Parts of data from JSON or YAML, which may have any form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.facts.shapes import Unknown


def part(found: object, *path: str) -> Any:
    """The part at a path; `None` where there is none."""
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def mapping(found: object) -> Mapping[str, Any]:
    """A mapping; empty for another value."""
    return found if isinstance(found, Mapping) else {}


def items(found: object) -> list[Any]:
    """A list; empty for another value."""
    return list(found) if isinstance(found, list | tuple) else []


def text(found: object, unknown: Unknown) -> str | None:
    """A text that is known."""
    return found if isinstance(found, str) and not unknown(found) else None


def twice(names: list[str | None]) -> list[str]:
    """Names that are there more than once."""
    return [name for name, count in Counter(names).items() if name is not None and count > 1]
