"""What a machine must have to run virtual nodes."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

PACKAGES = {
    "systemd-nspawn": "systemd-container",
    "mmdebstrap": "mmdebstrap",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
}
KEYRINGS = Path("/usr/share/keyrings")
KEYRING_NAME = "debian-archive-trixie-automatic.gpg"
ROOT = 0


def missing() -> str | None:
    """What this machine lacks for virtual nodes, as one sentence; `None` when it lacks nothing."""
    if sys.platform != "linux":
        return f"virtual nodes need Linux, this is {sys.platform}."
    path = "/usr/sbin:/usr/bin:/sbin:/bin"
    packages = {package for program, package in PACKAGES.items() if shutil.which(program, path=path) is None}
    if not (KEYRINGS / KEYRING_NAME).exists():
        packages.add("debian-archive-keyring")
    if packages:
        names = " ".join(sorted(packages))
        return f"virtual nodes need Debian packages that are not installed: apt-get install -y --no-install-recommends {names}"
    if os.geteuid() != ROOT:
        return "virtual nodes need root, for namespaces and mounts: run with sudo."
    if "overlay" not in Path("/proc/filesystems").read_text(encoding="utf-8"):
        return "virtual nodes need overlayfs, and this kernel does not list it in /proc/filesystems: modprobe overlay"
    return None
