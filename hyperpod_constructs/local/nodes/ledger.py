"""What a rig has made on the host, written down before it is made, so that the next rig can undo a crashed one.

Every entry can be undone twice. Nothing that is not in the ledger is touched.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from hyperpod_constructs.local.nodes import cgroups
from hyperpod_constructs.local.nodes.commands import attempt

SYSCTL = Path("/proc/sys")


class Ledger:
    """An append-only file of JSON lines: `[kind, name, value]`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def directory(self, path: Path) -> Path:
        """Makes a directory, which goes with everything in it."""
        self._record("directory", str(path))
        path.mkdir(parents=True)
        return path

    def mount(self, path: Path) -> Path:
        """To be called before something is mounted there."""
        self._record("mount", str(path))
        return path

    def namespace(self, name: str) -> str:
        """To be called before the network namespace is made; its devices go with it."""
        self._record("namespace", name)
        return name

    def cgroup(self, name: str) -> str:
        """To be called before the control group is made; its processes go with it."""
        self._record("cgroup", name)
        return name

    def raise_sysctl(self, name: str, value: int) -> None:
        """Raises a setting of the kernel to at least `value`."""
        path = SYSCTL / name
        current = int(path.read_text(encoding="ascii"))
        if current < value:
            self._record("sysctl", name, str(current))
            path.write_text(str(value), encoding="ascii")

    def undo(self) -> None:
        """Undoes every entry, the newest first, and forgets them."""
        for kind, name, value in reversed(self.entries()):
            UNDO[kind](name, value)
        self._path.unlink(missing_ok=True)

    def _record(self, kind: str, name: str, value: str = "") -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([kind, name, value]) + "\n")

    def concerns(self, directory: Path) -> bool:
        """Whether something was made or mounted below the directory."""
        return any(kind in ("directory", "mount") and Path(name).is_relative_to(directory) for kind, name, _ in self.entries())

    def entries(self) -> list[list[str]]:
        """What was written. A crash may cut the last line short: nothing was made for it yet."""
        if not self._path.exists():
            return []
        whole = self._path.read_text(encoding="utf-8").rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]


def undo_mount(name: str, value: str = "") -> None:
    """Unmounts what is mounted there, all layers of it."""
    while _is_mounted(name) and attempt("umount", "--lazy", name):
        time.sleep(0)


def undo_namespace(name: str, value: str = "") -> None:
    if Path("/run/netns", name).exists():
        attempt("ip", "netns", "delete", name)


def undo_cgroup(name: str, value: str = "") -> None:
    cgroups.remove(name)


def undo_directory(name: str, value: str = "") -> None:
    shutil.rmtree(name, ignore_errors=True)


def undo_sysctl(name: str, value: str) -> None:
    (SYSCTL / name).write_text(value, encoding="ascii")


UNDO: dict[str, Callable[[str, str], None]] = {
    "mount": undo_mount,
    "namespace": undo_namespace,
    "cgroup": undo_cgroup,
    "directory": undo_directory,
    "sysctl": undo_sysctl,
}


def _is_mounted(path: str) -> bool:
    return any(_plain(line.split()[4]) == path for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines())


def _plain(escaped: str) -> str:
    """A path of mountinfo, where a space is `\\040`."""
    return re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), escaped)
