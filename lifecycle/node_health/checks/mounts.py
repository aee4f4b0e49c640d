"""File systems of `config.json`: each must be mounted and answer a child process in time.

A reboot restores a mount that this node alone has lost. A file system that is lost everywhere is the same fault on every node, and
marks no node.
"""

from __future__ import annotations

from node_health.checks.context import Context
from node_health.finding import REBOOT, Finding
from node_health.system import PYTHON

SECONDS = 10.0
PROGRAM = "import os, sys; os.stat(sys.argv[1]); os.statvfs(sys.argv[1]); next(os.scandir(sys.argv[1]), None)"


def check(context: Context) -> list[Finding]:
    present = mounted(context.system.read("/proc/self/mounts") or "")
    seen = context.memory.table("mounts")
    for path in context.settings.group_mounts:
        if path in present:
            seen[path] = True
    expected = [*context.settings.mounts, *(path for path in context.settings.group_mounts if path in seen)]
    return [finding for path in expected for finding in _one(context, path, present)]


def mounted(text: str) -> dict[str, list[str]]:
    """The mount options by path, of the topmost mount at each; a waiting automount does not count."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        fields = line.split(" ")
        if len(fields) > 3 and fields[2] != "autofs":
            found[fields[1].replace("\\040", " ")] = fields[3].split(",")
    return found


def _one(context: Context, path: str, present: dict[str, list[str]]) -> list[Finding]:
    # The dot makes the kernel enter the folder and so triggers an automount.
    result = context.run(f"mount {path}", [PYTHON, "-S", "-c", PROGRAM, f"{path}/."], SECONDS)
    fault = f"mount:{path}"
    if result.code is None:
        return [context.silence(fault, f"{path}:", SECONDS, result)]
    if path not in present and path not in mounted(context.system.read("/proc/self/mounts") or ""):
        return [Finding(fault, f"{path}: is not mounted", REBOOT)]
    if result.code != 0:
        return [Finding(fault, f"{path}: cannot be read: {result.last_line[:200]}", REBOOT)]
    if "ro" in present.get(path, ()):
        return [Finding(f"readonly:{path}", f"{path}: is mounted read-only")]
    return []
