"""What an update changes: properties and tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_MISSING = object()


def changed(old: Any, new: Any, path: Iterable[str]) -> bool:
    """Whether a property differs between two sets of properties; a path through a list counts as the list.

    What has appeared, or is gone, brings only what it has: the parts that it lacks are as before.
    """
    for part in path:
        if not all(side is _MISSING or isinstance(side, dict) for side in (old, new)):
            break
        old, new = (side if side is _MISSING else dict.get(side, part, _MISSING) for side in (old, new))
    return bool(old != new)


def listed(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Tags as requests and answers have them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def mapped(tags: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Tags by key."""
    return {tag["Key"]: tag["Value"] for tag in tags}


def tag_changes(old: Iterable[Mapping[str, str]], new: Iterable[Mapping[str, str]]) -> tuple[list[dict[str, str]], list[str]]:
    """The tags to set, and the keys to remove."""
    before, after = mapped(old), mapped(new)
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    return listed(changed), [key for key in before if key not in after]
