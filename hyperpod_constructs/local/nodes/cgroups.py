"""One control group per node: to freeze it, to kill it, and to keep the nodes' systemds apart.

On a host with the old hierarchies beside the new one, systemd-nspawn uses two trees, and a node needs a group in both:
else all nodes would share one and corrupt each other.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from hyperpod_constructs.local.nodes.errors import NodesError

MOUNT = Path("/sys/fs/cgroup")
PARENT = "hyperpod-nodes"
EXEC = "exec"
KILL_SECONDS = 20.0

JOIN = 'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@"'


def hierarchies() -> list[Path]:
    """The trees that systemd-nspawn uses, the unified one first."""
    if (MOUNT / "cgroup.controllers").exists():
        return [MOUNT]
    return [tree for tree in (MOUNT / "unified", MOUNT / "systemd") if tree.exists()]


def make(name: str) -> None:
    for tree in hierarchies():
        (tree / PARENT / name / EXEC).mkdir(parents=True, exist_ok=True)


def joined(name: str, command: list[str], *, inside: bool) -> list[str]:
    """`command` started in the group; `inside` is for commands beside the node's own systemd."""
    groups = [str(tree / PARENT / name / EXEC if inside else tree / PARENT / name) for tree in hierarchies()]
    return ["/bin/sh", "-c", JOIN, "join", *groups, "--", *command]


def freeze(name: str, frozen: bool) -> None:
    """Stops or continues every process of the node; returns when they are stopped."""
    group = hierarchies()[0] / PARENT / name
    (group / "cgroup.freeze").write_text("1" if frozen else "0", encoding="ascii")
    wanted = f"frozen {int(frozen)}"
    deadline = time.monotonic() + KILL_SECONDS
    while wanted not in (group / "cgroup.events").read_text(encoding="ascii"):
        if time.monotonic() > deadline:
            raise NodesError(f"{name}: after {KILL_SECONDS:.0f} s the control group does not say {wanted!r}")
        time.sleep(0.01)


def kill(name: str) -> None:
    """Kills every process of the group and waits until they are gone."""
    group = hierarchies()[0] / PARENT / name
    deadline = time.monotonic() + KILL_SECONDS
    while group.exists() and "populated 1" in (group / "cgroup.events").read_text(encoding="ascii"):
        (group / "cgroup.kill").write_text("1", encoding="ascii")
        if time.monotonic() > deadline:
            raise NodesError(f"{name}: processes survive the kill of their control group: {_processes(group)}")
        time.sleep(0.01)


def remove(name: str) -> None:
    """Kills what is in the group and removes it; a group that is gone is fine."""
    kill(name)
    for tree in hierarchies():
        for group in sorted((tree / PARENT / name).rglob("*/"), reverse=True):
            group.rmdir()
        with contextlib.suppress(OSError):
            (tree / PARENT / name).rmdir()


def remove_parent() -> None:
    """Removes what the groups of all nodes have in common, once they are gone."""
    for tree in hierarchies():
        with contextlib.suppress(OSError):
            (tree / PARENT).rmdir()


def _processes(group: Path) -> list[str]:
    return [line for path in group.rglob("cgroup.procs") for line in path.read_text(encoding="ascii").split()]
