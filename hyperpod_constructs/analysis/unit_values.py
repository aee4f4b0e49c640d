"""Values of options of units: what systemd takes, by their kind.

>>> mistake_in("LIMIT", "LimitMEMLOCK", "64KB"), mistake_in("LIMIT", "LimitMEMLOCK", "64K:infinity")
('infinity, or a number, maybe with K, M, G or T, as 64K', None)

Sources: https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html and
https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html (as of 2026-12-01)
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping

from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.unit_times import is_calendar, is_span
from hyperpod_constructs.facts.systemd import CALENDAR, OUTPUTS, SECTIONS, WORDS

_LIMITS = ("LimitCPU", "LimitRTTIME")
"""Limits of time."""
_SIZE = re.compile(r"infinity|\d+(?:\.\d+)?[KMGTPEB]?")
_LIMIT = re.compile(rf"(?:{_SIZE.pattern})(?::(?:{_SIZE.pattern}))?|[+-]\d+(?::[+-]\d+)?")
_MEMORY = re.compile(rf"(?:{_SIZE.pattern})|\d+(?:\.\d+)?%")
_SIGNAL = re.compile(
    r"(?:SIG)?(?:HUP|INT|QUIT|ILL|TRAP|ABRT|IOT|BUS|FPE|KILL|USR1|SEGV|USR2|PIPE|ALRM|TERM|STKFLT|CHLD|CLD|CONT|STOP|TSTP|TTIN|TTOU|"
    r"URG|XCPU|XFSZ|VTALRM|PROF|WINCH|IO|POLL|PWR|SYS|RTM(?:IN|AX)(?:[+-]\d+)?)|\d{1,2}"
)
_FOLDERS = ("CacheDirectory", "ConfigurationDirectory", "LogsDirectory", "RuntimeDirectory", "StateDirectory")
_NAMED = ("Also", "RequiredBy", "Unit", "WantedBy")
"""Options with units that systemd itself gives no kind."""
_WHOLE = "a path from the root"


def _worded(words: tuple[str, ...]) -> Callable[[str, str], str | None]:
    return lambda name, value: None if value in words or (words[0] == "yes" and value.lower() in words) else listed(words)


def _formed(pattern: str, allowed: str) -> Callable[[str, str], str | None]:
    form = re.compile(pattern)
    return lambda name, value: None if form.fullmatch(value) else allowed


def _span(name: str, value: str) -> str | None:
    return None if is_span(value) else "a span of time such as 90, 5min or 1h 30s"


def _timer(name: str, value: str) -> str | None:
    if name not in CALENDAR:
        return _span(name, value)
    return None if is_calendar(value) else "a time such as daily, *:0/15 or Mon..Fri *-*-* 02:30"


def _limit(name: str, value: str) -> str | None:
    if not name.startswith("Limit"):
        return None if _MEMORY.fullmatch(value) or " " in value else "infinity, a percentage, or bytes, maybe with K, M, G or T"
    if name in _LIMITS:
        return None if all(map(is_span, value.split(":", 1))) else "infinity, or a span of time"
    return None if _LIMIT.fullmatch(value) else "infinity, or a number, maybe with K, M, G or T, as 64K"


def _output(name: str, value: str) -> str | None:
    return None if value in OUTPUTS or value.startswith(tuple(one for one in OUTPUTS if one.endswith(":"))) else listed(OUTPUTS)


def _environment(name: str, value: str) -> str | None:
    try:
        words = shlex.split(value)
    except ValueError:
        return "a text whose quotes are closed"
    return None if all("=" in one for one in words) else 'NAME=value, and "NAME=value" for a value with spaces'


def _mode(name: str, value: str) -> str | None:
    return None if "Job" in name or re.fullmatch(r"[0-7]{1,5}", value) else "a mode such as 0022"


def _paths(name: str, value: str) -> str | None:
    is_whole = '"' in value or all(one.lstrip("-+").startswith(("/", "%")) for one in value.split())
    return None if is_whole else f"{_WHOLE}, or several"


def _units(name: str, value: str) -> str | None:
    is_named = all("%" in one or one.rpartition(".")[2] in SECTIONS for one in value.split())
    return None if is_named else f"names of units with their ends: {listed(f'.{one}' for one in SECTIONS)}"


_KINDS: Mapping[str, Callable[[str, str], str | None]] = {
    **{kind: _worded(words) for kind, words in WORDS.items()},
    "ENVIRON": _environment,
    "LIMIT": _limit,
    "MODE": _mode,
    "NICE": _formed(r"[+-]?(?:1?\d|-?20)", "-20 to 19"),
    "OOMSCOREADJUST": _formed(r"-?(?:\d{1,3}|1000)", "-1000 to 1000"),
    "OUTPUT": _output,
    "PATH": _formed(r"[-~/%].*", _WHOLE),
    "PATH [...]": _paths,
    "SECONDS": _span,
    "SIGNAL": _formed(_SIGNAL.pattern, "a signal such as SIGTERM"),
    "TIMER": _timer,
    "UNIT": _units,
    "UNIT [...]": _units,
    "UNSIGNED": _formed(r"\d+", "a number"),
}


def mistake_in(kind: str, name: str, value: str) -> str | None:
    """What is allowed in the place of a value that systemd refuses; `None` for one that it may take."""
    if name in _FOLDERS and any(one.startswith("/") for one in value.split()):
        return "a path below that of the kind, as slurm for /run/slurm"
    judge = _units if name in _NAMED else _KINDS.get(kind)
    return judge(name, value) if judge is not None and value else None
