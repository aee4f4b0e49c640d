"""Files of a machine that are read for each of its users anew, with texts in them that are others for each (as of 2026-12-01).

Sources: https://github.com/NVIDIA/enroot/blob/master/doc/configuration.md,
https://www.gnu.org/software/bash/manual/bash.html#Bash-Startup-Files and https://manpages.ubuntu.com/manpages/jammy/man8/useradd.8.html
"""

from __future__ import annotations

import re

FILES_OF_USERS = tuple(
    map(
        re.compile,
        (
            r"/enroot(?:\.conf|/enroot\.conf\.d/[^/]+\.conf|/environ\.d/[^/]+)$",
            r"^/etc/profile(?:\.d/[^/]+\.sh)?$",
            r"^/etc/(?:bash\.bashrc|bashrc|zsh/zshrc|zshrc|csh\.cshrc)$",
            r"^/etc/skel/",
        ),
    )
)
"""Files that a shell, or enroot, reads as the user for whom it runs."""
