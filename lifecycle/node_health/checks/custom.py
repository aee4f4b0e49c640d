"""The user's own checks: executables in a directory, which root runs in the order of their names.

Exit code 0 is healthy. Otherwise the last line of the output names the fault; if it begins with `Action:Replace` or
`Action:Reboot`, it also asks for that mark. A file that others than root could have written does not run.
"""

from __future__ import annotations

import stat
from pathlib import PurePosixPath

from node_health.checks.context import Context
from node_health.finding import ACTIONS, Finding

SECONDS = 15.0


def check(context: Context) -> list[Finding]:
    directory = context.settings.checks_directory
    open_to_others = next((place for place in _way(directory) if not _is_roots(context, place, place != directory)), None)
    if open_to_others is not None:
        return [Finding("checks_directory", f"nothing in {directory} is run: others than root could change {open_to_others}")]
    return [found for name in context.system.names(directory) for found in _one(context, name, f"{directory}/{name}")]


def _way(directory: str) -> list[str]:
    return [directory, *(str(parent) for parent in PurePosixPath(directory).parents)]


def _is_roots(context: Context, place: str, above: bool) -> bool:
    """Whether only root can change the targets of its entries; in a sticky parent folder, this holds for root's own entries."""
    status = context.system.status(place)
    if status is None:
        return True
    closed = not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == 0 and (closed or (above and bool(status.st_mode & stat.S_ISVTX)))


def _one(context: Context, name: str, path: str) -> list[Finding]:
    status = context.system.status(path)
    if name.startswith(".") or status is None or not stat.S_ISREG(status.st_mode) or not status.st_mode & stat.S_IXUSR:
        return []
    fault = f"check:{name}"
    if status.st_uid != 0 or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return [Finding(fault, f"{path} is not run: write chown root {path}; chmod go-w {path}")]
    if context.left <= 1:
        return [Finding(fault, f"{path} is not run: the checks before it took all of Slurm's time")]
    result = context.run(fault, [path], SECONDS)
    if result.code == 0:
        return []
    if result.code is None:
        return [Finding(fault, f"{path} does not end in {SECONDS:.0f} s")]
    return [Finding(fault, _reason(result.last_line, result.code)[:200], _action(result.last_line))]


def _action(line: str) -> str | None:
    words = line.split()
    return words[0] if words and words[0] in ACTIONS else None


def _reason(line: str, code: int) -> str:
    words = line.split()
    if words and words[0] in ACTIONS:
        words = words[1:]
    return " ".join(words) or f"exit code {code}"
