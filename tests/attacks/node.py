"""A node whose set-up runs for real, as root, below a folder of its own: real owners, real children, real ssh-keygen."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lifecycle"))  # the packages for nodes are not installed

from node_setup.config import Config, parse_config
from node_setup.log import Log
from node_setup.node import Host, Node, Patience
from node_setup.role import Role
from node_setup.steps import install
from node_setup.waiting import Clock
from node_trust.as_user import Answer, Identity, python, run_as_user
from node_trust.owners import Ownership

ROOT = Path(__file__).resolve().parents[2]
# ssh-keygen works only for a known uid, so users borrow the uids of two accounts of the machine.
ALICE, BOB = [account.pw_uid for account in pwd.getpwall() if account.pw_uid not in (0, 65534)][:2]
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBf2 alice@laptop"
LUSTRE = {"type": "lustre", "path": "/fsx", "dns_name": "fs-1.fsx", "mount_name": "abcd1234"}
SLURM_CONF = (
    "ClusterName=demo\nSlurmctldHost=head\nSlurmUser=slurm\nStateSaveLocation=/var/spool/slurmctld\ninclude accounting.conf\n"
)
CONFIG: dict[str, Any] = {
    "version": 1,
    "groups": {"controller": {"node_type": "Controller"}},
    "mounts": {"controller": [LUSTRE]},
    "software": {
        "shared_directory": "/fsx",
        "homes": "/fsx/home",
        "users": [
            {"name": "alice", "uid": 10001, "gid": 10001, "ssh_keys": [KEY]},
            {"name": "bob", "uid": 10002, "gid": 10002},
        ],
        "health": {},
        "containers": True,
    },
}
PASSWD = (
    f"root:x:0:0::/root:/bin/sh\nslurm:x:64030:64030::/:/bin/sh\nalice:x:{ALICE}:{ALICE}::/:/bin/sh\nbob:x:{BOB}:{BOB}::/:/bin/sh\n"
)


class AttackedNode:
    """A node; `shared` is its only file system, and `victim` is the attacker's target."""

    def __init__(self, root: Path, cluster: str = "cluster-a", shared: Path | None = None) -> None:
        self.root = root
        self.log = StringIO()
        for folder in ("etc", "usr/bin", "var/spool/slurmctld", "opt/slurm/etc", "proc"):
            (root / folder).mkdir(parents=True)
        (root / "fsx").symlink_to(shared) if shared else (root / "fsx").mkdir()
        (root / "usr/bin/ssh-keygen").symlink_to(str(shutil.which("ssh-keygen")))
        (root / "etc/passwd").write_text(PASSWD)
        (root / "opt/slurm/etc/slurm.conf").write_text(SLURM_CONF)
        self.victim = root / "victim"
        self.victim.mkdir(mode=0o711)
        (self.victim / "secret").write_text("secret")
        (self.victim / "secret").chmod(0o640)
        bundle = root / "bundle"
        shutil.copytree(ROOT / "lifecycle", bundle, ignore=shutil.ignore_patterns("__pycache__", "node_health"))
        (bundle / "config.json").write_text(json.dumps(CONFIG))
        role = Role("controller", "Controller", None, "i-1", "10.0.0.1", ["10.0.0.1"], ["10.0.0.1"], cluster)
        host = Host(str(root), "node-1", Clock(), Ownership())
        self.node = Node("on_create", _config(), role, bundle, Log(self.log), host, Patience(slurm=1))

    @property
    def said(self) -> str:
        return self.log.getvalue()

    def home(self, name: str) -> Path:
        return self.root / "fsx/home" / name

    def is_untouched(self) -> bool:
        """Whether the victim's folder has its mode, its owner and its one file."""
        folder, file = self.victim.stat(), self.victim / "secret"
        mode = file.stat().st_mode & 0o777
        found = (folder.st_mode & 0o7777, folder.st_uid, mode, file.stat().st_uid, file.read_text())
        return found == (0o711, 0, 0o640, 0, "secret") and [path.name for path in self.victim.iterdir()] == ["secret"]

    def install(self) -> None:
        install.apply(self.node)

    def act(self, uid: int, program: str, *arguments: str) -> Answer:
        """Run a user's own Python program."""
        return run_as_user(Identity(uid, uid), python("-c", program, *arguments))


def _config() -> Config:
    config = parse_config(CONFIG)
    alice, bob = config.software.users
    users = [alice._replace(uid=ALICE, gid=ALICE), bob._replace(uid=BOB, gid=BOB)]
    return config._replace(software=config.software._replace(users=users))


@contextmanager
def attacked_node(cluster: str = "cluster-a", shared: Path | None = None) -> Iterator[AttackedNode]:
    """A node in a folder that every user can enter, unlike a temporary folder of pytest."""
    with tempfile.TemporaryDirectory(prefix="attacked-") as made:
        Path(made).chmod(0o755)
        yield AttackedNode(Path(made), cluster, shared)


def is_root() -> bool:
    return os.geteuid() == 0
