"""A node in a temporary folder: the service's staged bundle, and the system files that it reads."""

from __future__ import annotations

import compileall
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.memory import folder_in_memory

LIFECYCLE = Path(__file__).resolve().parents[2] / "lifecycle"
sys.path.insert(0, str(LIFECYCLE))  # the packages for nodes are not installed
FIB_TRIE = """Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 127.0.0.1
        /32 host LOCAL
     |-- 10.1.0.0
        /24 link UNICAST
     |-- {address}
        /32 host LOCAL
"""
LUSTRE = {
    "type": "lustre",
    "path": "/fsx",
    "dns_name": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    "mount_name": "abcd1234",
}
CONFIG: dict[str, Any] = {
    "version": 1,
    "groups": {
        "controller": {"node_type": "Controller"},
        "workers": {"node_type": "Compute", "partition": "gpu"},
    },
    "mounts": {"workers": [LUSTRE]},
}
MOUNTED = "10.1.0.99@tcp:/abcd1234 /fsx lustre rw,noatime,flock 0 0\n"
SYSTEMCTL = """#!/bin/sh
# Double of systemctl: remembers in files what is enabled and active.
for unit; do :; done
echo "$@" >>{state}.log
case "$1" in
    enable) : >"{state}/$unit.enabled" ;;
    start | restart) : >"{state}/$unit.active" ;;
    is-enabled) [ -e "{state}/$unit.enabled" ] ;;
    is-active) [ -e "{state}/$unit.active" ] ;;
    show) [ "$3" = LoadState ] && echo loaded || echo 0 ;;
esac
"""


def instances(group: str, address: str) -> dict[str, Any]:
    instance = {"InstanceName": f"{group}-1", "CustomerIpAddress": address, "InstanceId": f"i-{group}"}
    return {"Name": group, "InstanceType": "ml.m5.xlarge", "Instances": [instance]}


@dataclass
class Node:
    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def bundle(self) -> Path:
        return self.root / "bundle"

    @property
    def log(self) -> list[str]:
        return (self.root / "var/log/provision/provisioning.log").read_text(encoding="utf-8").splitlines()

    def write(self, path: str, content: object) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")

    def config(self, content: object) -> None:
        self.write("bundle/config.json", content)

    def resources(self, groups: object) -> None:
        document = {"ClusterConfig": {"ClusterName": "demo"}, "InstanceGroups": groups}
        self.write("opt/ml/config/resource_config.json", document)

    def address(self, address: str) -> None:
        self.write("proc/net/fib_trie", FIB_TRIE.format(address=address))

    def run(self, script: str) -> int:
        command = ["/bin/sh", str(self.bundle / script)]
        return subprocess.run(command, env=self.environment, check=False, timeout=60).returncode  # noqa: S603


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """These tests make tens of thousands of small files."""
    with folder_in_memory(tmp_path) as folder:
        yield folder


@pytest.fixture(autouse=True)
def no_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    """No flush to disk: no test cuts the power, and flushing thousands of files takes minutes."""
    monkeypatch.setattr("os.fsync", lambda descriptor: None)


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle, compiled: each start of its programs, which write no bytecode, would compile them again."""
    made = tmp_path_factory.mktemp("compiled") / "bundle"
    shutil.copytree(LIFECYCLE, made, ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(str(made), quiet=1)
    return made


@pytest.fixture
def node(tmp_path: Path, bundle: Path) -> Node:
    """The node 10.1.0.5 of the group `workers`, with its file system mounted."""
    shutil.copytree(bundle, tmp_path / "bundle")
    made = Node(tmp_path)
    made.environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "NODE_SETUP_ROOT": str(tmp_path),
        "NODE_SETUP_MOUNT_SECONDS": "1",
        "NODE_SETUP_GRACE_SECONDS": "0",
        "NODE_SETUP_ROLE_SECONDS": "0",
        "NODE_SETUP_SLURM_SECONDS": "0",
        "NODE_SETUP_UPLOAD_SECONDS": "0",
    }
    made.config(CONFIG)
    made.write("usr/bin/systemctl", SYSTEMCTL.format(state=tmp_path / "run/units"))
    (tmp_path / "usr/bin/systemctl").chmod(0o755)
    made.write("etc/munge/munge.key", "")
    made.write("run/units/slurmd.service.active", "")
    made.write("run/units/slurmctld.service.active", "")
    made.resources([instances("controller", "10.1.0.4"), instances("workers", "10.1.0.5")])
    made.address("10.1.0.5")
    made.write("proc/mounts", "/dev/root / ext4 rw 0 0\n" + MOUNTED)
    (tmp_path / "fsx").mkdir()
    return made
