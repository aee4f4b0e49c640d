"""Local disks: a read-only root is a fault. Low space and few inodes are only noted, because a new node fills up alike."""

from __future__ import annotations

from node_health.checks.context import Context
from node_health.checks.mounts import mounted
from node_health.finding import REPLACE, Finding

PATHS = ("/", "/opt/sagemaker", "/opt/dlami/nvme")
FREE_SHARE = 0.05
FREE_BYTES = 2 * 1024**3


def check(context: Context) -> list[Finding]:
    present = mounted(context.system.read("/proc/self/mounts") or "")
    found = [finding for path in PATHS if path in present for finding in _full(context, path)]
    options = present.get("/", [])
    # Without "errors=", a read-only root is the image's choice; only with it can the kernel have turned the root read-only.
    if "ro" in options and any(option.startswith("errors=") or option == "emergency_ro" for option in options):
        found.append(Finding("disk:readonly", "/: the kernel turned the root file system read-only", REPLACE))
    return found


def _full(context: Context, path: str) -> list[Finding]:
    space = context.system.space(path)
    if space is None:
        return []
    found = []
    if space.size and space.free < min(FREE_BYTES, space.size * FREE_SHARE):
        found.append(Finding(f"disk:space:{path}", f"{path}: {space.free // 1024**2} MiB of {space.size // 1024**2} MiB are free"))
    if space.inodes and space.free_inodes < space.inodes * FREE_SHARE:
        found.append(Finding(f"disk:inodes:{path}", f"{path}: {space.free_inodes} of {space.inodes} inodes are free"))
    return found
