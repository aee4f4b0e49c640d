"""Points in time, as services write and take them."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(value: object) -> datetime:
    """A time in UTC, from seconds since 1970 or from a text by ISO 8601; UTC for a text without a zone.

    :raises ValueError: for anything else.
    """
    if isinstance(value, datetime):
        return _in_utc(value)
    try:
        return datetime.fromtimestamp(float(value), UTC)  # type: ignore[arg-type]  # what it does not take is no number
    except (OverflowError, OSError):
        raise ValueError(f"{value!r} is out of the range of times") from None
    except (TypeError, ValueError):
        return _in_utc(datetime.fromisoformat(value if isinstance(value, str) else ""))


def epoch(value: object) -> int | float:
    """A time in seconds since 1970, whole where it can be."""
    seconds = moment(value).timestamp()
    return int(seconds) if seconds.is_integer() else seconds


def iso(value: object) -> str:
    """A time by ISO 8601, with microseconds only where it has some."""
    return moment(value).replace(tzinfo=None).isoformat() + "Z"


def _in_utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
