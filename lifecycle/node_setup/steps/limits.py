"""Limits that training needs: memory that may be locked (EFA, NCCL), open files, and shared memory that outlives a login.

A daemon that the image started with lower limits is restarted on its own node; running jobs survive that.
"""

from __future__ import annotations

import re

from node_setup import systemd
from node_setup.errors import NodeSetupError
from node_setup.node import Node

MANDATORY = True
SLURMD = "[Service]\nLimitMEMLOCK=infinity\nLimitNOFILE=1048576\n"
CAP_SYS_RESOURCE = 24
LOGIND = "[Login]\nRemoveIPC=no\n"
PAM = "* soft memlock unlimited\n* hard memlock unlimited\n* soft nofile 1048576\n* hard nofile 1048576\n"


def needed(node: Node) -> bool:
    return True


def apply(node: Node) -> None:
    systemd.write_unit(node, "slurmd.service.d/50-hyperpod-limits.conf", SLURMD)
    node.write("/etc/security/limits.d/90-hyperpod.conf", PAM)
    node.write("/etc/systemd/logind.conf.d/50-hyperpod.conf", LOGIND)
    node.once("logind", LOGIND, lambda: systemd.restart_if_active(node, "systemd-logind.service"))
    if is_low(node):
        node.run(["systemctl", "restart", "slurmd.service"])


def verify(node: Node) -> None:
    if is_low(node):
        raise NodeSetupError(f"slurmd.service: its processes may lock less memory than {_attainable(node)}; see /proc/<pid>/limits")


def is_low(node: Node) -> bool:
    """Whether a running slurmd may lock less memory than it can be given."""
    pid = systemd.show(node, "slurmd.service", "MainPID")
    if pid in ("", "0"):
        return False
    found = _locked_memory(node, pid)
    return found is not None and found[0] not in ("unlimited", _attainable(node))


def _attainable(node: Node) -> str:
    """Without limit, unless systemd itself has one that it may not raise: then that one. So it is in some containers."""
    first = _locked_memory(node, "1")
    held = re.search(r"^CapEff:\s*([0-9a-f]+)$", node.read("/proc/1/status") or "", re.MULTILINE)
    if first is None or held is None or int(held[1], 16) >> CAP_SYS_RESOURCE & 1:
        return "unlimited"
    return first[1]


def _locked_memory(node: Node, pid: str) -> list[str] | None:
    """The soft and the hard limit of a process."""
    lines = (node.read(f"/proc/{pid}/limits") or "").splitlines()
    return next((line.split()[3:5] for line in lines if line.startswith("Max locked memory")), None)
