"""What the tests of jobs share, here and on virtual nodes."""

from __future__ import annotations

import os
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
