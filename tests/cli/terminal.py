"""Commands in a terminal."""

from __future__ import annotations

import os
import pty
import re
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path

from tests.patience import PATIENCE


def in_terminal(arguments: list[str], *, columns: int, directory: Path | None = None) -> list[str]:
    """The output of a `hyperpod` command in a terminal of this width, without colours; it runs in `directory`, if given."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    program = "from hyperpod_constructs.cli.main import main; main()"
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR")} | {"TERM": "xterm"}
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", program, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=directory,
    )
    os.close(theirs)
    output = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        output += piece
    os.close(ours)
    process.wait(timeout=PATIENCE)
    return re.sub(r"\x1b\[[0-9;]*m", "", output.decode()).splitlines()
