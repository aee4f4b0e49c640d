"""The configuration of the scripts of test clusters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LIFECYCLE = ROOT / "lifecycle"
# Other runs on this machine may hold every slot.
WAIT_SECONDS = 600.0
SLURM_CONF = "/opt/slurm/etc/slurm.conf"
# Where the virtual cluster keeps what its nodes share, on the shared file system.
CLUSTER_FOLDER = ".hyperpod/virtual"
LUSTRE = {
    "type": "lustre",
    "path": "/fsx",
    "dns_name": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    "mount_name": "abcd1234",
}
OPENZFS = {"type": "openzfs", "path": "/home", "dns_name": "fs-0fedcba9876543210.fsx.us-west-2.amazonaws.com"}
GROUPS = {
    "controller": {"node_type": "Controller"},
    "login": {"node_type": "Login"},
    "workers": {"node_type": "Compute", "partition": "training"},
    "gpus": {"node_type": "Compute"},
}


def configuration(groups: Iterable[str], *, mounts: Sequence[Mapping[str, str]] = (LUSTRE,), **software: Any) -> dict[str, Any]:
    """The config.json of these of `GROUPS`, with the file systems on all of them and this software."""
    names = tuple(groups)
    return {
        "version": 1,
        "cluster": {"node_recovery": "Automatic"},
        "groups": {name: GROUPS[name] for name in names},
        "mounts": {name: list(mounts) for name in names},
        "software": {"shared_directory": "/fsx", **software},
    }
