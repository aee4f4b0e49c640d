"""Schedules and windows: `cron`, `rate` and `at`, time zones, weekly and daily windows.

Sources: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html,
https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html,
https://docs.aws.amazon.com/aws-backup/latest/devguide/creating-a-backup-plan.html,
https://docs.aws.amazon.com/secretsmanager/latest/userguide/rotate-secrets_schedule.html and
https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_UpgradeDBInstance.Maintenance.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from hyperpod_constructs.analysis.schema.violation import nearest
from hyperpod_constructs.analysis.texts.reading import HOLE, known, shown_text, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, rivals
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.facts.time_zones import time_zones
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Value, as_int, as_str

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_LENGTHS = {
    text: length
    for number, (name, length) in enumerate(zip(_MONTHS, (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31), strict=True), 1)
    for text in (name, str(number), f"{number:02}")
}
"""The most days of each month, by its name and its number."""
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_LONGEST = 256


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a cron expression."""

    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()
    special: str = ""
    """Further forms of an item, as a regular expression."""

    def mistake(self, text: str) -> str | None:
        """The first item that the field does not take."""
        return next((item for item in text.split(",") if not self._takes(item)), None)

    def _takes(self, item: str) -> bool:
        if self.special and re.fullmatch(self.special, item, re.IGNORECASE):
            return True
        span, slash, step = item.partition("/")
        if slash and (not step.isdecimal() or int(step) < 1):
            return False
        first, dash, last = span.partition("-")
        return span == "*" or (self._is_value(first) and (not dash or self._is_value(last)))

    def _is_value(self, text: str) -> bool:
        return (text.isdecimal() and self.least <= int(text) <= self.most) or text.upper() in self.names

    @property
    def words(self) -> str:
        names = f" or {self.names[0]} to {self.names[-1]}" if self.names else ""
        return f"{self.least} to {self.most}{names}"


_MINUTE, _HOUR = _Field("minutes", 0, 59), _Field("hours", 0, 23)
_DATE = _Field("day of month", 1, 31, special=r"\?|L(-\d{1,2})?|LW|(\d|[12]\d|3[01])W")
_MONTH = _Field("month", 1, 12, _MONTHS)
_DAY = _Field("day of week", 1, 7, _DAYS, rf"\?|L|([1-7]|{'|'.join(_DAYS)})L|([1-7]|{'|'.join(_DAYS)})#[1-5]")
_AWS = (_MINUTE, _HOUR, _DATE, _MONTH, _DAY, _Field("year", 1970, 2199))
_UNIX = (_MINUTE, _HOUR, _Field("day of month", 1, 31), _MONTH, _Field("day of week", 0, 7, _DAYS))
_UNITS = ("minute", "minutes", "hour", "hours", "day", "days")


@dataclass(frozen=True, slots=True)
class Schedule:
    """The schedules that a service takes.

    :param kinds: among `cron`, `rate` and `at`.
    :param units: the units of a rate.
    :param counted: 1 goes with `minute`, and 2 with `minutes`.
    :param seconds: a cron may have seconds before its minutes.
    """

    kinds: tuple[str, ...] = ("cron", "rate")
    units: tuple[str, ...] = _UNITS
    counted: bool = False
    seconds: bool = False

    @property
    def words(self) -> str:
        forms = {"cron": "cron(0 8 * * ? *)", "rate": f"rate(12 {self.units[-3]})", "at": "at(2027-01-31T08:00:00)"}
        return " or ".join(forms[kind] for kind in self.kinds)

    def judge(self, value: Value) -> Slips:
        """The mistakes in a schedule."""
        text = spelled(value)
        if text is None or not text or len(text) > _LONGEST or text.startswith(HOLE):
            return
        match = re.fullmatch(r"(\w+)\((.*)\)", text, re.DOTALL)
        if match is None:
            if HOLE not in text:
                yield Slip(f"the schedule {shown_text(text)} is none{_hint(text)}", self.words)
        elif match[1] not in self.kinds:
            yield Slip(f"the schedule {shown_text(text)} is of the kind {match[1]!r}, which is not taken here", self.words)
        else:
            yield from {"cron": self._cron, "rate": self._rate, "at": _at}[match[1]](match[2])

    def _cron(self, text: str) -> Slips:
        fields = text.split()
        if len(fields) == 7 and self.seconds:
            yield from _by_fields(fields, (_Field("seconds", 0, 59), *_AWS))
        elif len(fields) < 6 and HOLE in text:
            return
        elif len(fields) != 6:
            yield Slip(f"cron({text.replace(HOLE, '${?}')}) has {len(fields)} fields, not six{_from_unix(fields)}", _SIX)
        else:
            yield from _by_fields(fields, _AWS)
            yield from _days(fields[2], fields[4])
            yield from _dates(fields[2], fields[3])

    def _rate(self, text: str) -> Slips:
        if HOLE in text:
            return
        match = re.fullmatch(r"\s*(\d{1,9})\s+(\w+)\s*", text)
        allowed = f"rate(NUMBER UNIT), with a unit among {', '.join(self.units)}"
        if match is None or match[2] not in self.units:
            yield Slip(f"rate({text}) is no rate", allowed)
        elif int(match[1]) < 1:
            yield Slip(f"rate({text}) never comes: the number is at least 1", allowed)
        elif self.counted and (int(match[1]) == 1) is match[2].endswith("s"):
            unit = match[2].rstrip("s") + ("" if int(match[1]) == 1 else "s")
            yield Slip(f"rate({text}) has the wrong unit; write rate({int(match[1])} {unit})", "1 minute, 2 minutes and so on")


_SIX = "six fields: minutes, hours, day of month, month, day of week, year, such as cron(0 8 * * ? *)"


def _hint(text: str) -> str:
    fields = text.split()
    if len(fields) in (5, 6) and all(re.fullmatch(r"[\w*?,/#-]+", field) for field in fields):
        return f"; write cron({_translated(fields)})"
    return ""


def _translated(fields: list[str]) -> str:
    """A cron of Unix, with five fields, as one of AWS."""
    if len(fields) != 5:
        return " ".join(fields)
    minute, hour, date, month, day = fields
    return " ".join([minute, hour, "?" if day not in ("*", "?") else date, month, "?" if day == "*" else day, "*"])


def _from_unix(fields: list[str]) -> str:
    return f"; write cron({_translated(fields)})" if len(fields) == 5 and HOLE not in "".join(fields) else ""


def _by_fields(fields: list[str], grammar: tuple[_Field, ...]) -> Slips:
    for position, (text, field) in enumerate(zip(fields, grammar, strict=True), 1):
        wrong = None if HOLE in text else field.mistake(text)
        if wrong is not None:
            yield Slip(f"field {position} of the cron, {field.name}, has {wrong!r}", f"{field.name}: {field.words}")


def _days(date: str, day: str) -> Slips:
    if HOLE not in date + day and (date == "?") is (day == "?"):
        both = "both are '?'" if date == "?" else "neither is '?'"
        message = f"the day of month is {date!r} and the day of week {day!r}: {both}"
        yield Slip(message, "'?' in exactly one of the two, such as cron(0 8 ? * MON-FRI *) or cron(0 8 1 * ? *)")


def _dates(date: str, month: str) -> Slips:
    """Days of months that are all too short for them."""
    days, months = (text.upper().split(",") for text in (date, month))
    lengths = [_LENGTHS.get(one) for one in months]
    known_lengths = [one for one in lengths if one is not None]
    if len(known_lengths) == len(months) and all(one.isdecimal() and int(one) > max(known_lengths) for one in days):
        yield Slip(f"no day of month {date} is in the month {month}: the schedule never comes", "a day that a month has", dead=True)


def _at(text: str) -> Slips:
    if HOLE in text:
        return
    try:
        datetime.strptime(text, "%Y-%m-%dT%H:%M:%S")
        return
    except ValueError:
        yield Slip(f"at({text}) is no time", "at(yyyy-mm-ddThh:mm:ss), without a zone, such as at(2027-01-31T08:00:00)")


def unix_cron(value: Value) -> Slips:
    """A schedule of Auto Scaling: five fields, without `cron(...)`."""
    text = known(value)
    if text is None or len(text) > _LONGEST or text.startswith("@"):
        return
    fields = text.split()
    if len(fields) != 5:
        yield Slip(f"{text!r} has {len(fields)} fields, not five", "five fields of Unix's cron, such as 0 8 * * 1-5")
    else:
        yield from _by_fields(fields, _UNIX)
        yield from _dates(fields[2], fields[3]) if fields[4] == "*" else ()


_ROTATION = Schedule(units=("hour", "hours", "day", "days"))


def rotation(value: Value) -> Slips:
    """The schedule of a secret's rotation: full hours, and no more often than every four hours."""
    found = list(_ROTATION.judge(value))
    yield from found
    text = known(value)
    if text is None or found:
        return
    minute = text.removeprefix("cron(").split()[0]
    if text.startswith("cron(") and minute != "0":
        yield Slip(f"the minutes of {text} are {minute!r}", "0: a rotation begins on the hour, in a window")
    hours = re.fullmatch(r"rate\(\s*(\d+)\s+hours?\s*\)", text)
    if hours and int(hours[1]) < 4:
        yield Slip(f"{text} is too often", "at least 4 hours")


def time_zone(value: Value) -> Slips:
    """A time zone such as `Europe/Berlin`."""
    name = known(value)
    zones = time_zones() if name and len(name) <= _LONGEST_ZONE else ()
    if name and zones and name not in zones:
        near = _ABBREVIATIONS.get(name.upper()) or nearest(name, zones)
        meant = f"; the nearest is {near}" if near else ""
        yield Slip(f"no time zone is named {name!r}{meant}", "UTC, Europe/Berlin and so on")


_LONGEST_ZONE = 50
_ABBREVIATIONS: Mapping[str, str] = {
    "BST": "Europe/London",
    "CEST": "Europe/Berlin",
    "CST": "America/Chicago",
    "EDT": "America/New_York",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "PDT": "America/Los_Angeles",
    "PST": "America/Los_Angeles",
}


_CLOCK = r"([01]\d|2[0-3]):([0-5]\d)"
_WEEKLY = re.compile(rf"({'|'.join(_DAYS)}):{_CLOCK}-({'|'.join(_DAYS)}):{_CLOCK}", re.IGNORECASE)
_DAILY = re.compile(rf"{_CLOCK}-{_CLOCK}")
_DAY_MINUTES = 24 * 60
_WEEK_MINUTES = 7 * _DAY_MINUTES


def _weekly(text: str) -> tuple[int, int] | None:
    """Start in the week and length, in minutes."""
    match = _WEEKLY.fullmatch(text)
    if match is None:
        return None
    start, end = (_DAYS.index(match[at].upper()) * _DAY_MINUTES + int(match[at + 1]) * 60 + int(match[at + 2]) for at in (1, 4))
    return start, (end - start) % _WEEK_MINUTES


def _daily(text: str) -> tuple[int, int] | None:
    match = _DAILY.fullmatch(text)
    if match is None:
        return None
    start, end = int(match[1]) * 60 + int(match[2]), int(match[3]) * 60 + int(match[4])
    return start, (end - start) % _DAY_MINUTES


def weekly_window(value: Value, least: int = 30) -> Slips:
    """A window such as `sun:05:00-sun:06:00`.

    :param least: its shortest length in minutes.
    """
    return _window(value, _weekly(known(value) or ""), "ddd:hh:mm-ddd:hh:mm", "sun:05:00-sun:06:00", least)


def daily_window(value: Value) -> Slips:
    """A window such as `03:00-04:00`."""
    return _window(value, _daily(known(value) or ""), "hh:mm-hh:mm", "03:00-04:00", 30)


def _window(value: Value, window: tuple[int, int] | None, form: str, example: str, least: int) -> Slips:
    text = known(value)
    allowed = f"{form} in UTC, at least {least} minutes, such as {example}"
    if text and window is None:
        yield Slip(f"the window {text!r} is none", allowed)
    elif window is not None and window[1] < least:
        yield Slip(f"the window {text!r} has {window[1]} minutes", allowed)


def windows_apart(resource: Resource, daily: str = "PreferredBackupWindow", weekly: str = "PreferredMaintenanceWindow") -> Slips:
    """The windows of backups and of maintenance of a database have no minute in common."""
    backup, maintenance = (as_str(resource.get(name)) for name in (daily, weekly))
    day, week = _daily(backup or ""), _weekly(maintenance or "")
    if day is not None and week is not None and any(_overlap(day, week, number) for number in range(-1, 9)):
        message = f"the window of backups {backup} lies in that of maintenance {maintenance}"
        yield Slip(message, "windows without a minute in common", (daily,), backup)


def _overlap(day: tuple[int, int], week: tuple[int, int], number: int) -> bool:
    start = day[0] + number * _DAY_MINUTES
    return start < week[0] + week[1] and week[0] < start + day[1]


def flexible_window(resource: Resource) -> Slips:
    """A schedule's window has minutes if and only if it is flexible, and the schedule ends after it starts."""
    mode = as_str(resource.get("FlexibleTimeWindow", "Mode"))
    minutes = resource.get("FlexibleTimeWindow", "MaximumWindowInMinutes")
    path = ("FlexibleTimeWindow", "MaximumWindowInMinutes")
    if mode == "FLEXIBLE" and minutes is ABSENT:
        yield Slip("a window that is FLEXIBLE has no MaximumWindowInMinutes", "1 to 1440", path)
    if mode == "OFF" and as_int(minutes) is not None:
        yield Slip("a window that is OFF has MaximumWindowInMinutes", "no MaximumWindowInMinutes", path, minutes)
    start, end = (_time(resource.get(name)) for name in ("StartDate", "EndDate"))
    if start is not None and end is not None and end <= start:
        yield Slip("the schedule ends before it starts", "an EndDate after the StartDate", ("EndDate",), resource.get("EndDate"))


def canary(resource: Resource) -> Slips:
    """A run of a canary is over before the next one begins."""
    found = re.fullmatch(r"rate\((\d{1,4}) (minute|hour)s?\)", known(resource.get("Schedule", "Expression")) or "")
    seconds = as_int(resource.get("RunConfig", "TimeoutInSeconds"))
    every = 0 if found is None else int(found[1]) * (60 if found[2] == "minute" else 3600)
    if seconds is not None and 0 < every < seconds:
        message = f"a run may take {seconds} seconds, and begins each {every} seconds"
        yield Slip(message, f"at most {every} seconds", ("RunConfig", "TimeoutInSeconds"), seconds)


def _time(value: Value) -> datetime | None:
    try:
        return datetime.fromisoformat(known(value) or "").replace(tzinfo=None)
    except ValueError:
        return None


def rotation_rules(resource: Resource) -> Slips:
    """A rotation has days or a schedule, and a duration in hours."""
    rules = resource.get("RotationRules")
    if not isinstance(rules, Mapping):
        return
    if as_int(rules.get("AutomaticallyAfterDays", ABSENT)) is not None and as_str(rules.get("ScheduleExpression", ABSENT)):
        yield rivals("AutomaticallyAfterDays", "ScheduleExpression", rules["ScheduleExpression"], "RotationRules")
    duration = known(rules.get("Duration", ABSENT))
    if duration and not re.fullmatch(r"([1-9]|1\d|2[0-4])h", duration):
        yield Slip(f"the duration {duration!r} is none", "hours of one day, such as 3h", ("RotationRules", "Duration"), duration)


def backup_rules(resource: Resource) -> Iterator[Slip]:
    """Backups are started before they are completed, and kept in cold storage for 90 days."""
    plan = resource.get("BackupPlan", "BackupPlanRule")
    for index, rule in enumerate(plan) if isinstance(plan, tuple) else ():
        for slip in _backup_rule(rule if isinstance(rule, Mapping) else {}):
            yield slip.below("BackupPlan", "BackupPlanRule", index)


def _backup_rule(rule: Mapping[str, Value]) -> Slips:
    start, complete = (as_int(rule.get(name, ABSENT)) for name in ("StartWindowMinutes", "CompletionWindowMinutes"))
    if start is not None and start < 60:
        yield Slip(f"the window to start has {start} minutes", "at least 60", ("StartWindowMinutes",), start)
    if start is not None and complete is not None and complete < start + 60:
        message = f"the window to complete has {complete} minutes, and that to start {start}"
        yield Slip(message, f"at least {start + 60}", ("CompletionWindowMinutes",), complete)
    kept = rule.get("Lifecycle")
    cold, delete = (
        as_int(kept.get(name, ABSENT)) if isinstance(kept, Mapping) else None
        for name in ("MoveToColdStorageAfterDays", "DeleteAfterDays")
    )
    if cold is not None and delete is not None and 0 < delete < cold + 90:
        message = f"backups go to cold storage after {cold} days and are deleted after {delete}"
        yield Slip(message, f"at least {cold + 90} days: cold storage keeps them for 90", ("Lifecycle", "DeleteAfterDays"), delete)


JUDGES: Mapping[Language, Judge] = {
    Language.EVENT_SCHEDULE: Schedule(counted=True).judge,
    Language.SCHEDULE: Schedule(kinds=("cron", "rate", "at")).judge,
    Language.CRON: Schedule(kinds=("cron",)).judge,
    Language.CRON_OR_RATE: Schedule().judge,
    Language.SYSTEMS_MANAGER: Schedule(kinds=("cron", "rate", "at"), seconds=True).judge,
    Language.UNIX_CRON: unix_cron,
    Language.ROTATION: rotation,
    Language.ZONE: time_zone,
    Language.WEEKLY: weekly_window,
    Language.WEEKLY_HOUR: partial(weekly_window, least=60),
    Language.DAILY: daily_window,
}
WHOLES: Mapping[str, WholeJudge] = {
    "AWS::Backup::BackupPlan": backup_rules,
    "AWS::RDS::DBCluster": windows_apart,
    "AWS::RDS::DBInstance": windows_apart,
    "AWS::Scheduler::Schedule": flexible_window,
    "AWS::Synthetics::Canary": canary,
    "AWS::SecretsManager::RotationSchedule": rotation_rules,
}
