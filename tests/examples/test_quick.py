"""Processes of jobs spare themselves Python's garbage collector, whatever else a test puts on their path."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.jobs import QUICK

OTHERS = sorted(found.parent for found in Path(__file__).parent.glob("*/sitecustomize.py") if found.parent != QUICK)
PROGRAM = "import gc; print(gc.get_threshold()[0])"


@pytest.mark.parametrize("place", [None, *OTHERS], ids=lambda place: place and place.name)
def test_the_collector_comes_late(place: Path | None) -> None:
    path = ":".join(str(folder) for folder in (place, QUICK) if folder is not None)
    variables = {"PYTHONPATH": path, "GUARDED_DIRECTORY": "/nowhere", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=variables, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "200000\n"
