"""Folders of configuration whose readers take only files of some names.

Sources: https://www.freedesktop.org/software/systemd/man/latest/tmpfiles.d.html,
https://www.freedesktop.org/software/systemd/man/latest/sysctl.d.html,
https://www.freedesktop.org/software/systemd/man/latest/modules-load.d.html,
https://www.freedesktop.org/software/systemd/man/latest/sysusers.d.html,
https://www.freedesktop.org/software/systemd/man/latest/journald.conf.html,
https://manpages.ubuntu.com/manpages/jammy/man5/modprobe.d.5.html, https://manpages.ubuntu.com/manpages/jammy/man5/limits.conf.5.html,
https://manpages.ubuntu.com/manpages/jammy/man7/udev.7.html, https://manpages.ubuntu.com/manpages/jammy/man5/sudoers.5.html,
https://manpages.ubuntu.com/manpages/jammy/man5/apt.conf.5.html, https://manpages.ubuntu.com/manpages/jammy/man5/sources.list.5.html,
https://manpages.ubuntu.com/manpages/jammy/man8/run-parts.8.html,
https://manpages.ubuntu.com/manpages/jammy/man5/sshd_config.5.html and
https://github.com/NVIDIA/enroot/blob/master/doc/configuration.md (as of 2026-12-01)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

_CONF, _CONF_WORDS = r".+\.conf", "a name that ends in .conf"
_PARTS, _PARTS_WORDS = r"[A-Za-z0-9_-]+", "a name of letters, digits, hyphens and underscores"


class Folder(NamedTuple):
    """What a reader takes from a folder.

    :param names: the names of files, as a regular expression.
    :param words: the same in words.
    :param reader: who reads them.
    :param starts: whether it starts the files as programs.
    """

    names: str
    words: str
    reader: str
    starts: bool = False


FOLDERS: Mapping[str, Folder] = {
    "/etc/apt/apt.conf.d": Folder(r"[^.]+|.+\.conf", "a name without a dot, or one that ends in .conf", "apt"),
    "/etc/apt/preferences.d": Folder(r"[^.]+|.+\.pref", "a name without a dot, or one that ends in .pref", "apt"),
    "/etc/apt/sources.list.d": Folder(r".+\.(?:list|sources)", "a name that ends in .list or .sources", "apt"),
    "/etc/enroot/environ.d": Folder(r".+\.env", "a name that ends in .env", "enroot"),
    "/etc/enroot/hooks.d": Folder(r".+\.sh", "a name that ends in .sh", "enroot", starts=True),
    "/etc/enroot/mounts.d": Folder(r".+\.fstab", "a name that ends in .fstab", "enroot"),
    "/etc/ld.so.conf.d": Folder(_CONF, _CONF_WORDS, "ldconfig"),
    "/etc/modprobe.d": Folder(_CONF, _CONF_WORDS, "modprobe"),
    "/etc/modules-load.d": Folder(_CONF, _CONF_WORDS, "systemd"),
    "/etc/netplan": Folder(r".+\.yaml", "a name that ends in .yaml", "netplan"),
    "/etc/profile.d": Folder(r".+\.(?:c?sh|local)", "a name that ends in .sh", "the shell"),
    "/etc/rsyslog.d": Folder(_CONF, _CONF_WORDS, "rsyslog"),
    "/etc/security/limits.d": Folder(_CONF, _CONF_WORDS, "pam_limits"),
    "/etc/ssh/ssh_config.d": Folder(_CONF, _CONF_WORDS, "ssh"),
    "/etc/ssh/sshd_config.d": Folder(_CONF, _CONF_WORDS, "sshd"),
    "/etc/sudoers.d": Folder(r"[^.]*[^.~]", "a name without a dot", "sudo"),
    "/etc/sysctl.d": Folder(_CONF, _CONF_WORDS, "sysctl"),
    "/etc/systemd/coredump.conf.d": Folder(_CONF, _CONF_WORDS, "systemd"),
    "/etc/systemd/journald.conf.d": Folder(_CONF, _CONF_WORDS, "journald"),
    "/etc/systemd/logind.conf.d": Folder(_CONF, _CONF_WORDS, "logind"),
    "/etc/systemd/resolved.conf.d": Folder(_CONF, _CONF_WORDS, "resolved"),
    "/etc/systemd/system.conf.d": Folder(_CONF, _CONF_WORDS, "systemd"),
    "/etc/systemd/timesyncd.conf.d": Folder(_CONF, _CONF_WORDS, "timesyncd"),
    "/etc/systemd/user.conf.d": Folder(_CONF, _CONF_WORDS, "systemd"),
    "/etc/sysusers.d": Folder(_CONF, _CONF_WORDS, "systemd"),
    "/etc/tmpfiles.d": Folder(_CONF, _CONF_WORDS, "systemd"),
    "/etc/udev/rules.d": Folder(r".+\.rules", "a name that ends in .rules", "udev"),
}
OF_UBUNTU: Mapping[str, Folder] = {
    f"/etc/cron.{often}": Folder(_PARTS, _PARTS_WORDS, "run-parts", starts=True)
    for often in ("daily", "hourly", "monthly", "weekly")
}
"""Folders whose readers are others elsewhere."""
MEANT = (".bak", ".disabled", ".example", ".off", ".old", ".orig", ".sample", ".save", ".unused")
"""Ends of names of files that nobody shall read."""
TMPFILES = tuple("fwdDevqQpLcbCxXrRzZtaAhHF")
"""Types of lines for tmpfiles."""
LIMITS = (
    *(
        "as",
        "chroot",
        "core",
        "cpu",
        "data",
        "fsize",
        "locks",
        "maxlogins",
        "maxsyslogins",
        "memlock",
        "msgqueue",
        "nice",
        "nofile",
    ),
    *("nonewprivs", "nproc", "priority", "rss", "rtprio", "sigpending", "stack"),
)
"""Items of limits."""
