"""The cluster's own folder on the shared directory. Only a child with a deadline touches it, because a hanging file system must not
block this program.

Each cluster on a shared file system has a folder with its own id; a node without a cluster id exchanges nothing. Everything in the
folder belongs to root; `shared_child` checks it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from node_health.system import PYTHON, System

SECONDS = 5.0
FOLDER = ".hyperpod"
CLUSTER = "/var/lib/hyperpod/cluster"
CLUSTER_ID = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,128}")


class Exchange(NamedTuple):
    """One order to the child: write files, remove files, read files and all files of folders, in this order. Paths are relative."""

    write: dict[str, str] = {}  # noqa: RUF012
    encoded: dict[str, str] = {}  # noqa: RUF012
    """Like `write`, with bytes in base64."""
    remove: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    """Folders."""
    files: tuple[str, ...] = ()
    owner: tuple[int, int] | None = None
    """The user and group of the written files; only they and root can read them. By default root's own."""


class SharedDirectory:
    """The folder `<shared_directory>/.hyperpod/<cluster>`; it may be missing."""

    def __init__(self, system: System, directory: str | None) -> None:
        self._system = system
        self._directory = directory
        self._blocked = 0

    @property
    def configured(self) -> bool:
        return self._directory is not None

    @property
    def problem(self) -> str | None:
        """The fault that prevents any exchange; `None` without one, or if no exchange is configured."""
        if self._directory is None or self._cluster is not None:
            return None
        return f"{CLUSTER}: has no cluster id, so nothing is exchanged on {self._directory}; run the node's setup again"

    def exchange(self, wanted: Exchange, seconds: float = SECONDS) -> dict[str, str] | None:
        """Carry out an order, and return the read files by relative path; `None` if the directory is lost, silent or refused."""
        cluster = self._cluster
        if self._directory is None or cluster is None or not self._is_mounted(self._directory) or self._is_blocked():
            return None
        program = str(Path(__file__).with_name("shared_child.py"))
        request = json.dumps({"directory": self._directory, "way": [FOLDER, cluster], **wanted._asdict()})
        result = self._system.run([PYTHON, "-I", "-S", "-B", program], seconds, request)
        self._blocked = result.pid
        if result.code != 0:
            return None
        try:
            answer: Any = json.loads(result.output)
        except ValueError:
            return None
        return answer if isinstance(answer, dict) else None

    @property
    def _cluster(self) -> str | None:
        text = (self._system.read(CLUSTER) or "").strip()
        return text if CLUSTER_ID.fullmatch(text) else None

    def _is_mounted(self, directory: str) -> bool:
        """Whether a file system is mounted there or above; nobody else sees files in the empty folder of a lost mount."""
        fields = [line.split(" ") for line in (self._system.read("/proc/self/mounts") or "").splitlines()]
        places = [field[1].replace("\\040", " ") for field in fields if len(field) > 1]
        return any(place != "/" and f"{directory}/".startswith(f"{place}/") for place in places)

    def _is_blocked(self) -> bool:
        """Whether the last child is still stuck in the kernel; another one would get stuck too."""
        state = (self._system.read(f"/proc/{self._blocked}/stat") or "") if self._blocked else ""
        return state.rpartition(")")[2].split()[:1] == ["D"]
