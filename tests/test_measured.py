"""Coverage is measured where it finds something new, and in no program that a test starts elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.fast import TESTS
from tests.measured import CHILDREN, UNMEASURED, VARIABLE, measured_children, measures, measures_children
from tests.presets import ROOT


def test_named_files_and_folders_exist() -> None:
    assert [name for name in (*UNMEASURED, *CHILDREN) if not (TESTS / name).exists()] == []


@pytest.mark.parametrize(
    ("file", "own", "children"),
    [
        ("cluster/test_cluster.py", True, False),
        ("local/test_fsx.py", True, True),
        ("lifecycle/test_set_up.py", False, False),
        ("rules/test_hostile.py", False, False),
    ],
)
def test_a_file_measures_itself_or_its_children(file: str, own: bool, children: bool) -> None:
    assert (measures(TESTS / file), measures_children(TESTS / file)) == (own, children)


def test_the_setting_is_hidden_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "config")
    with measured_children(False):
        assert VARIABLE not in os.environ
    with measured_children(True):
        assert os.environ[VARIABLE] == "config"
    assert os.environ[VARIABLE] == "config"


def test_programs_of_this_test_do_not_measure_themselves() -> None:
    assert VARIABLE not in os.environ


def test_make_coverage_measures_these_tests_and_has_a_floor() -> None:
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\ncoverage:")[2].partition("\n\n")[0].split()
    assert {"--measured", "--cov", "--cov-fail-under"} <= set(recipe)


@pytest.mark.parametrize(("folder", "collected"), [("tests/facts", True), ("tests/lint", False)])
def test_only_measured_files_are_collected(folder: str, collected: bool) -> None:
    command = [sys.executable, "-m", "pytest", "--measured", "--collect-only", "-q", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert (f"{folder}/" in done.stdout) == collected, done.stdout
