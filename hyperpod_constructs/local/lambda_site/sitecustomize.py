"""Runs at the start of every Python process that a Lambda function starts on this machine, the function's own included.

On AWS a layer lies at /opt and Python at /var/lang/bin; here both are elsewhere, and nobody is root. So commands under /opt are
looked up in the function's layers, and Python scripts run with this Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

LAYERS = [Path(layer) for layer in os.environ.get("_LAMBDA_LAYERS_DIRS", "").split(os.pathsep) if layer]


def local(command: Any) -> Any:
    """The command with a program under /opt replaced by the same file of a layer; any other command as it is."""
    if not isinstance(command, list | tuple) or not command or not str(command[0]).startswith("/opt/"):
        return command
    program, *arguments = command
    for layer in LAYERS:
        found = layer / str(program).removeprefix("/opt/")
        if found.is_file():
            with found.open("rb") as script:
                first = script.readline()
            interpreter = [sys.executable] if first.startswith(b"#!") and b"python" in first else []
            return [*interpreter, str(found), *arguments]
    return command


class _Popen(subprocess.Popen[Any]):
    def __init__(self, args: Any, *rest: Any, **options: Any) -> None:
        super().__init__(local(args), *rest, **options)


if LAYERS:
    subprocess.Popen = _Popen  # type: ignore[misc]
