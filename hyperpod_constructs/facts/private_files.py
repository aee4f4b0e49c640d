"""Files that programs refuse when others may read or write them, and folders in which users write (as of 2026-12-01).

Sources: https://slurm.schedmd.com/slurmdbd.conf.html, https://slurm.schedmd.com/jwt.html,
https://github.com/dun/munge/wiki/Installation-Guide, https://man.openbsd.org/sshd.8#FILES, https://man.openbsd.org/ssh.1#FILES,
https://www.postgresql.org/docs/current/libpq-pgpass.html, https://manpages.ubuntu.com/manpages/jammy/man5/sssd.conf.5.html,
https://manpages.ubuntu.com/manpages/jammy/man5/sudoers.5.html and
https://github.com/NVIDIA/enroot/blob/master/doc/configuration.md
"""

from __future__ import annotations

import re
from typing import NamedTuple


class PrivateFile(NamedTuple):
    """A file of which the mode matters.

    :param path: its whole path.
    :param forbidden: the bits that it must not have.
    :param does: what then happens, in words.
    :param allowed: a mode that is right.
    """

    path: re.Pattern[str]
    forbidden: int
    does: str
    allowed: str


_OF_OTHERS, _WRITTEN = 0o077, 0o022

PRIVATE_FILES = (
    PrivateFile(re.compile(r".*/slurmdbd\.conf"), _OF_OTHERS, "slurmdbd ends at once", "0600"),
    PrivateFile(re.compile(r".*/jwt_hs256\.key"), 0o007, "slurmctld refuses the key", "0600"),
    PrivateFile(re.compile(r".*/munge\.key"), _OF_OTHERS, "munged refuses the key", "0600"),
    PrivateFile(re.compile(r".*/\.ssh/id_[a-z0-9]+"), _OF_OTHERS, "ssh passes over the key", "0600"),
    PrivateFile(re.compile(r"/etc/ssh/ssh_host_\w+_key"), _OF_OTHERS, "sshd passes over the key", "0600"),
    PrivateFile(re.compile(r".*/\.ssh/authorized_keys"), _WRITTEN, "sshd passes over the keys", "0600"),
    PrivateFile(re.compile(r".*/\.ssh"), _WRITTEN, "sshd passes over the keys", "0700"),
    PrivateFile(re.compile(r".*/\.pgpass"), _OF_OTHERS, "libpq passes over it", "0600"),
    PrivateFile(re.compile(r"/etc/sssd/sssd\.conf"), _OF_OTHERS, "sssd ends at once", "0600"),
    PrivateFile(re.compile(r"/etc/sudoers(?:\.d/[^/.~]+)?"), _WRITTEN, "sudo refuses all commands", "0440"),
)
ENROOT_FOLDERS = re.compile(r"^[ \t]*(ENROOT_(?:CACHE|CONFIG|DATA|RUNTIME|TEMP)_PATH)[ \t]+(/\S*)", re.MULTILINE)
"""Folders that enroot makes for the user who starts a container."""
