"""One systemd-nspawn: starts a system, waits until it has booted, and enters it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from hyperpod_constructs.local.nodes import cgroups
from hyperpod_constructs.local.nodes.errors import NodesError

# What systemd, MariaDB, Slurm and the scripts need. Left out: modules, raw I/O, the host's clock, its kernel log, BPF.
CAPABILITIES = (
    *("audit_write", "chown", "dac_override", "dac_read_search", "fowner", "fsetid", "ipc_lock", "ipc_owner", "kill", "lease"),
    *("mknod", "net_admin", "net_bind_service", "net_raw", "setfcap", "setgid", "setpcap", "setuid"),
    *("sys_admin", "sys_boot", "sys_chroot", "sys_nice", "sys_ptrace", "sys_resource"),
)
NSPAWN_DEFAULTS = ("audit_control", "linux_immutable", "net_broadcast", "sys_tty_config")
PATH = "/opt/slurm/bin:/opt/slurm/sbin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
BOOT_SECONDS = 120.0
# The name of a socket must be short, and a rig's directory need not be.
STATE = Path("/run/hyperpod-nodes")


class Container:
    """A running system; `leader` is the host's process id of its first process."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], leader: int) -> None:
        self.name = name
        self.leader = leader
        self._process = process

    @classmethod
    def boot(cls, name: str, *, root: Path, namespace: Path, binds: Sequence[str], console: Path) -> Container:
        """Returns when the node's systemd says that it has started everything.

        :raises NodesError: with the end of the console, if it does not say so within two minutes.
        """
        # A fresh group: kernels kill what systemd starts in one that was killed before.
        cgroups.remove(name)
        cgroups.make(name)
        notifications = STATE / f"ready-{name}"
        notifications.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready, console.open("ab") as output:
            ready.bind(str(notifications))
            command = cgroups.joined(name, _nspawn(name, root, namespace, binds), inside=False)
            process = subprocess.Popen(  # noqa: S603
                command,
                env=_environment(notifications),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            leader = _await_ready(ready, process)
        notifications.unlink()
        if leader is None:
            process.kill()
            process.wait()
            raise NodesError(f"{name} has not booted; the end of its console: {console.read_text(errors='replace')[-2000:]}")
        return cls(name, process, leader)

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def enter(self, command: Sequence[str]) -> list[str]:
        """The host's command that runs `command` in the node, with no more rights than the node has."""
        bounding = ",".join(["-all", *(f"+{name}" for name in CAPABILITIES if name in _own_capabilities())])
        space = ["nsenter", f"--target={self.leader}", "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd"]
        limits = ["setpriv", f"--bounding-set={bounding}", "--inh-caps=-all", "--"]
        return cgroups.joined(self.name, [*space, *limits, "/usr/bin/env", "-i", f"PATH={PATH}", *command], inside=True)

    def shut_down(self, seconds: float) -> bool:
        """Asks the system to power off; whether it did within that time."""
        self._signal(signal.SIGRTMIN + 4)
        try:
            self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        """Kills every process of the system at once."""
        if self.running:
            self._signal(signal.SIGKILL)
        cgroups.kill(self.name)
        self._process.wait()

    def _signal(self, number: int) -> None:
        """To the first process, which may have ended a moment before systemd-nspawn does."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.leader, number)


def _nspawn(name: str, root: Path, namespace: Path, binds: Sequence[str]) -> list[str]:
    return [
        "systemd-nspawn",
        "--quiet",
        "--boot",
        "--settings=no",
        "--register=no",
        "--keep-unit",
        "--notify-ready=yes",
        "--link-journal=no",
        "--resolv-conf=off",
        "--timezone=off",
        "--console=read-only",
        f"--directory={root}",
        f"--machine={name}",
        f"--hostname={name}",
        f"--network-namespace-path={namespace}",
        "--capability=" + ",".join(f"CAP_{capability.upper()}" for capability in CAPABILITIES),
        "--drop-capability=" + ",".join(f"CAP_{capability.upper()}" for capability in NSPAWN_DEFAULTS),
        *binds,
    ]


def _environment(notifications: Path) -> dict[str, str]:
    """Nothing of the host's environment, which may hold credentials."""
    return {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "NOTIFY_SOCKET": str(notifications),
        "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1",
    }


def _await_ready(ready: socket.socket, process: subprocess.Popen[bytes]) -> int | None:
    """The leader's process id, once the system has booted."""
    leader = None
    deadline = time.monotonic() + BOOT_SECONDS
    ready.settimeout(0.5)
    while time.monotonic() < deadline and process.poll() is None:
        try:
            message = ready.recv(4096).decode()
        except TimeoutError:
            continue
        if (found := re.search(r"^X_NSPAWN_LEADER_PID=(\d+)$", message, re.MULTILINE)) is not None:
            leader = int(found[1])
        if leader is not None and re.search(r"^READY=1$", message, re.MULTILINE) is not None:
            return leader
    return None


def _own_capabilities() -> frozenset[str]:
    """The capabilities that this process may hand on."""
    found = re.search(r"^CapBnd:\s+([0-9a-f]+)$", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    assert found is not None
    return frozenset(name for bit, name in enumerate(ALL_CAPABILITIES) if int(found[1], 16) >> bit & 1)


# In the order of linux/capability.h, from bit 0 on.
ALL_CAPABILITIES = (
    *("chown", "dac_override", "dac_read_search", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap"),
    *("linux_immutable", "net_bind_service", "net_broadcast", "net_admin", "net_raw", "ipc_lock", "ipc_owner", "sys_module"),
    *("sys_rawio", "sys_chroot", "sys_ptrace", "sys_pacct", "sys_admin", "sys_boot", "sys_nice", "sys_resource", "sys_time"),
    *("sys_tty_config", "mknod", "lease", "audit_write", "audit_control", "setfcap"),
)
