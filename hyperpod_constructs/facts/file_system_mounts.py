"""How machines mount file systems of FSx: the types that fit them, and the begin of what they export (as of 2026-12-01).

Sources: https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-ec2-instance.html,
https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/attach-linux-client.html,
https://docs.aws.amazon.com/fsx/latest/ONTAPGuide/attach-linux-client.html and
https://docs.aws.amazon.com/fsx/latest/WindowsGuide/map-shares-linux.html
"""

from __future__ import annotations

from collections.abc import Mapping

MOUNT_TYPES: Mapping[str, tuple[str, ...]] = {
    "LUSTRE": ("lustre",),
    "OPENZFS": ("nfs", "nfs4"),
    "ONTAP": ("nfs", "nfs4", "cifs", "smb3"),
    "WINDOWS": ("cifs", "smb3"),
}
"""The types of `mount`, by the types of file systems.

Sources: those above for `lustre`, `nfs` and `cifs`, https://man.archlinux.org/man/mount.cifs.8 for `smb3` and
https://manpages.debian.org/testing/nfs-common/mount.nfs.8.en.html for `nfs4`.
"""
ROOT_OF_OPENZFS = "fsx"
"""The folder in which a file system of OpenZFS exports all of its volumes: the root volume is `/fsx`."""
FOLDERS = frozenset(
    {
        *("bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "media", "mnt", "opt", "proc", "root", "run", "sbin"),
        *("snap", "srv", "sys", "tmp", "usr", "var"),
    }
)
"""The folders that a machine has below `/`.

Source: https://refspecs.linuxfoundation.org/FHS_3.0/fhs/index.html
"""
EMPTY_FOLDERS = ("media", "mnt")
"""Those of them in which nothing is before somebody makes it."""
