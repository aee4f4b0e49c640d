"""Programs for nodes run on the Python of their image: 3.8 and newer, each in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.presets import ROOT

PROGRAMS = ("lifecycle/node_setup", "lifecycle/node_health")
TESTS = ("tests/lifecycle", "tests/node_health")
ENVIRONMENTS = sorted(ROOT.glob(".venv-node-*"))
MISSING = "run tools/setup_nodes.sh: there is no .venv-node-3.8, in which the programs for nodes are tested on Python 3.8"


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_syntax_and_the_library_are_of_python_3_8() -> None:
    vermin = Path(sys.executable).parent / "vermin"
    _run(str(vermin), "--target=3.8-", "--violations", "--no-tips", *PROGRAMS)


def test_types_at_the_lowest_target_of_mypy() -> None:
    _run(sys.executable, "-m", "mypy", "--python-version", "3.10", "lifecycle")


def test_python_3_8_is_there() -> None:
    if not (ROOT / ".venv-node-3.8").exists():
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda path: path.name)
def test_programs_and_their_tests_pass(environment: Path) -> None:
    python = str(environment / "bin/python")
    _run(python, "-m", "compileall", "-q", "-f", *PROGRAMS)
    _run(
        python,
        "-m",
        "pytest",
        "-q",
        "-c",
        os.devnull,
        f"--rootdir={ROOT}",
        f"--confcutdir={TESTS[0]}",
        "-p",
        "no:cacheprovider",
        *TESTS,
    )
