"""Schedules of software updates: the form of cron that the guide describes, in UTC."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from hyperpod_constructs.facts import software_updates

_MONTHS = range(1, 13)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The times of an expression that has no mistake."""

    minute: int
    hour: int
    day_of_month: str
    months: frozenset[int]
    day_of_week: str
    year: int | None

    def after(self, second: float) -> float | None:
        """The first time after a second of the clock; `None` if there is none."""
        start = datetime.fromtimestamp(second, UTC)
        first, last = (start.year, software_updates.LAST_YEAR) if self.year is None else (self.year, self.year)
        for year in range(first, last + 1):
            for month in sorted(self.months):
                if (year, month) >= (start.year, start.month):
                    for day in self._days(year, month):
                        found = datetime(year, month, day, self.hour, self.minute, tzinfo=UTC).timestamp()
                        if found > second:
                            return found
        return None

    def _days(self, year: int, month: int) -> Iterator[int]:
        days = range(1, calendar.monthrange(year, month)[1] + 1)
        if self.day_of_month != "?":
            return (day for day in days if day == int(self.day_of_month))
        name, _, which = self.day_of_week.partition("#")
        wanted = _weekday(name)
        found = [day for day in days if calendar.weekday(year, month, day) == wanted]
        if which:
            found = found[int(which) - 1 : int(which)]
        elif len(name) > 1 and name.endswith("L"):
            found = found[-1:]
        return iter(found)


def schedule(expression: str) -> Schedule:
    """The schedule of an expression without a mistake."""
    minute, hour, day_of_month, month, day_of_week, year = software_updates.fields(expression)
    step = int(month.partition("/")[2] or 1)
    months = frozenset(_MONTHS[::step]) if month.startswith("*") else frozenset({int(month)})
    return Schedule(int(minute), int(hour), day_of_month, months, day_of_week, None if year == "*" else int(year))


def _weekday(name: str) -> int:
    """The day of a name or a number, 0 for Monday; `L` alone is the last day of the week."""
    if name in software_updates.WEEKDAYS:
        return software_updates.WEEKDAYS.index(name)
    return int(name.removesuffix("L") or len(software_updates.WEEKDAYS)) - 1
