"""Programs for nodes run on the Python of their image: 3.8 and newer, each in an environment of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.lint.tools import assert_succeeds
from tests.presets import ROOT

PROGRAMS = ("lifecycle/node_setup", "lifecycle/node_health", "lifecycle/node_metrics", "lifecycle/node_trust")
TESTS = ("tests/lifecycle", "tests/node_health", "tests/node_metrics")
ENVIRONMENTS = sorted(ROOT.glob(".venv-node-*"))
MISSING = "run tools/setup_nodes.sh: there is no .venv-node-3.8, in which the programs for nodes are tested on Python 3.8"


def test_the_syntax_and_the_library_are_of_python_3_8() -> None:
    vermin = Path(sys.executable).parent / "vermin"
    assert_succeeds(str(vermin), "--target=3.8-", "--violations", "--no-tips", *PROGRAMS)


def test_types_at_the_lowest_target_of_mypy() -> None:
    assert_succeeds(sys.executable, "-m", "mypy", "--python-version", "3.10", "lifecycle")


def test_python_3_8_is_there() -> None:
    if not (ROOT / ".venv-node-3.8").exists():
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda path: path.name)
def test_programs_and_their_tests_pass(environment: Path) -> None:
    python = str(environment / "bin/python")
    assert_succeeds(python, "-m", "compileall", "-q", "-f", *PROGRAMS)
    alone = ["-c", os.devnull, f"--rootdir={ROOT}", f"--confcutdir={TESTS[0]}", "-p", "no:cacheprovider"]
    assert_succeeds(python, "-m", "pytest", "-q", *alone, *TESTS)
