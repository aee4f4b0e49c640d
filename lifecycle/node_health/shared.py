"""The shared directory, touched only by a child with a deadline: it may hang, and then it must not take this program along."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from node_health.system import PYTHON, System

SECONDS = 5.0
FOLDER = ".hyperpod"


class Exchange(NamedTuple):
    """What to do in one go, in this order: write files, remove files, read all files of folders. Paths are relative."""

    write: dict[str, str] = {}  # noqa: RUF012
    encoded: dict[str, str] = {}  # noqa: RUF012
    """Like ``write``, of bytes in base64."""
    remove: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    owner: int = 0
    """Who owns the written files and their folders; others than root and that user cannot read them when it is not root."""


class SharedDirectory:
    """``<shared_directory>/.hyperpod`` of the cluster, or none."""

    def __init__(self, system: System, directory: str | None) -> None:
        self._system = system
        self._directory = None if directory is None else f"{directory}/{FOLDER}"
        self._blocked = 0

    def exchange(self, wanted: Exchange, seconds: float = SECONDS) -> dict[str, str] | None:
        """The files that were read, by relative path; ``None`` when the directory is lost, does not answer or refuses."""
        if self._directory is None or not self._is_mounted(self._directory) or self._is_blocked():
            return None
        program = str(Path(__file__).with_name("shared_child.py"))
        request = json.dumps({"directory": self._directory, **wanted._asdict()})
        result = self._system.run([PYTHON, "-S", program], seconds, request)
        self._blocked = result.pid
        if result.code != 0:
            return None
        try:
            answer: Any = json.loads(result.output)
        except ValueError:
            return None
        return answer if isinstance(answer, dict) else None

    def _is_mounted(self, directory: str) -> bool:
        """Whether something is mounted above it; what is written into the empty folder of a lost mount nobody shares."""
        fields = [line.split(" ") for line in (self._system.read("/proc/self/mounts") or "").splitlines()]
        places = [field[1].replace("\\040", " ") for field in fields if len(field) > 1]
        return any(place != "/" and directory.startswith(f"{place}/") for place in places)

    def _is_blocked(self) -> bool:
        """Whether the last child is still in the kernel: another one would only join it."""
        state = (self._system.read(f"/proc/{self._blocked}/stat") or "") if self._blocked else ""
        return state.rpartition(")")[2].split()[:1] == ["D"]
