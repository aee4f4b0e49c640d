"""The code itself: style, format, types, as `make lint` checks them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.presets import ROOT

APP = ("app.py", "app_kubernetes.py", "app_network.py", "app_settings.py")
CHECKED = ("hyperpod_constructs", *APP, "lifecycle", "bench", "tools", "examples", "tests")


@pytest.mark.parametrize(
    "arguments",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy", *CHECKED],
    ],
    ids=" ".join,
)
def test_code_is_clean(arguments: list[str]) -> None:
    own = Path(sys.executable).parent / arguments[0]
    program = str(own) if own.exists() else shutil.which(arguments[0])
    assert program is not None
    done = subprocess.run([program, *arguments[1:]], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr
