"""Coverage is measured where it finds something new, and in no program that a test starts elsewhere."""

from __future__ import annotations

import os
import subprocess

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


def test_a_measured_run_has_a_floor_and_is_not_on_record() -> None:
    def recipe(*arguments: str) -> set[str]:
        command = ["make", "--dry-run", "--assume-old=.venv/.ready-dev", "test", *arguments]
        return set(subprocess.check_output(command, cwd=ROOT, text=True).split())  # noqa: S603

    floor, record = {"--cov", "--cov-fail-under"}, {"--record=build/tests.json"}
    assert (floor | record) & recipe() == record
    assert (floor | record) & recipe("COVERAGE=1") == floor


def test_only_measured_tests_are_traced(request: pytest.FixtureRequest) -> None:
    paused = {item.path for item in request.session.items if item.get_closest_marker("no_cover") is not None}
    assert paused == {item.path for item in request.session.items if not measures(item.path)}
