"""A node in a temporary folder: its files, its accounts, and doubles of the steps' programs."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Any

from node_setup import home_child
from node_setup.commands import Command, Completed
from node_setup.config import parse_config
from node_setup.log import Log
from node_setup.node import Host, Node, Patience
from node_setup.registry import planned
from node_setup.role import Role
from node_setup.runner import run_steps
from node_setup.waiting import Clock
from node_trust.as_user import Answer, Identity
from node_trust.folder import Folder
from node_trust.owners import Ownership, Unowned

from .conftest import LUSTRE, MOUNTED

SLURM_CONF = """# Written by the host agent: do not edit.
ClusterName=demo
SlurmctldHost=ip-10-1-0-4(10.1.0.4)
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
include accounting.conf
NodeName=ip-10-1-0-5 NodeAddr=10.1.0.5
PartitionName=dev Nodes=ALL
"""
KEY = "ssh-ed25519 AAAA-of-alice alice@laptop"
ALICE = {"name": "alice", "uid": 10001, "gid": 10001, "groups": ["docker"], "sudo": True, "ssh_keys": [KEY]}
BOB = {"name": "bob", "uid": 10002, "gid": 10002}
CONFIG: dict[str, Any] = {
    "version": 1,
    "cluster": {"node_recovery": "Automatic"},
    "groups": {
        "controller": {"node_type": "Controller"},
        "login": {"node_type": "Login"},
        "workers": {"node_type": "Compute", "partition": "gpu"},
    },
    "mounts": {"controller": [LUSTRE], "login": [LUSTRE], "workers": [LUSTRE]},
    "software": {
        "shared_directory": "/fsx",
        "homes": "/fsx/home",
        "users": [ALICE, BOB],
        "accounting": {"type": "local"},
        "containers": True,
        "sssd": "[sssd]\ndomains = example\n",
        "health": {"interval_seconds": 30},
        "log_rotation": True,
        "motd": True,
        "metrics": {"interval_seconds": 60, "sets": ["memory"], "port": 9190},
    },
    "steps": [
        {"name": "first", "when": "before", "node_types": [], "mandatory": True, "seconds": 60},
        {"name": "last", "when": "after", "node_types": ["Compute"], "mandatory": True, "seconds": 60},
    ],
}
TYPES = {"Controller": ("controller", "10.1.0.4"), "Login": ("login", "10.1.0.6"), "Compute": ("workers", "10.1.0.5")}
PROGRAMS = "systemctl ssh-keygen dockerd enroot sssd mariadb mariadb-dump scontrol sacctmgr useradd usermod groupadd mount aws"

# What programs change.
STATE = ("active", "enabled", "database", "shown", "networks", "udsp", "bound")


class Killed(BaseException):
    """The process ends here, before an effect."""


class TestClock(Clock):
    """Sleeping takes no time."""

    __test__ = False

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return 1_700_000_000.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Owners(Ownership):
    """Owners by inode, common to all machines, which may share a folder: only root can change real owners."""

    by_inode: dict[tuple[int, int], tuple[int, int]] = {}  # noqa: RUF012

    def of(self, status: Any) -> tuple[int, int]:
        return self.by_inode.get((status.st_dev, status.st_ino), (0, 0))

    def copy(self, old: os.stat_result, new: os.stat_result) -> None:
        self.by_inode[(new.st_dev, new.st_ino)] = self.of(old)

    def give(self, descriptor: int, ids: tuple[int, int]) -> None:
        status = os.fstat(descriptor)
        self.by_inode[(status.st_dev, status.st_ino)] = ids


@dataclass
class Database:
    """A server with the password of Slurm's user, and the content of its tables."""

    password: str | None = None
    content: str = "empty"


@dataclass
class Machine:
    root: Path
    name: str
    node_type: str
    config: dict[str, Any]
    active: set[str] = field(default_factory=set)
    enabled: set[str] = field(default_factory=set)
    limits: str = "unlimited"
    database: Database = field(default_factory=Database)
    shown: dict[str, list[str]] = field(default_factory=lambda: {"cluster": ["demo"], "account": [], "user": []})
    commands: list[str] = field(default_factory=list)
    effects: list[str] = field(default_factory=list)
    secret: str = '{"username": "admin", "password": "pw"}'
    listens: bool = True
    broken: set[str] = field(default_factory=set)
    answers: str = "UP"
    networks: dict[str, list[str]] = field(default_factory=dict)
    udsp: list[str] = field(default_factory=list)
    bound: dict[str, str] = field(default_factory=dict)
    kill_at: int | None = None
    before_effect: Callable[[], None] = lambda: None
    log: StringIO = field(default_factory=StringIO)
    owners: Owners = field(default_factory=Owners)
    given: Command = field(default_factory=lambda: Command([]))

    @property
    def source(self) -> Path:
        """The staged scripts, shortened."""
        return self.root.parent / f"{self.root.name}-scripts"

    def path(self, path: str) -> Path:
        return Path(f"{self.root}{path}")

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        self.path(path).parent.mkdir(parents=True, exist_ok=True)
        self.path(path).write_text(text, encoding="utf-8")
        self.path(path).chmod(mode)

    def text(self, path: str) -> str:
        return self.path(path).read_text(encoding="utf-8")

    def names(self, path: str) -> set[str]:
        return {found.name for found in self.path(path).iterdir()}

    def node(self, mode: str) -> Node:
        group, address = TYPES[self.node_type]
        role = Role(group, self.node_type, None, f"i-{group}", address, [address], ["10.1.0.4"], "abc123")
        host = Host(
            str(self.root),
            self.name,
            TestClock(),
            self.owners,
            self.run,
            self.run_in_home,
            lambda address, port: self.listens,
            self.observe,
        )
        patience = Patience(mount=60, grace=5, role=1, slurm=10)
        return Node(mode, parse_config(self.config), role, self.source, Log(self.log), host, patience)

    def set_up(self, mode: str) -> list[str]:
        """Runs all steps; returns the effects of this run."""
        self.effects = []
        node = self.node(mode)
        run_steps(node, planned(mode, node))
        return self.effects

    def observe(self, effect: str) -> None:
        if self.kill_at is not None and len(self.effects) == self.kill_at:
            raise Killed(effect)
        self.before_effect()
        self.effects.append(effect)

    def copy(self, root: Path) -> Machine:
        """The same machine in another folder, as it is now: a process that ends here, by whatever signal, leaves this."""
        root.parent.mkdir(parents=True, exist_ok=True)
        for old, new in ((self.root, root), (self.source, root.parent / self.source.name)):
            self.owners.copy(old.lstat(), copy_folder(str(old), str(new), self.owners))
        own = {name: deepcopy(getattr(self, name)) for name in STATE}
        return replace(self, root=root, before_effect=lambda: None, commands=[], effects=[], log=StringIO(), **own)

    def skipped(self) -> list[str]:
        return re.findall(r"skipped: (.*)", self.log.getvalue())

    # Doubles of programs

    def run(self, root: str, command: Command) -> Completed:
        words = command.words
        self.commands.append(" ".join(words))
        if words[0].startswith("/opt/hyperpod/own/"):
            self.write(f"/ran{words[0]}", self.text(words[0]))
            return Completed(0, "it ran\n", "")
        if not self.path(f"/usr/bin/{words[0]}").exists():
            return Completed(127, "", f"{words[0]} is not installed")
        self.given = command
        program: Callable[..., Completed] = getattr(self, "_" + words[0].replace("-", "_"))
        return program(list(words[1:]), command.text, command.environment)

    def run_in_home(self, who: Identity, home: str, programs: str, request: home_child.Request) -> Answer:
        with Folder.open(home, Unowned(), checked=False, tag=request.node) as folder:
            said = home_child.answer(folder, request, self._keygen)
        return Answer(0, json.dumps(said).encode(), "")

    def _keygen(self, command: list[str]) -> str:
        done = self._ssh_keygen(command[1:], "", {})
        if done.code:
            raise OSError(done.code, done.error)
        return done.output

    def _systemctl(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        verb, unit = arguments[0], arguments[-1]
        if verb == "is-active":
            return Completed(0 if unit in self.active else 3, "", "")
        if verb == "is-enabled":
            return Completed(0 if unit in self.enabled else 1, "", "")
        if verb == "show":
            return Completed(
                0, {"LoadState": "loaded", "MainPID": "77" if unit in self.active else "0"}.get(arguments[2], "active"), ""
            )
        if verb == "enable":
            self.enabled.update(arguments[2:])
        if verb in ("start", "restart") and unit in self.broken:
            return Completed(1, "", f"Job for {unit} failed")
        if verb in ("start", "restart"):
            self.active.add(unit)
            if unit == "slurmd.service":
                self.write(
                    "/proc/77/limits", f"Max locked memory         {self.limits}            {self.limits}            bytes\n"
                )
        if verb == "start" and unit == "slurmctld.service" and not self.path("/var/spool/slurmctld/clustername").exists():
            self.write("/var/spool/slurmctld/clustername", "demo of " + self.database.content)
        if verb == "stop":
            self.active.discard(unit)
        if verb == "disable":
            self.active.discard(unit)
            self.enabled.discard(unit)
        return Completed(0, "", "")

    def _ssh_keygen(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        if arguments[0] == "-A":
            self.write("/etc/ssh/ssh_host_ed25519_key", f"private of {self.root.name}", 0o600)
            return Completed(0, "", "")
        path = Path(arguments[-1])
        if arguments[0] == "-y":
            private = path.read_text(encoding="utf-8") if path.exists() else ""
            known = private.startswith("private of ")
            return Completed(0, "ssh-ed25519 " + private[11:] + "\n", "") if known else Completed(255, "", "error in libcrypto")
        assert not path.exists(), "ssh-keygen asks before it overwrites"
        path.write_text(f"private of {arguments[6]} from {self.name}", encoding="utf-8")
        path.with_name(path.name + ".pub").write_text("public", encoding="utf-8")
        return Completed(0, "", "")

    def _mariadb(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        if text:
            found = re.search(r"ALTER USER .* IDENTIFIED BY '(\w+)'", text)
            assert found is not None
            self.database.password = found[1]
        elif environment.get("MYSQL_PWD") != self.database.password:
            return Completed(1, "", "ERROR 1045 (28000): Access denied for user 'slurm'@'localhost'")
        elif self.given.source is not None:
            assert self.given.alone
            self.database.content = self.given.source.read().decode()
        return Completed(0, "", "")

    def _mariadb_dump(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        if environment.get("MYSQL_PWD") != self.database.password:
            return Completed(2, "", "Access denied")
        assert self.given.output is not None
        self.given.output.write(self.database.content.encode())
        return Completed(0, "", "")

    def _scontrol(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        return Completed(
            0, {"ping": f"Slurmctld(primary) at x is {self.answers}\n", "--version": "slurm 24.11.5\n"}.get(arguments[0], ""), ""
        )

    def _sacctmgr(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        if "show" in arguments:
            return Completed(0, "\n".join(self.shown[arguments[arguments.index("show") + 1]]), "")
        entity, name = arguments[2], arguments[3]
        assert name not in self.shown[entity]
        self.shown[entity].append(name)
        return Completed(0, "", "")

    def _modinfo(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        return Completed(0, "", "")

    _modprobe = _modinfo

    def _lnetctl(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        what, verb = arguments[:2]
        if (what, verb) == ("net", "show"):
            asked = arguments[3:] or list(self.networks)
            lines = [f"- nid: 10.1.0.5@{net}\n  interfaces:\n      0: {one}" for net in asked for one in self.networks.get(net, ())]
            return Completed(0, "\n".join(lines), "")
        if (what, verb) == ("net", "add"):
            assert arguments[5] not in self.networks.get(arguments[3], ()), "lnetctl refuses an interface that is there"
            self.networks.setdefault(arguments[3], []).append(arguments[5])
        if what == "udsp" and verb == "add":
            assert not self.udsp, "lnetctl refuses a second rule"
            self.udsp.append(" ".join(arguments[2:]))
        return Completed(0, "\n".join(self.udsp) if verb == "show" else "", "")

    def _groupadd(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        self.write("/etc/group", self.text("/etc/group") + f"{arguments[2]}:x:{arguments[1]}:\n")
        return Completed(0, "", "")

    def _useradd(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        value = {name: arguments[arguments.index(name) + 1] for name in ("--uid", "--gid", "--home-dir")}
        line = f"{arguments[-1]}:x:{value['--uid']}:{value['--gid']}::{value['--home-dir']}:/bin/bash\n"
        self.write("/etc/passwd", self.text("/etc/passwd") + line)
        return Completed(0, "", "")

    def _usermod(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        user = arguments[-1]
        if arguments[0] == "--append":
            lines = [
                (line.rstrip(",") + ("" if line.endswith(":") else ",") + user)
                if line.split(":")[0] in arguments[2].split(",")
                else line
                for line in self.text("/etc/group").splitlines()
            ]
            self.write("/etc/group", "\n".join(lines) + "\n")
        else:
            lines = [line for line in self.text("/etc/passwd").splitlines() if not line.startswith(user + ":")]
            uid = next(line.split(":")[2] for line in self.text("/etc/passwd").splitlines() if line.startswith(user + ":"))
            lines.append(f"{user}:x:{uid}:{arguments[3]}::{arguments[1]}:/bin/bash")
            self.write("/etc/passwd", "\n".join(lines) + "\n")
        return Completed(0, "", "")

    def _mount(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        if arguments[0] == "--bind":
            assert self.path(arguments[1]).is_dir()
            assert self.path(arguments[2]).is_dir()
            self.bound[arguments[2]] = arguments[1]
            self.write("/proc/mounts", self.text("/proc/mounts") + f"/dev/nvme1n1 {arguments[2]} xfs rw 0 0\n")
            return Completed(0, "", "")
        self.write("/proc/mounts", self.text("/proc/mounts") + MOUNTED)
        return Completed(0, "", "")

    def _cp(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        assert arguments[:2] == ["--archive", "--one-file-system"]
        source, target = (self.path(path) for path in arguments[2:])
        assert not target.exists(), "cp would copy into the folder"
        shutil.copytree(source, target, symlinks=True)
        return Completed(0, "", "")

    def _rm(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        assert arguments[:2] == ["-rf", "--one-file-system"]
        for path in map(self.path, arguments[2:]):
            if path.exists():
                shutil.rmtree(path)
        return Completed(0, "", "")

    def _aws(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        return Completed(0, self.secret, "") if self.secret else Completed(254, "", "An error occurred (AccessDeniedException)")

    def snapshot(self) -> dict[str, Any]:
        """Files with mode, owner and content, and the state of the programs."""
        found: dict[str, Any] = {"active": sorted(self.active), "enabled": sorted(self.enabled), "shown": self.shown}
        found["database"] = (self.database.password is not None, self.database.content)
        for path, status in tree_of(str(self.root)):
            name = path[len(str(self.root)) + 1 :]
            if name.startswith("var/lib/hyperpod/accounting_password"):
                continue
            content = None
            if stat.S_ISREG(status.st_mode):
                with open(path, encoding="utf-8") as file:  # noqa: PTH123  # a Path takes longer to make than the file to read
                    content = file.read()
            if content is not None and name.endswith(("slurmdbd.conf", "applied.json")):
                content = re.sub(r"(?<=StoragePass=)\w+|(?<=\"slurmdbd\": \")\w+", "…", content)
            found[name] = (oct(status.st_mode), self.owners.of(status), content)
        return found


def tree_of(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below a folder but links, with its status; by strings and handles, because a test makes 300 of these walks."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                continue
            yield entry.path, entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                yield from tree_of(entry.path)


def copy_folder(old: str, new: str, owners: Owners) -> os.stat_result:
    """Copy a folder with modes, links and the owners of its content; returns the status of the copy."""
    os.mkdir(new)  # noqa: PTH102
    with os.scandir(old) as entries:
        for entry in entries:
            target = f"{new}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                made = copy_folder(entry.path, target, owners)
            elif entry.is_symlink():
                os.symlink(os.readlink(entry.path), target)  # noqa: PTH115, PTH211
                made = os.lstat(target)
            else:
                shutil.copy(entry.path, target)
                made = os.lstat(target)
            owners.copy(entry.stat(follow_symlinks=False), made)
    shutil.copymode(old, new)
    return os.lstat(new)


def make_machine(root: Path, node_type: str, mode: str, shared: Path | None = None, name: str = "") -> Machine:
    """A node after the image's set-up, in a mode; `shared` is mounted on /fsx."""
    machine = Machine(root, name or "ip-" + TYPES[node_type][1].replace(".", "-"), node_type, json.loads(json.dumps(CONFIG)))
    programs = ("node_setup/__main__.py", "node_setup/steps/one.py", "node_health/__main__.py", "node_metrics/__main__.py")
    for script in (*programs, "own/first", "own/last"):
        (machine.source / script).parent.mkdir(parents=True, exist_ok=True)
        (machine.source / script).write_text(f"# {script}\n", encoding="utf-8")
    (machine.source / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    for program in PROGRAMS.split():
        machine.write(f"/usr/bin/{program}", "#!/bin/sh\n", 0o755)
    machine.write("/etc/passwd", "root:x:0:0:root:/root:/bin/bash\nslurm:x:64030:64030::/nonexistent:/usr/sbin/nologin\n")
    machine.write("/etc/group", "root:x:0:\nslurm:x:64030:\ndocker:x:998:\n")
    machine.write("/etc/skel/.bashrc", "# skeleton\n")
    machine.write("/etc/nsswitch.conf", "passwd: files sss\n")
    machine.write("/etc/ssh/sshd_config", "")
    machine.write("/etc/munge/munge.key", "key", 0o600)
    machine.write("/etc/docker/daemon.json", '{"log-driver": "local"}')
    machine.write("/etc/enroot/enroot.conf", "ENROOT_DATA_PATH /tmp\n")
    mounted = MOUNTED if mode == "on_init_complete" else ""
    machine.write("/proc/mounts", mounted + "/dev/nvme1n1 /opt/dlami/nvme xfs rw 0 0\n")
    for folder in ("/etc/logrotate.d", "/opt/slurm/etc", "/opt/dlami/nvme"):
        machine.path(folder).mkdir(parents=True)
    if shared is None:
        machine.path("/fsx").mkdir()
    else:
        machine.path("/fsx").symlink_to(shared)
    if node_type == "Controller":
        machine.write("/opt/slurm/etc/slurm.conf", SLURM_CONF)
        machine.write("/opt/slurm/etc/accounting.conf", "")
    if mode == "on_init_complete":
        imitate_image(machine)
    return machine


def imitate_image(machine: Machine) -> None:
    """Double of the image's own set-up."""
    units = {"munge.service", "docker.service", "systemd-logind.service", "ssh.service"}
    if machine.node_type == "Controller":
        units |= {"slurmctld.service", "slurmdbd.service", "mariadb.service"}
        machine.database.password = "image"
        machine.write("/opt/slurm/etc/slurmdbd.conf", "StorageHost=localhost\nStorageUser=slurm\nStoragePass=image\n", 0o600)
        machine.write("/opt/slurm/etc/accounting.conf", "AccountingStorageType=accounting_storage/slurmdbd\n")
        machine.write("/var/spool/slurmctld/clustername", "demo of the image")
    else:
        units.add("slurmd.service")
        machine.write("/proc/77/limits", "Max locked memory         unlimited            unlimited            bytes\n")
    machine.active |= units
    machine.enabled |= units


def empty(path: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()
