"""Spans of time and times by the calendar, as systemd reads them.

>>> is_span("5min 20s"), is_span("5 minuts"), is_calendar("Mon..Fri *-*-* 02:30"), is_calendar("*/5 * * * *")
(True, False, True, False)

Source: https://www.freedesktop.org/software/systemd/man/latest/systemd.time.html (as of 2026-12-01)
"""

from __future__ import annotations

import re

from hyperpod_constructs.facts.systemd import SPANS
from hyperpod_constructs.facts.time_zones import time_zones

_LONGEST = 256
_SPAN = re.compile(r"\d+(?:\.\d+)?\s*([a-zA-Zµ]*)\s*")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORTHANDS = (
    *("minutely", "hourly", "daily", "weekly", "monthly", "quarterly", "semiannually", "semi-annually"),
    *("biannually", "bi-annually", "half-yearly", "yearly", "annually"),
)
_DATE, _TIME = re.compile(r"(?:([\d*.,/]+)-)?([\d*.,/]+)([-~])([\d*.,/]+)"), re.compile(r"([\d*.,/]+):([\d*.,/]+)(?::([\d*.,/]+))?")
_PART = re.compile(r"(?:\*|(\d+)(?:\.\.(\d+))?)(?:/\d+)?")
_SECONDS = re.compile(r"(\d+)\.\d+")
_DATES, _TIMES = ((1970, 9999), (1, 12), (1, 31)), ((0, 23), (0, 59), (0, 59))


def is_span(text: str) -> bool:
    """Whether a text is a span of time; one without a unit is in seconds."""
    place, found = 0, text.strip() == "infinity"
    while place < len(text) <= _LONGEST and (part := _SPAN.match(text, place)) is not None and part[1] in ("", *SPANS):
        place, found = part.end(), part.end() == len(text)
    return found


def is_calendar(text: str) -> bool:
    """Whether a text is a time by the calendar."""
    words = text.split() if len(text) <= _LONGEST else []
    if len(words) > 1 and (words[-1] == "UTC" or words[-1] in time_zones()):
        words.pop()
    if len(words) == 1 and (words[0].lower() in _SHORTHANDS or re.fullmatch(r"@\d+", words[0])):
        return True
    is_timed = bool(words)
    if words and _are_days(words[0]):
        words.pop(0)
    if words and _are_in(_DATE.fullmatch(words[0]), _DATES, (1, 2, 4)):
        words.pop(0)
    if words and _are_in(_TIME.fullmatch(words[0]), _TIMES, (1, 2, 3)):
        words.pop(0)
    return is_timed and not words


def _are_days(text: str) -> bool:
    names = [name for part in text.rstrip(",").lower().split(",") for name in re.split(r"\.\.|-", part)]
    return all(len(name) in (3, len(day)) and day.startswith(name) for name in names for day in [_day(name)])


def _day(name: str) -> str:
    return next((day for day in _DAYS if name and day.startswith(name)), "")


def _are_in(found: re.Match[str] | None, ranges: tuple[tuple[int, int], ...], places: tuple[int, ...]) -> bool:
    fields = [found[place] for place in places] if found is not None else []
    return bool(fields) and all(one is None or _is_in(one, *ends) for one, ends in zip(fields, ranges, strict=True))


def _is_in(text: str, least: int, most: int) -> bool:
    """Whether all parts of a field are in its range."""
    parts = [_PART.fullmatch(_SECONDS.sub(r"\1", part) if ".." not in part else part) for part in text.split(",")]
    numbers = [int(one) for part in parts if part is not None for one in part.groups() if one is not None]
    return None not in parts and all(least <= one <= most or (most == 9999 and one < 100) for one in numbers)
