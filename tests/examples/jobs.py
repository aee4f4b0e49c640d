"""Shared by the tests of jobs, on this machine and on virtual nodes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
QUICK = Path(__file__).parent / "quick"
"""On the path of all processes of jobs."""
GLOBAL_BATCH = 12


def find_python() -> Path:
    """The Python with the packages of examples/requirements.txt; without one the test is skipped, on a CI machine it fails."""
    named = os.environ.get("HYPERPOD_EXAMPLES_PYTHON")
    python = Path(named) if named else ROOT / ".venv-examples" / "bin" / "python"
    if not python.exists():
        message = f"{python}: not there; make it with tools/setup_nodes.sh, or name another one in HYPERPOD_EXAMPLES_PYTHON"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return python


def undisturbed(python: Path, data: Path, directory: Path, steps: int, script: str = "ddp/train_ddp.py") -> list[dict[str, Any]]:
    """What every job must give, whatever its parallelism and its faults: one rank, without a launcher."""
    alone = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0", "OMP_NUM_THREADS": "1"}
    options = {
        "run-directory": directory,
        "data": data,
        "steps": steps,
        "global-batch": GLOBAL_BATCH,
        "micro-batch": 2,
        "checkpoint-every": steps,
    }
    arguments = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "PYTHON", "COV"))}
    directory.mkdir()
    subprocess.run(  # noqa: S603
        [python, EXAMPLES / script, *arguments],
        env={**environment, **alone, "PYTHONPATH": f"{EXAMPLES}:{QUICK}", "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
        stdout=sys.stderr,
    )
    records = [json.loads(line) for line in (directory / "samples.jsonl").read_text().splitlines()]
    assert [record["step"] for record in records] == list(range(steps))
    return records


def assert_undisturbed(records: Sequence[dict[str, Any]], undisturbed: Sequence[dict[str, Any]]) -> None:
    """All steps are there, and each line, also of a step done again, has the samples and the loss of the undisturbed run."""
    assert sorted({record["step"] for record in records}) == [record["step"] for record in undisturbed]
    for record in records:
        expected = undisturbed[record["step"]]
        assert record["samples"] == expected["samples"], record
        assert record["loss"] == pytest.approx(expected["loss"], abs=1e-4), record


def variables(pid: int) -> list[str]:
    """The environment of a process, as NAME=value; nothing of one that has ended."""
    try:
        return Path(f"/proc/{pid}/environ").read_text().split("\0")
    except OSError:
        return []


class Pace:
    """The pause of a running job's steps. Its ranks get `settings` and `argument`; they see `directory` as `seen_as`."""

    MARK = "0.12345"
    argument = f"--pause-seconds {MARK}"

    def __init__(self, directory: Path, seen_as: str | None = None) -> None:
        place = seen_as or str(directory)
        self.settings = {"PYTHONPATH": place, "PACE_FILE": f"{place}/seconds", "PACE_MARK": self.MARK}
        self._file = directory / "seconds"
        shutil.copytree(Path(__file__).parent / "pace", directory, ignore=shutil.ignore_patterns("__pycache__"))
        self.set(0.5)

    def set(self, seconds: float) -> None:
        """From each rank's next pause on."""
        partial = self._file.with_suffix(".partial")
        partial.write_text(str(seconds))
        partial.rename(self._file)
