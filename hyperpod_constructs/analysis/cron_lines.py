"""Lines of files for cron: when they start their commands, and what of a command cron hands to the shell.

>>> misread_time("61 3 * * *"), misread_time("*/5 0-6 * jan mon-fri")
(('61', 'minute', '0 to 59'), None)

Source: https://manpages.ubuntu.com/manpages/jammy/man5/crontab.5.html (as of 2026-12-01)
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hyperpod_constructs.analysis.shell import commands_of

NICKNAMES = ("@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_LONGEST = 1024
_PART = re.compile(r"(?:\*|(\w+)(?:-(\w+))?)(?:/(\d+))?")
_FORMAT = re.compile(r"(?:\+|(?:\s-[a-zA-Z]*[cf]|--format|--printf|-printf)[\s=]*)$")
"""The end of a command behind which a percent sign begins a format, as in `date +%F`."""


class _Field(NamedTuple):
    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")),
    _Field("day of the week", 0, 7, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)


def misread_time(time: str) -> tuple[str, str, str] | None:
    """The first field of a time that cron refuses, its name, and what is allowed there; `None` for a time that it takes."""
    if time.startswith("@"):
        return None if time in NICKNAMES else (time, "time", ", ".join(NICKNAMES))
    for text, field in zip(time.split(), _FIELDS, strict=False):
        if not all(_is_taken(part, field) for part in text.split(",")):
            names = f", or {field.names[0]} to {field.names[-1]}" if field.names else ""
            return text, field.name, f"{field.least} to {field.most}{names}"
    return None


def _is_taken(part: str, field: _Field) -> bool:
    found = _PART.fullmatch(part)
    ends = [_number(one, field) for one in found.groups()[:2] if one is not None] if found is not None else [None]
    known = [one for one in ends if one is not None]
    return len(known) == len(ends) and known == sorted(known) and (found is None or found[3] is None or int(found[3]) > 0)


def _number(word: str, field: _Field) -> int | None:
    if word.lower() in field.names:
        return field.names.index(word.lower()) + field.least
    return int(word) if word.isdigit() and field.least <= int(word) <= field.most else None


def cut_at_percent(command: str) -> str | None:
    """What cron leaves of a command before a percent sign that ends it in the middle; `None` for a command that stays whole.

    Behind the first percent sign without a backslash, cron takes the line for the input of the command.
    """
    place = re.search(r"(?<!\\)%", command[:_LONGEST])
    before = command[: place.start()] if place is not None else ""
    is_torn = place is not None and (commands_of(before) is None or _FORMAT.search(before) is not None)
    return before if is_torn else None
