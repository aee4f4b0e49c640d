"""Small helpers for JSON values."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from typing import Any

MOST_DEPTH = 200
"""Levels of a body. Real objects have about 30; definitions of custom resources about 60."""


def depth_within(value: Any, limit: int = MOST_DEPTH) -> bool:
    """Whether a value has at most so many levels; found without recursion."""
    level = [value]
    for _ in range(limit):
        level = [
            child
            for parent in level
            if isinstance(parent, (dict, list))
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return True
    return False


def copy(value: Any) -> Any:
    """A deep copy of JSON."""
    if isinstance(value, dict):
        return {key: copy(item) for key, item in value.items()}
    return [copy(item) for item in value] if isinstance(value, list) else value


def compact(value: Any) -> bytes:
    """JSON without blanks."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")


def now() -> str:
    """The time as Kubernetes writes it."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def at(value: Any, *path: str) -> Any:
    """The value at a path of keys; None where there is none."""
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value
