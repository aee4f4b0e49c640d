"""Moments as people write them: some time ago, or a date."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from hyperpod_constructs.cli.console import CliError

_AGO = re.compile(r"([1-9][0-9]{0,5})([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
EXAMPLES = "30m, 2h, 3d, 2026-11-23 or 2026-11-23T10:00 (UTC)"


def moment(text: str, now: datetime | None = None) -> datetime:
    """The moment, in UTC.

    :param now: the present; the clock's unless given.
    :raises CliError: for a text that is no moment.
    """
    found = _AGO.fullmatch(text)
    try:
        if found is not None:
            return (now or datetime.now(UTC)) - timedelta(**{_UNITS[found[2]]: int(found[1])})
        given = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise CliError(f"--since {text}: write a time such as {EXAMPLES}") from None
    return given if given.tzinfo is not None else given.replace(tzinfo=UTC)
