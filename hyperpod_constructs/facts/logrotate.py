"""What logrotate reads: the directives of its files with their values, and the files that it passes over.

Source: https://manpages.ubuntu.com/manpages/jammy/man8/logrotate.8.html (as of 2026-12-01)
"""

from __future__ import annotations

from collections.abc import Mapping

ALONE = (
    *("allowhardlink", "compress", "copy", "copytruncate", "daily", "dateext", "datehourago", "dateyesterday", "delaycompress"),
    *("hourly", "ifempty", "ignoreduplicates", "mailfirst", "maillast", "missingok", "monthly", "noallowhardlink", "nocompress"),
    *("nocopy", "nocopytruncate", "nocreate", "nocreateolddir", "nodateext", "nodelaycompress", "nomail", "nomissingok"),
    *("noolddir", "norenamecopy", "noshred", "nosharedscripts", "notifempty", "renamecopy", "sharedscripts", "shred", "yearly"),
)
"""Directives without a value."""
VALUED: Mapping[str, str] = {
    **dict.fromkeys(("maxage", "minage", "rotate", "shredcycles", "start"), "COUNT"),
    **dict.fromkeys(("maxsize", "minsize", "size"), "SIZE"),
    **dict.fromkeys(("create", "createolddir"), "OWNER"),
    "weekly": "WEEKDAY",
    **dict.fromkeys(("addextension", "compresscmd", "compressext", "compressoptions", "dateformat", "extension"), "TEXT"),
    **dict.fromkeys(("include", "mail", "olddir", "su", "tabooext", "taboopat", "uncompresscmd"), "TEXT"),
}
"""Directives with a value, and its kind."""
SCRIPTS = ("firstaction", "lastaction", "postrotate", "preremove", "prerotate")
"""Directives with lines of a script behind them."""
SCRIPT_END = "endscript"
TRUNCATING = ("copy", "copytruncate")
"""Directives by which a program goes on in the file that it has open."""
PASSED_OVER = (
    *(",v", ".bak", ".cfsaved", ".disabled", ".dpkg-bak", ".dpkg-del", ".dpkg-dist", ".dpkg-new", ".dpkg-old", ".dpkg-tmp"),
    *(
        ".new",
        ".old",
        ".orig",
        ".rhn-cfg-tmp-",
        ".rpmnew",
        ".rpmorig",
        ".rpmsave",
        ".swp",
        ".ucf-dist",
        ".ucf-new",
        ".ucf-old",
        "~",
    ),
)
"""Ends of names of files that it passes over in its folder."""
KEPT_OPEN: Mapping[str, str] = {
    "slurmctld.log": "SIGUSR2",
    "slurmd.log": "SIGUSR2",
    "slurmdbd.log": "SIGUSR2",
    "slurmrestd.log": "a restart",
}
"""Logs of daemons that write on into the same open file until they get a signal: the usual names of the files.

Source: https://slurm.schedmd.com/slurm.conf.html#SECTION_LOGGING (as of 2026-12-01)
"""
