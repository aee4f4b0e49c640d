"""The command line that is made once in a process: typer makes it for each run from all signatures, longer than most tests take."""

from __future__ import annotations

from functools import cache

import typer.main


def make_once() -> None:
    """From now on, the commands of an application stay as they were made first."""
    typer.main.get_command = cache(typer.main.get_command)
