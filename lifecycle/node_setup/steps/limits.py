"""Limits for training: locked memory (EFA, NCCL), open files, and shared memory that outlives a login.

A daemon with lower limits is restarted on its own node; running jobs survive the restart.
"""

from __future__ import annotations

import math
import re

from node_setup import systemd
from node_setup.errors import NodeSetupError
from node_setup.node import Node

MANDATORY = True
CAP_SYS_RESOURCE = 24
MEMORY = "Max locked memory"
FILES = "Max open files"
WANTED = {MEMORY: "unlimited", FILES: "1048576"}
SLURMD = f"[Service]\nLimitMEMLOCK=infinity\nLimitNOFILE={WANTED[FILES]}\n"
LOGIND = "[Login]\nRemoveIPC=no\n"
PAM = "* soft memlock unlimited\n* hard memlock unlimited\n* soft nofile 1048576\n* hard nofile 1048576\n"


def needed(node: Node) -> bool:
    return True


def apply(node: Node) -> None:
    systemd.write_units(node, {"slurmd.service.d/50-hyperpod-limits.conf": SLURMD})
    node.write("/etc/security/limits.d/90-hyperpod.conf", PAM)
    node.write("/etc/systemd/logind.conf.d/50-hyperpod.conf", LOGIND)
    node.once("logind", LOGIND, lambda: systemd.restart_if_active(node, "systemd-logind.service"))
    if is_low(node, MEMORY):
        _restart(node)
    elif is_low(node, FILES):
        node.once("open files", SLURMD, lambda: _restart(node))


def verify(node: Node) -> None:
    if is_low(node, MEMORY):
        wanted = _attainable(node, MEMORY)
        raise NodeSetupError(f"slurmd.service: its processes may lock less memory than {wanted}; see /proc/<pid>/limits")


def is_low(node: Node, name: str) -> bool:
    """Whether a running slurmd has lower limits than possible."""
    pid = systemd.show(node, "slurmd.service", "MainPID")
    if pid in ("", "0"):
        return False
    found = _limit(node, pid, name)
    return found is not None and _number(found[0]) < _number(_attainable(node, name))


def _attainable(node: Node, name: str) -> str:
    """The wanted limit, or systemd's own limit if that is lower and cannot be raised, as in some containers."""
    first = _limit(node, "1", name)
    held = re.search(r"^CapEff:\s*([0-9a-f]+)$", node.read("/proc/1/status") or "", re.MULTILINE)
    if first is None or held is None or int(held[1], 16) >> CAP_SYS_RESOURCE & 1:
        return WANTED[name]
    return min(WANTED[name], first[1], key=_number)


def _limit(node: Node, pid: str, name: str) -> list[str] | None:
    """The soft and the hard limit of a process."""
    lines = (node.read(f"/proc/{pid}/limits") or "").splitlines()
    return next((line[len(name) :].split()[:2] for line in lines if line.startswith(name)), None)


def _number(limit: str) -> float:
    return math.inf if limit == "unlimited" else int(limit)


def _restart(node: Node) -> None:
    node.run(["systemctl", "restart", "slurmd.service"])
