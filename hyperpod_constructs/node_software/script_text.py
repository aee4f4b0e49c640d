"""Checks of a script before nodes run it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

MOST_BYTES = 1024 * 1024
_SHELL = re.compile(rb"#! *(/usr/bin/env +)?(\S*/)?(ba|da)?sh\b")


def check_script(file: Path) -> None:
    """A text with the name of its interpreter, with line ends and a syntax that a node can run.

    The syntax of a shell script is checked where this machine has a bash, which reads the script and runs nothing.

    :raises ValueError: with the file, the line and the fix.
    """
    content = file.read_bytes()
    if b"\r\n" in content:
        line = content[: content.index(b"\r\n")].count(b"\n") + 1
        raise ValueError(f"lifecycle scripts: {file}:{line} ends in CR LF, and shells on nodes cannot run it; save it with LF")
    if not content.startswith(b"#!"):
        found = content.split(b"\n", 1)[0][:40].decode(errors="replace")
        raise ValueError(f"lifecycle scripts: {file}:1 is {found!r}; the first line names the interpreter, such as #!/bin/bash")
    if len(content) > MOST_BYTES:
        raise ValueError(
            f"lifecycle scripts: {file} has {len(content)} bytes; allowed: {MOST_BYTES}; keep data beside scripts in S3"
        )
    mistake = _syntax_mistake(content) if _SHELL.match(content) else None
    if mistake is not None:
        place, cause = mistake
        raise ValueError(f"lifecycle scripts: {file}:{place}: {cause}; correct the script, bash -n {file.name} says the same")


@cache
def _syntax_mistake(content: bytes) -> tuple[str, str] | None:
    """Line and cause of the first mistake that bash finds; `None` without one, and on a machine without bash."""
    bash = None if os.name == "nt" else shutil.which("bash")
    if bash is None:
        return None
    command = [bash, "--norc", "-n", "-s"]
    done = subprocess.run(command, input=content, env={"LC_ALL": "C"}, capture_output=True, timeout=60, check=False)  # noqa: S603
    if done.returncode == 0:
        return None
    said = done.stderr.decode(errors="replace")
    found = re.search(r"line (\d+): (.*)", said)
    return ("1", said.strip()) if found is None else (found[1], found[2])
