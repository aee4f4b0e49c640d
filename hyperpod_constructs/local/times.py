"""Seconds of the clock as timestamps of requests and answers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def moment(second: float) -> datetime:
    """A second of the clock as the timestamp of an answer."""
    return datetime.fromtimestamp(second, UTC)


def second_of(value: Any) -> float | None:
    """A timestamp of a request as a second of the clock, whether it came as a number or as a datetime."""
    if value is None:
        return None
    return value.timestamp() if isinstance(value, datetime) else float(value)


def between(second: float, after: float | None, before: float | None) -> bool:
    """Whether a second lies after the one and before the other, as far as they are given."""
    return (after is None or second > after) and (before is None or second < before)
