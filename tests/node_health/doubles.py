"""Doubles: a machine with a test's files, commands and clock, and a slurmctld that answers `scontrol` in its own format."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Sequence

from node_health.finding import ACTIONS
from node_health.heartbeat import DIRECTORY, HEADER_BYTES
from node_health.settings import Settings
from node_health.shared import CLUSTER
from node_health.system import Result, Space, UserFile
from node_trust.as_user import Identity

SETTINGS = Settings(enabled=True, shared_directory="/fsx", mounts=("/fsx",), interval_seconds=60, hang_seconds=100)
MOUNTS = "/dev/root / ext4 rw,errors=remount-ro 0 0\n10.1.0.9@tcp:/abcd /fsx lustre rw,flock 0 0\n"
OPTIONS = "NodeName={name} Arch=x86_64 CPUAlloc=0 Gres={gres} NodeAddr={name} OS=Linux 6.1.0 #1 SMP State={state} MCS_label=N/A"


class Machine:
    """A double of `node_health.system.System`. Anything that a test does not set is absent; time advances only by a sleep."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self.files: dict[str, str] = {"/proc/self/mounts": MOUNTS, "/proc/sys/kernel/random/boot_id": f"boot of {name}\n"}
        self.files[CLUSTER] = "c1\n"
        self.modes: dict[str, int] = {}
        self.owners: dict[str, int] = {}
        self.programs: dict[str, Callable[[Sequence[str], str], Result]] = {}
        self.pids: dict[str, set[int]] = {}
        self.killed: list[tuple[int, int]] = []
        self.commands: list[list[str]] = []
        self.ignores: dict[int, int] = {}
        self.mount_hangs = False
        self.events: list[str] = []
        self.held: set[str] = set()

    def run(self, command: Sequence[str], seconds: float, text: str = "") -> Result:
        self.commands.append(list(command))
        if command[0] == "scontrol":
            return self.cluster.scontrol(self, command[1:])
        if command[-1].endswith("shared_child.py"):
            return self.cluster.share(self, text)
        if command[0] == sys.executable:
            return Result(None, pid=4000) if self.mount_hangs else Result(0)
        program = self.programs.get(command[0])
        return Result(127, error="not found") if program is None else program(command, text)

    def find(self, program: str) -> str | None:
        return program if program in self.programs else None

    def read(self, path: str) -> str | None:
        return self.files.get(path)

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        self.files[path] = text
        self.modes[path] = stat.S_IFREG | mode
        self.events.append(f"write {path}")

    def append(self, path: str, text: str) -> None:
        self.files[path] = self.files.get(path, "") + text

    def remove(self, path: str) -> None:
        for found in [found for found in self.files if found.startswith(f"{path}/")]:
            del self.files[found]

    def user_names(self, directory: str, count: int) -> list[str]:
        return self.names(directory)[:count]

    def user_files(self, directory: str, names: re.Pattern[str], count: int, size: int) -> dict[str, UserFile]:
        found = {name: f"{directory}/{name}" for name in self.names(directory) if names.fullmatch(name)}
        return {name: UserFile(self.files[path], self.owners.get(path, 0)) for name, path in found.items()}

    def remove_as_owner(self, directory: str, name: str) -> None:
        self.remove(f"{directory}/{name}")

    def run_as(self, identity: Identity, program: Sequence[str], seconds: float, output: int) -> Result:
        self.commands.append(list(program))
        return Result(0, json.dumps({"stacks": "in stand_still", "flight": ""}))

    def open_directory(self, path: str) -> None:
        self.events.append(f"open {path}")

    def own_space(self, path: str) -> bool:
        return True

    def names(self, directory: str) -> list[str]:
        below = [path[len(directory) + 1 :] for path in self.files if path.startswith(f"{directory}/")]
        return sorted({path.partition("/")[0] for path in below})

    def status(self, path: str) -> os.stat_result | None:
        if path not in self.files and path not in self.owners:
            return None
        mode = self.modes.get(path, stat.S_IFREG | 0o755)
        return os.stat_result((mode, 0, 0, 1, self.owners.get(path, 0), 0, 0, 0, 0, 0))

    def space(self, path: str) -> Space | None:
        return Space(50, 100, 50, 100)

    def now(self) -> float:
        return self.cluster.time

    def monotonic(self) -> float:
        return self.cluster.time

    def sleep(self, seconds: float) -> None:
        self.cluster.time += seconds

    def kill(self, pid: int, number: int) -> bool:
        self.killed.append((pid, number))
        self.events.append(f"kill {pid}")
        if self.ignores.get(pid) != number:
            for pids in self.pids.values():
                pids.discard(pid)
        return True

    @contextlib.contextmanager
    def alone(self, lock: str, seconds: float) -> Iterator[bool]:
        alone = lock not in self.held
        self.held.add(lock)
        yield alone
        if alone:
            self.held.remove(lock)

    @property
    def log(self) -> str:
        return self.files.get("/var/log/hyperpod/node_health.log", "")

    def beat(self, step: str, rank: int, progress: int, **header: object) -> None:
        """A live rank with this progress; its process is `1000 + rank`, started at tick 77."""
        pid = int(str(header.get("pid", 1000 + rank)))
        values = {"pid": pid, "start": 77, "rank": rank, "world": 4, "restart": 0, "signal": 44, **header}
        state = "P" if values.pop("paused", False) else "R"
        busy = float(str(values.pop("busy", 0.1)))
        line = f"{state} {progress:20d} {busy:14.6f} {0.0:14.6f}\n"
        self.files[f"{DIRECTORY}/{step}/{rank}"] = json.dumps(values).ljust(HEADER_BYTES - 1) + "\n" + line

    def live(self, step: str, *ranks: int) -> None:
        """These ranks' processes are tasks of the step."""
        for rank in ranks:
            self.files[f"/proc/{1000 + rank}/stat"] = f"{1000 + rank} (python) S " + " ".join(["0"] * 18 + ["77", "0"])
            self.owners[f"/proc/{1000 + rank}"] = 0
            self.files[f"/proc/{1000 + rank}/status"] = "Name:\tpython\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t0 \n"
        self.pids[step] = {1000 + rank for rank in ranks}


class Cluster:
    """The nodes, their shared directory and slurmctld, which keeps state, reason and Extra by name."""

    def __init__(self, names: Sequence[str]) -> None:
        self.time = 1_700_000_000.0
        self.machines = {name: Machine(self, name) for name in names}
        self.nodes = {name: {"state": "IDLE", "reason": "", "extra": "", "gres": "(null)"} for name in names}
        self.files: dict[str, str] = {}
        self.shared_lost = False
        self.down = False
        self.operations: dict[str, int] = dict.fromkeys(names, 0)
        """The operations on the shared directory, by node: writes, removals, reads and lists."""
        self.reasons: list[tuple[str, str]] = []

    def __getitem__(self, name: str) -> Machine:
        return self.machines[name]

    def replace(self, name: str) -> Machine:
        """A new machine under the old name: disk and memory are empty, and slurmctld keeps its text."""
        self.machines[name] = Machine(self, name)
        self.nodes[name].update(state="IDLE", reason="")
        return self.machines[name]

    def scontrol(self, machine: Machine, arguments: Sequence[str]) -> Result:
        if arguments[0] == "listpids":
            return self._listpids(machine, *arguments[1:])
        if arguments[:2] == ["show", "hostnames"]:
            return Result(0, arguments[2].replace(",", "\n") + "\n")
        if self.down:
            return Result(1, error="slurm_load_node error: Unable to contact slurm controller (connect failure)")
        if arguments[0] == "update":
            return self._update(machine, dict(argument.partition("=")[::2] for argument in arguments[1:]))
        names = list(self.nodes) if arguments[-1] == "nodes" else [arguments[-1]]
        return Result(0, "".join(self._line(name) for name in names))

    def share(self, machine: Machine, text: str) -> Result:
        if self.shared_lost:
            return Result(None, pid=4001)
        request = json.loads(text)
        for kind in ("write", "encoded"):
            self.files.update(request[kind])
            machine.events += [f"share {name}" for name in request[kind]]
        for name in request["remove"]:
            self.files.pop(name, None)
        found = {name: self.files[name] for name in request["files"] if name in self.files}
        for folder in request["read"]:
            found.update({name: text for name, text in self.files.items() if name.startswith(f"{folder}/")})
        asked = [len(request[kind]) for kind in ("write", "encoded", "remove", "files", "read")]
        self.operations[machine.name] = self.operations.get(machine.name, 0) + sum(asked) + len(set(found) - set(request["files"]))
        return Result(0, json.dumps(found))

    def _line(self, name: str) -> str:
        node = self.nodes[name]
        line = OPTIONS.format(name=name, state=node["state"], gres=node["gres"])
        line += f" Reason={node['reason']} [root@2026-11-21T15:00:00]" if node["reason"] else ""
        return line + (f" Extra={node['extra']}" if node["extra"] else "") + "\n"

    def _update(self, machine: Machine, changes: dict[str, str]) -> Result:
        node = self.nodes[changes["node"]]
        machine.events.append(f"update {changes['node']} {changes.get('state', '')}".rstrip())
        if "reason" in changes:
            assert changes["reason"] in ACTIONS
            self.reasons.append((changes["node"], changes["reason"]))
        node.update({key: value for key, value in changes.items() if key != "node"})
        return Result(0)

    def _listpids(self, machine: Machine, only: str = "") -> Result:
        steps = [step.split(".") for step in machine.pids]
        rows = [(pid, job, step) for job, step in steps if only in ("", job) for pid in machine.pids[f"{job}.{step}"]]
        if not rows:
            return Result(1, "PID      JOBID    STEPID   LOCALID GLOBALID\n", "No job steps exist on this node.\n")
        body = "".join(f"{pid:<8} {job:<8} {step:<8} 0       0\n" for pid, job, step in rows)
        return Result(0, "PID      JOBID    STEPID   LOCALID GLOBALID\n" + body)
