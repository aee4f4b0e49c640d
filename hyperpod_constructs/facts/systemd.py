"""Units of systemd: the options of their sections, the words of their values, and the units that each machine has.

Sources: https://www.freedesktop.org/software/systemd/man/latest/systemd.directives.html,
https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html,
https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html,
https://www.freedesktop.org/software/systemd/man/latest/systemd.time.html and
https://www.freedesktop.org/software/systemd/man/latest/systemd.special.html (as of 2026-12-01)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from hyperpod_constructs.facts.data import rows

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "automount": ("Unit", "Automount", "Install"),
    "device": ("Unit", "Install"),
    "mount": ("Unit", "Mount", "Install"),
    "path": ("Unit", "Path", "Install"),
    "scope": ("Unit", "Scope"),
    "service": ("Unit", "Service", "Install"),
    "slice": ("Unit", "Slice", "Install"),
    "socket": ("Unit", "Socket", "Install"),
    "swap": ("Unit", "Swap", "Install"),
    "target": ("Unit", "Install"),
    "timer": ("Unit", "Timer", "Install"),
}
"""The sections of units, by the ends of their names."""

WORDS: Mapping[str, tuple[str, ...]] = {
    "BOOLEAN": ("yes", "no", "true", "false", "on", "off", "1", "0", "y", "n", "t", "f"),
    "KILLMODE": ("control-group", "mixed", "process", "none"),
    "SERVICERESTART": ("no", "on-success", "on-failure", "on-abnormal", "on-watchdog", "on-abort", "always"),
    "SERVICETYPE": ("simple", "exec", "forking", "oneshot", "dbus", "notify", "notify-reload", "idle"),
    "SERVICEEXITTYPE": ("main", "cgroup"),
    "TIMEOUTMODE": ("terminate", "abort", "kill"),
}
"""The words of values, by their kind."""
OUTPUTS = (
    *("inherit", "null", "tty", "journal", "journal+console", "kmsg", "kmsg+console", "syslog", "syslog+console"),
    *("socket", "fd:", "file:", "append:", "truncate:"),
)
"""Where the output of a service goes; behind a colon comes a place."""
SPANS = (
    *("usec", "us", "µs", "msec", "ms", "seconds", "second", "sec", "s", "minutes", "minute", "min", "m"),
    *("hours", "hour", "hr", "h", "days", "day", "d", "weeks", "week", "w", "months", "month", "M", "years", "year", "y"),
)
"""Units of spans of time."""
MONOTONIC = ("OnActiveSec", "OnBootSec", "OnStartupSec")
REPEATED = ("OnUnitActiveSec", "OnUnitInactiveSec")
CALENDAR = ("OnCalendar", "OnClockChange", "OnTimezoneChange")
"""Options of timers that start a unit once after something, again after the unit itself, and by the clock."""
TARGETS = (
    *("basic.target", "default.target", "getty.target", "graphical.target", "local-fs-pre.target", "local-fs.target"),
    *("multi-user.target", "network-online.target", "network-pre.target", "network.target", "nss-lookup.target"),
    *("nss-user-lookup.target", "paths.target", "remote-fs-pre.target", "remote-fs.target", "rescue.target"),
    *("rpcbind.target", "shutdown.target", "slices.target", "sockets.target", "swap.target", "sysinit.target"),
    *("time-set.target", "time-sync.target", "timers.target", "umount.target", "poweroff.target", "reboot.target"),
    *("emergency.target", "halt.target", "final.target", "sleep.target", "machines.target", "boot-complete.target"),
)
"""Targets that each machine has."""


@cache
def options() -> Mapping[str, Mapping[str, str]]:
    """The kinds of values by the names of options, by sections."""
    found: dict[str, dict[str, str]] = {}
    for name, kind, sections in rows("systemd_options.tsv"):
        for section in sections.split(","):
            found.setdefault(section, {})[name] = kind
    return found
