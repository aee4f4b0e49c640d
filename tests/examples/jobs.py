"""Shared by the tests of jobs, on this machine and on virtual nodes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


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


def assert_undisturbed(records: Sequence[dict[str, Any]], undisturbed: Sequence[dict[str, Any]]) -> None:
    """All steps are there, and each line, also of a step done again, has the samples and the loss of the undisturbed run."""
    assert sorted({record["step"] for record in records}) == [record["step"] for record in undisturbed]
    for record in records:
        expected = undisturbed[record["step"]]
        assert record["samples"] == expected["samples"], record
        assert record["loss"] == pytest.approx(expected["loss"], abs=1e-4), record


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
