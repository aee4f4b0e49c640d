"""The cost of the tests: the recorded last complete run of `make test`, and a run of `make test-fast` now."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "build" / "tests.json"
FULL_SECONDS, FAST_SECONDS = 900, 120
_LATE_SECONDS = 900


class SuiteError(RuntimeError):
    """The fast tests failed, so their seconds mean nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A complete run of tests that passed."""

    seconds: float
    passed: int
    skipped: int
    workers: int
    cores: int
    commit: str
    date: str

    @property
    def line(self) -> str:
        """The run in one line."""
        tests = f"{self.passed} passed" + (f", {self.skipped} skipped" if self.skipped else "")
        return f"{self.seconds:.0f} s   {tests}; {self.workers} processes on {self.cores} cores, {self.commit}, {self.date}"


def record(seconds: float, passed: int, skipped: int, workers: int, path: Path = RECORD) -> None:
    """Write a run down, with its commit and the date."""
    run = Run(
        seconds=round(seconds, 1),
        passed=passed,
        skipped=skipped,
        workers=workers,
        cores=os.cpu_count() or 1,
        commit=commit(),
        date=f"{datetime.now(UTC):%Y-%m-%d}",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(run), indent=2) + "\n", encoding="utf-8")


def read(path: Path = RECORD) -> Run | None:
    """The recorded run; `None` without one."""
    return Run(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def commit() -> str:
    """The commit of the checkout, with a mark for changed files."""
    command = ["git", "describe", "--always", "--dirty=, changed", "--exclude=*"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    return f"commit {done.stdout.strip()}" if done.returncode == 0 else "no commit"


def measure_fast(directory: Path) -> Run:
    """Run the fast tests as `make test-fast` does.

    :raises SuiteError: for a test that fails.
    """
    path = directory / "fast.json"
    command = [sys.executable, "-m", "pytest", *fast_options(), f"--record={path}"]
    done = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, text=True, timeout=_LATE_SECONDS)  # noqa: S603
    run = read(path)
    if done.returncode != 0 or run is None:
        raise SuiteError(f"make test-fast fails: {done.stdout[-2000:]}")
    return run


def fast_options() -> list[str]:
    """The options of pytest in the recipe of `make test-fast`."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ntest-fast:")[2].partition("\n\n")[0]
    return recipe.partition("pytest ")[2].replace("$(ARGS)", "").split()


def _environment() -> Mapping[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV"))}
