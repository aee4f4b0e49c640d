"""Jobs of examples/ on virtual nodes: their batch scripts submitted by a user, watched through what they leave on /fsx."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hyperpod_constructs.local.nodes import Image, NodeSpec, Rig, VirtualNode
from hyperpod_constructs.local.nodes.doubles.health_agent import HealthAgent
from tests.examples.jobs import EXAMPLES, GLOBAL_BATCH, QUICK, Pace, find_python, undisturbed
from tests.nodes.configuration import GROUPS, LIFECYCLE, WAIT_SECONDS, configuration

PYTHON_HOME = "/opt/jobs/python"
PACKAGES = "/opt/jobs/packages"
SEEN_QUICK = "/fsx/venv/quick"
USER = "alice"
USER_ID = 10001
STEPS = 40
# Longer than jobs wait for a lost peer, and than this machine leaves a rank without processor time.
HANG_SECONDS = 20
CHECKS = "/opt/hyperpod/checks.d"
HEALTH_CHECK = "/opt/hyperpod/bin/health_check"
NODE_CONFIG = "/opt/hyperpod/config.json"
CONFIG = configuration(
    GROUPS,
    homes="/fsx/home",
    users=[{"name": USER, "uid": USER_ID, "gid": USER_ID}],
    # Slurm's checks are rare here, because each takes processor time of the jobs; the tests run one where they need it.
    health={
        "interval_seconds": 60,
        "hang_seconds": HANG_SECONDS,
        "checks_directory": CHECKS,
        "max_marks_per_node_per_day": 9,
        "max_marks_per_cluster_per_hour": 9,
    },
)
# A virtual environment as a user would make it on /fsx; the interpreter is the host's, which no node has.
WRAPPER = """#!/bin/sh
export LD_LIBRARY_PATH={home}/lib PYTHONPATH="$PYTHONPATH:{quick}:{packages}" PYTHONDONTWRITEBYTECODE=1
exec {home}/bin/{name} "$@"
"""
DESCRIBE = """
import sys, sysconfig
print(sys.base_prefix, sysconfig.get_path("purelib"), "python" + sysconfig.get_python_version(), sep="\\n")
"""
LIGHTHOUSE = "#!/fsx/venv/bin/python\nfrom torchft._torchft import lighthouse_main\nlighthouse_main()\n"
SETTINGS = {
    "PYTHON": "/fsx/venv/bin/python",
    "DATA": "/fsx/tokens.npy",
    "MODEL": "tiny",
    "STEPS": str(STEPS),
    "GLOBAL_BATCH": str(GLOBAL_BATCH),
    "MICRO_BATCH": "2",
    "CHECKPOINT_EVERY": "5",
    "LAST_CALL_SECONDS": "10",
    "FINISH_SECONDS": "10",
}


# How long a requeued job waits is the credentials' lifetime; Slurm's default is two minutes.
DROP_IN = "AuthInfo=cred_expire=5"


@contextmanager
def training_cluster(directory: Path, image: Image, *workers: NodeSpec, config: Mapping[str, Any] = CONFIG) -> Iterator[Training]:
    """A controller, a login node and workers, set up by lifecycle/, with the jobs on /fsx."""
    python = find_python()
    with Rig.create(directory, image=image, binds=binds(python), wait_seconds=WAIT_SECONDS) as rig:
        specs = [NodeSpec("controller", "Controller", 1), NodeSpec("login", "Login", 1), *workers]
        nodes = rig.boot(specs, scripts=LIFECYCLE, config=config)
        assert {node.name: node.failure for node in nodes if node.failure} == {}
        add = f"echo {DROP_IN} >> /opt/slurm/etc/accounting.conf; systemctl restart slurmctld"
        rig.controller.run(["sh", "-euc", add])
        rig.await_idle()
        training = Training(rig, python)
        yield training


def binds(python: Path) -> dict[Path, str]:
    """What the nodes see of the host: the interpreter and the packages of the jobs, read-only."""
    home, packages, _ = _described(python)
    return {Path(home).resolve(): PYTHON_HOME, Path(packages).resolve(): PACKAGES}


def _described(python: Path) -> list[str]:
    """The home of an interpreter, the folder of its packages and its name with the version."""
    command = [str(python), "-c", DESCRIBE]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()  # noqa: S603


class Training:
    """A cluster whose user has the jobs, an environment for them and a token file on /fsx."""

    def __init__(self, rig: Rig, python: Path) -> None:
        self.rig = rig
        self.python = python
        self.jobs: list[TrainingJob] = []
        shared = rig.shared
        shutil.copytree(EXAMPLES, shared / "examples", ignore=shutil.ignore_patterns("__pycache__", ".mypy_cache"))
        shutil.copytree(QUICK, shared / "venv" / "quick", ignore=shutil.ignore_patterns("__pycache__"))
        wrapper = WRAPPER.format(home=PYTHON_HOME, quick=SEEN_QUICK, packages=PACKAGES, name=_described(python)[2])
        for name, text in (("python", wrapper), ("torchft_lighthouse", LIGHTHOUSE)):
            path = shared / "venv" / "bin" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
        make = [str(python), str(EXAMPLES / "common" / "make_data.py"), str(shared / "tokens.npy"), "--synthetic", "20000"]
        subprocess.run(make, check=True, stdout=sys.stderr)  # noqa: S603
        (shared / "runs").mkdir()
        (shared / "runs").chmod(0o777)

    def submit(self, script: str, *options: str, by: Sequence[str] = ("sbatch", "--parsable"), **settings: str) -> TrainingJob:
        """Submits a batch script, or what a script of the examples submits when it is called `by` a shell."""
        number = len(self.jobs)
        run = f"/fsx/runs/{number}-{Path(script).stem}"
        environment = {**SETTINGS, "RUN_DIR": run, **settings}
        given = ["--chdir=/fsx/examples", f"--output={run}.out", *options]
        path = f"/fsx/examples/{script}"
        command = [*by, *given, path] if by[0] == "sbatch" else [*by, path, *given]
        asked = self.rig.node("login", 0).run(command, user=USER, environment={**environment, "EXAMPLES": "/fsx/examples"})
        job = TrainingJob(self.rig, int(asked.stdout), self.rig.shared / run.removeprefix("/fsx/"))
        self.jobs.append(job)
        return job

    def pace(self, seconds: float) -> Pace:
        """The pause of the steps of the next job, which a test changes while the job runs."""
        name = f"pace-{len(self.jobs)}"
        pace = Pace(self.rig.shared / name, f"/fsx/{name}")
        pace.set(seconds)
        return pace

    def undisturbed(self, steps: int = STEPS, script: str = "ddp/train_ddp.py") -> list[dict[str, Any]]:
        """What every job must give, from a process of this machine."""
        directory = self.rig.shared / "runs" / f"undisturbed-{Path(script).stem}-{steps}"
        return undisturbed(self.python, self.rig.shared / "tokens.npy", directory, steps, script)

    def rest(self) -> None:
        """Ends what runs and waits until all nodes are idle again, as the next test needs them; what is broken is replaced."""
        for job in self.jobs:
            job.cancel()
        with HealthAgent(self.rig):
            self.rig.await_idle()


class TrainingJob:
    """A submitted job, as Slurm and its run directory show it."""

    def __init__(self, rig: Rig, number: int, directory: Path) -> None:
        self.rig = rig
        self.number = number
        self.directory = directory
        self.checkpoints = directory / "checkpoints"

    @property
    def text(self) -> str:
        path = self.directory.with_name(f"{self.directory.name}.out")
        return path.read_text(errors="replace") if path.exists() else ""

    def records(self, pattern: str = "samples.jsonl") -> list[dict[str, Any]]:
        """Committed steps, in the order of time; of several logs when the pattern names them."""
        lines = [line for path in self.directory.glob(pattern) for line in path.read_text().splitlines(keepends=True)]
        return sorted((json.loads(line) for line in lines if line.endswith("\n")), key=lambda record: float(record["time"]))

    def state(self) -> str:
        """Slurm's word for it, also when it has ended."""
        shown = self._scontrol("--oneliner", "show", "job", str(self.number))
        found = re.search(r" JobState=(\S+)", shown)
        return found[1] if found else "gone"

    def restarts(self) -> int:
        found = re.search(r" Restarts=(\d+)", self._scontrol("--oneliner", "show", "job", str(self.number)))
        assert found is not None
        return int(found[1])

    def nodes(self, task: int | None = None) -> list[VirtualNode]:
        """Those of its allocation, or of a task of a job array; the batch host is the first."""
        shown = self._scontrol("--oneliner", "show", "job", str(self.number) if task is None else f"{self.number}_{task}")
        found, host = re.search(r" NodeList=(\S+)", shown), re.search(r" BatchHost=(\S+)", shown)
        assert found is not None, shown
        assert host is not None, shown
        names = self._scontrol("show", "hostnames", found[1]).split()
        return sorted(
            (node for node in self.rig.nodes if node.name in names), key=lambda node: (node.name != host[1], node.address)
        )

    def until(self, condition: Callable[[], object], what: str, seconds: float = 180, pause: float = 0.1) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"{what}: not within {seconds:.0f} s; {self.picture()}"
            time.sleep(pause)

    def picture(self) -> str:
        """What Slurm says of the job and of the nodes, its log, and what the job has written."""
        said = [self._scontrol("--oneliner", "show", *what) for what in (["job", str(self.number)], ["nodes"])]
        log = self.rig.controller.run(["tail", "-n", "60", "/var/log/slurm/slurmctld.log"], check=False).stdout
        return "\n".join([*said, log, self.text[-5000:]])

    def until_step(self, step: int, pattern: str = "samples.jsonl", seconds: float = 180) -> None:
        self.until(lambda: any(record["step"] >= step for record in self.records(pattern)), f"step {step}", seconds)

    def complete(self, seconds: float = 240) -> list[dict[str, Any]]:
        """The committed steps, once Slurm calls the job complete."""
        # Each question to Slurm takes processor time of the jobs.
        self.until(lambda: self.state() == "COMPLETED", "the end", seconds, pause=1)
        return self.records()

    def cancel(self) -> None:
        self._scontrol("update", f"JobId={self.number}", "Requeue=0")
        self.rig.controller.run(["scancel", str(self.number)], check=False)

    def _scontrol(self, *arguments: str) -> str:
        return self.rig.controller.run(["scontrol", *arguments], check=False).stdout


def ranks(node: VirtualNode, script: str) -> list[int]:
    """The process ids, on their node, of the ranks that run this script; launchers have it among their arguments only."""
    listed = node.run(["pgrep", "--full", "--list-full", script], check=False).stdout.splitlines()
    pattern = re.compile(rf"(\d+) \S*python\S*( -u)? \S*{re.escape(script)}( |$)")
    return [int(found[1]) for line in listed if (found := pattern.match(line))]


def kill(node: VirtualNode, pids: list[int], signal: str = "KILL") -> None:
    assert pids, f"{node.name}: no process to send {signal} to"
    node.run(["kill", f"-{signal}", *map(str, pids)])


def replaced(agent: HealthAgent) -> list[str]:
    """The names of the nodes that the agent has replaced, once there is one."""
    actions = agent.await_actions(1)
    assert [action.problem for action in actions if action.problem is not None] == []
    return [action.node for action in actions]


def complete_without_power(job: TrainingJob, node: int) -> list[dict[str, Any]]:
    """The committed steps of a job whose node lost power on the way, and was replaced, as no other."""
    with HealthAgent(job.rig) as agent:
        job.until_step(12)
        lost = job.nodes()[node]
        lost.power_off()
        records = job.complete()
        assert replaced(agent) == [lost.name]
    return records


def stop_between_steps(node: VirtualNode, pid: int) -> None:
    """Stops a rank while it is not in a collective: then its heartbeat shows that it is the one which the others wait for."""
    for _ in range(50):
        kill(node, [pid], "STOP")
        *_, beat = node.run(["sh", "-c", "tail -c +1025 /run/hyperpod/heartbeat/*/1"]).stdout.splitlines()
        if int(beat.split()[1]) % 2 == 0:
            return
        kill(node, [pid], "CONT")
    raise AssertionError(f"{node.name}: process {pid} is always in a collective")


class Opens:
    """Tells by inotify whether any process on any node has opened a directory or a file in it."""

    IN_OPEN = 0x20

    def __init__(self, directory: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert libc.inotify_add_watch(self._descriptor, bytes(directory), self.IN_OPEN) >= 0, os.strerror(ctypes.get_errno())

    def seen(self) -> bool:
        try:
            return bool(os.read(self._descriptor, 65536))
        except BlockingIOError:
            return False

    def close(self) -> None:
        os.close(self._descriptor)
