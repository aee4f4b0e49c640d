"""Jobs of examples/ run on this machine: their batch scripts under doubles of Slurm's commands, their ranks over gloo."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.examples import jobs
from tests.examples.jobs import EXAMPLES, GLOBAL_BATCH, QUICK, find_python

DOUBLES = Path(__file__).parent / "doubles"

sys.path[:0] = [str(EXAMPLES), str(EXAMPLES / "rl")]

STEPS = 40


@pytest.fixture(scope="session")
def torch_python() -> Path:
    return find_python()


@pytest.fixture(scope="session")
def data(torch_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "tokens.npy"
    subprocess.run([torch_python, EXAMPLES / "common" / "make_data.py", path, "--synthetic", "20000"], check=True)  # noqa: S603
    return path


class Job:
    """One job: its batch script, started once or again as Slurm would after a requeue."""

    numbers = 0

    def __init__(self, directory: Path, python: Path, data: Path, script: str, nodes: int, **settings: str) -> None:
        Job.numbers += 1
        self.directory = directory
        self.script = EXAMPLES / script
        self.mark = f"{os.getpid()}-{Job.numbers}"
        self.run_directory = directory / "run"
        self.checkpoints = self.run_directory / "checkpoints"
        self.output = directory / "output"
        self.process: subprocess.Popen[bytes] | None = None
        for name in ("down", "left"):
            (directory / "double" / name).mkdir(parents=True)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "PYTHON", "COV"))},
            "PATH": f"{DOUBLES}:{os.environ['PATH']}",
            "DOUBLE_DIRECTORY": str(directory / "double"),
            "DOUBLE_JOB": self.mark,
            "SLURM_JOB_ID": str(os.getpid() % 800 + Job.numbers),
            "SLURM_JOB_NAME": Path(script).stem,
            "SLURM_JOB_NODELIST": ",".join(f"node-{number}" for number in range(nodes)),
            "SLURM_JOB_NUM_NODES": str(nodes),
            "SLURM_SUBMIT_DIR": str(EXAMPLES),
            "SLURMD_NODENAME": "node-0",
            "PYTHON": str(python),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GLOO_SOCKET_IFNAME": "lo",
            "RUN_DIR": str(self.run_directory),
            "DATA": str(data),
            "MODEL": "tiny",
            "STEPS": str(STEPS),
            "GLOBAL_BATCH": str(GLOBAL_BATCH),
            "MICRO_BATCH": "2",
            "CHECKPOINT_EVERY": "5",
            "COLLECTIVE_SECONDS": "15",
            "LAST_CALL_SECONDS": "5",
            "KEEP_ALIVE_SECONDS": "3",
            "FINISH_SECONDS": "10",
            **settings,
            "PYTHONPATH": ":".join(filter(None, (settings.get("PYTHONPATH"), str(QUICK)))),
        }

    def start(self, restarts: int = 0) -> None:
        with self.output.open("ab") as output:
            environment = {**self.environment, "SLURM_RESTART_COUNT": str(restarts)}
            self.process = subprocess.Popen(  # noqa: S603
                ["bash", self.script], env=environment, cwd=self.directory, stdout=output, stderr=output, start_new_session=True
            )

    def wait(self, timeout: float = 240) -> int:
        assert self.process is not None
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            pytest.fail(f"{self.script.name} did not end in {timeout} s:\n{self.text()[-6000:]}")

    def pids(self, *words: str) -> list[int]:
        """Processes of this job with these words in their command line, e.g. the ranks by their script."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdecimal() and f"DOUBLE_JOB={self.mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    command = (entry / "cmdline").read_text()
                    if all(word in command for word in words):
                        found.append(int(entry.name))
            except OSError:
                continue
        return sorted(found)

    def kill(self) -> None:
        """The batch host is lost, with everything on it."""
        for pid in self.pids(""):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.process is not None:
            self.process.wait()

    def text(self) -> str:
        return self.output.read_text(errors="replace") if self.output.exists() else ""

    def records(self, name: str = "samples.jsonl") -> list[dict[str, Any]]:
        path = self.run_directory / name
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def until(self, condition: Callable[[], object], what: str, timeout: float = 180) -> None:
        deadline = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > deadline or (self.process is not None and self.process.poll() is not None):
                pytest.fail(f"{self.script.name}: {what} did not happen:\n{self.text()[-6000:]}")
            time.sleep(0.05)

    def until_step(self, step: int, name: str = "samples.jsonl") -> None:
        self.until(lambda: any(record["step"] >= step for record in self.records(name)), f"step {step}")


@pytest.fixture
def make_job(torch_python: Path, data: Path, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    made: list[Job] = []

    def make(script: str, nodes: int, **settings: str) -> Job:
        directory = tmp_path / f"job-{len(made)}"
        directory.mkdir()
        made.append(Job(directory, torch_python, data, script, nodes, **settings))
        return made[-1]

    yield make
    for job in made:
        job.kill()


@pytest.fixture(scope="session")
def undisturbed(torch_python: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The expected result of every job, with any parallelism and any faults."""
    return jobs.undisturbed(torch_python, data, tmp_path_factory.mktemp("undisturbed") / "run", STEPS)
